/** Reads what the tenant has, as far as the roles of the user allow, and derives the steps of the guided start. */
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { datasetsQuery } from '#console/ui/registry-queries.ts'
import { deriveSteps, findThresholdRun, listMeasuredVersions, type Step, type TenantFacts } from './guide-steps.ts'
import { useStoredProgress } from './guide-storage.ts'
import { SAMPLE_LIST } from './sample-list.ts'

interface GuideProgress {
  readonly facts: TenantFacts
  readonly steps: readonly Step[]
}

/** While the guide is open, the work of others (an approval, an import) shows without a reload. */
const OPEN_GUIDE_REFETCH_MS = 5000

/** Undefined until everything is read; a failed read keeps it so, because a guide is no reason for an error page. */
export function useGuideProgress({ isOpen }: { readonly isOpen: boolean }): GuideProgress | undefined {
  const may = usePermission()
  const [{ hasReplayed }] = useStoredProgress()
  const options = { throwOnError: false, ...(isOpen && { refetchInterval: OPEN_GUIDE_REFETCH_MS }) }
  const lists = useQuery({ ...datasetsQuery, ...options })
  const requests = useQuery({
    queryKey: ['change-requests', 'guide'],
    queryFn: ({ signal }) =>
      probity.GET('/api/change-requests', {
        params: { query: { state: 'open', action: 'activation', limit: 100 } },
        signal,
      }),
    ...options,
  })
  const decisions = useQuery({ ...latestDecisionQuery, enabled: may('listEvaluations'), ...options })
  const runs = useQuery({
    queryKey: ['impact-runs', 'guide'],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/impact-runs', {
        params: { query: { family: 'list', list_key: SAMPLE_LIST.list_key, limit: 20 } },
        signal,
      }),
    enabled: may('listImpactRuns'),
    ...options,
  })
  if (!lists.data || !requests.data) return undefined
  if (may('listEvaluations') && decisions.data === undefined) return undefined
  if (may('listImpactRuns') && !runs.data) return undefined
  const own = lists.data.filter(({ origin, state }) => origin === 'own' && state === 'live')
  const own_lists = own.map(({ list_key, head_version, active }) => ({
    list_key,
    head_version,
    is_in_force: active !== null,
  }))
  const facts: TenantFacts = {
    own_lists,
    has_decision: decisions.data === undefined ? null : decisions.data !== null,
    measured_versions: runs.data === undefined ? null : listMeasuredVersions(runs.data.items),
    threshold_run: findThresholdRun(own_lists, runs.data?.items ?? []),
    requested_lists: requests.data.items
      .map((request) => ('params' in request ? request.params['list_key'] : undefined))
      .filter((list_key) => list_key !== undefined)
      .filter((list_key) => own.some((list) => list.list_key === list_key)),
    has_replayed: hasReplayed,
  }
  return { facts, steps: deriveSteps(facts) }
}

/** The newest decision of the tenant, or null. */
export const latestDecisionQuery = {
  queryKey: ['evaluations', 'guide'],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
    (await probity.GET('/api/evaluations', { params: { query: { limit: 1 } }, signal })).items[0] ?? null,
}
