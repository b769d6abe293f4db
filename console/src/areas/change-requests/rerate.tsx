/** Offers to rate the customers again whose rating an approved change moves; until then they keep their rating. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { RelativeTime, useNow } from '#console/ui/date-time.tsx'
import { DefinitionName } from '#console/ui/decision/definition-name.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { SearchButton } from '#console/ui/search-link.tsx'
import { planRerating, type RerateGroup, toRerateNote } from './rerate-plan.ts'

interface RerateProps {
  readonly request: Schemas['ChangeRequest']
  readonly run: Schemas['ImpactRun']
}

/** Scheduled versions change no rating before they are in force. */
const isInForceAt = ({ body }: Schemas['ChangeRequest'], now_ms: number): boolean => {
  const { effective_from } = (body ?? {}) as { readonly effective_from?: string }
  return effective_from === undefined || Date.parse(effective_from) <= now_ms
}

export function Rerate({ request, run }: RerateProps) {
  const may = usePermission()
  const now_ms = useNow()
  const groups = run.result ? planRerating(run.result) : []
  if (request.state !== 'approved' || groups.length === 0) return null
  if (!isInForceAt(request, now_ms)) return null
  return (
    <Alert color="cyan" title="These customers keep their rating until they are rated again" role="status">
      <Stack gap="xs">
        <EarlierBatches cr_id={request.cr_id} />
        {may('startBatchEvaluation') ? (
          groups.map((group) => <RerateGroupRow key={`${group.family} ${group.key}`} group={group} request={request} />)
        ) : (
          <Text size="sm">An analyst or a compliance officer can rate them again with a batch.</Text>
        )}
      </Stack>
    </Alert>
  )
}

/** Batches that were started from this request: shown so that the same one is not started twice. */
function EarlierBatches({ cr_id }: { readonly cr_id: string }) {
  const may = usePermission()
  const { data } = useQuery({
    queryKey: ['batches', 'of-request', cr_id],
    queryFn: ({ signal }) => probity.GET('/api/batch-evaluations', { params: { query: { limit: 100 } }, signal }),
    enabled: may('listBatchEvaluations'),
    throwOnError: false,
  })
  const batches = data?.items.filter(({ note }) => note === toRerateNote(cr_id)) ?? []
  return batches.map((batch) => (
    <Group key={batch.batch_id} gap="xs">
      <PageLink to={`/batches/${batch.batch_id}`} size="sm">
        Re-rated with <DefinitionName {...batch} origin={batch.definition_origin} />
      </PageLink>
      <StateBadge state={batch.state} />
      <Text size="sm" c="dimmed">
        <RelativeTime at={batch.created_at} />
      </Text>
    </Group>
  ))
}

function RerateGroupRow({ group, request }: { readonly group: RerateGroup; readonly request: RerateProps['request'] }) {
  const navigate = useNavigate()
  const { family, key, count, subject_ids } = group
  const note = toRerateNote(request.cr_id)
  const start = useApiMutation(
    () =>
      probity.POST('/api/batch-evaluations', {
        body: {
          ...(family === 'rule' ? { rule_key: key } : { matrix_key: key }),
          items: (subject_ids ?? []).map((subject_id) => ({ subject_id })),
          note,
        },
      }),
    {
      invalidates: ['batches', 'jobs'],
      successMessage: 'Batch started',
      onDone: ({ resource }) => navigate({ to: (resource ?? '').replace('/api/batch-evaluations', '/batches') }),
    },
  )
  return (
    <>
      <Group gap="sm">
        {subject_ids === null ? (
          <SearchButton to="/batches/new" search={{ [family]: key, source: 'filter', note }} size="xs">
            Re-rate customers with&nbsp;
            <DefinitionName family={family} definition_key={key} />
          </SearchButton>
        ) : (
          <Button size="xs" loading={start.isRunning} onClick={() => start.run(undefined)}>
            Re-rate {count === 1 ? 'this customer' : `these ${formatCount(count, 'customer')}`} with&nbsp;
            <DefinitionName family={family} definition_key={key} />
          </Button>
        )}
        {subject_ids === null && (
          <Text size="sm" c="dimmed">
            {formatCount(count, 'customer')} or more: the analysis does not list all of them, so a batch of all
            customers is prepared.
          </Text>
        )}
      </Group>
      <ProblemNote problem={start.problem} />
    </>
  )
}
