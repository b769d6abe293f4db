/** Builds the overview of a caller: the section of each role it holds. */
import type { Role } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { ChangeRequestRow } from '#kernel/request/queries.ts'
import { mayReadChangeRequest } from '#kernel/request/visibility.ts'
import type { Actor } from '#kernel/route.ts'
import type { Static } from '#kernel/schema.ts'
import { listVerifications } from '#modules/audit/index.ts'
import { findStaleRequests } from '#modules/change-requests/index.ts'
import { listBands } from '../portfolio/bands.ts'
import { describeChange, describeUnreadable, getVersionedTarget, type VersionedTarget } from './describe-change.ts'
import { describePolicyChange } from './describe-policy-change.ts'
import { MAX_COUNTED, MAX_ITEMS, MAX_READ } from './limits.ts'
import {
  countOpenReviews,
  countUsersByState,
  listAwaiting,
  listDecisionsWithActions,
  listDraftsByAuthor,
  listDueDefinitions,
  listExpiringOverrides,
  listFailedBatches,
  listFailedImports,
  listFailedJobs,
  listImpactFacts,
  listKeysToCheck,
  listNames,
  listPolicyChanges,
  listProposals,
  listRejectedUploads,
  listVersionFacts,
} from './queries.ts'
import type { Overview } from './schema.ts'

type OverviewReply = Static<typeof Overview>
type ChangeInWords = OverviewReply['proposals'][number]
type Kernel = Capabilities<'caches' | 'modules' | 'routes'>

const DAY_MS = 86_400_000
/** How many of the newest decisions are searched for required actions. */
const MAX_DECISIONS = 200
const FEW_ITEMS = 8
/** How many of the oldest waiting change requests are read: those that can still be approved are shown first. */
const MAX_CHECKED = 20

/** Instants are rounded to a minute, so that a link to the rows stays the same for that long. */
const addDays = (now_ms: number, days: number): string =>
  new Date(Math.floor(now_ms / 60_000) * 60_000 + days * DAY_MS).toISOString()

const getFirstIdAt = (at: string): string => {
  const hex = Date.parse(at).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

const toFigure = (total: number, operation: string, path: string, query: Record<string, string> = {}) => ({
  count: Math.min(total, MAX_COUNTED),
  is_capped: total > MAX_COUNTED,
  rows: { operation, path, query },
})

/** Names of the users and subjects that the requests are about, of each kind only for roles that may read it. */
async function listReadableNames(
  { routes }: Kernel,
  tx: Tx,
  held: readonly Role[],
  requests: readonly ChangeRequestRow[],
) {
  const getIds = (operation: string, param: string): string[] => {
    const mayRead = routes.some(({ id, roles }) => id === operation && roles.some((role) => held.includes(role)))
    return mayRead ? requests.flatMap(({ params }) => params[param] ?? []) : []
  }
  const [users, subjects] = [getIds('getUser', 'user_id'), getIds('getSubject', 'subject_id')]
  return users.length + subjects.length === 0 ? [] : listNames(tx, users, subjects)
}

/** Reads the facts of all requests together: at most three statements, however many there are. */
async function describeReadable(
  kernel: Kernel,
  tx: Tx,
  held: readonly Role[],
  requests: readonly ChangeRequestRow[],
): Promise<ChangeInWords[]> {
  if (requests.length === 0) return []
  const kinds = kernel.modules.flatMap(({ definition_kinds = [] }) => definition_kinds)
  const targets = requests.map((request) => getVersionedTarget(kinds, request))
  const named = [...new Set(targets)].filter((target): target is VersionedTarget => target !== null)
  const versions = named.length === 0 ? [] : await listVersionFacts(tx, named)
  const run_ids = requests.flatMap(({ impact_run_id }) => (impact_run_id === null ? [] : [impact_run_id]))
  const impacts = run_ids.length === 0 ? [] : await listImpactFacts(tx, run_ids)
  const names = await listReadableNames(kernel, tx, held, requests)
  const bands = impacts.length === 0 ? [] : (await listBands(kernel, tx)).bands.map(({ band }) => band)
  return requests.map((request, place) => {
    const target = targets[place] ?? null
    const impact = impacts.find(({ run_id }) => run_id === request.impact_run_id)
    const facts = {
      version: target ? versions[named.indexOf(target)] : undefined,
      impact,
      name: names.find(({ id }) => id === (request.params['user_id'] ?? request.params['subject_id']))?.name,
      bands,
    }
    const route = kernel.routes.find(({ id }) => id === request.operation)
    return {
      cr_id: request.cr_id,
      action: request.action,
      operation: request.operation,
      summary: describeChange(request, target, facts, route?.summary ?? request.operation),
      approvals: request.approvals.length,
      approvers: request.approvers,
      impact: impact ? 'measured' : request.require_impact ? 'missing' : 'not_required',
      created_at: request.created_at,
      created_by: request.created_by,
      restriction_id: request.restriction_id,
    }
  })
}

/** The change requests as these roles may read them; an author who lost the role learns no more than that the request is open. */
async function describeRequests(
  kernel: Kernel,
  tx: Tx,
  held: readonly Role[],
  requests: readonly ChangeRequestRow[],
): Promise<ChangeInWords[]> {
  const readable = requests.filter((request) => mayReadChangeRequest(kernel.routes, held, request))
  const described = await describeReadable(kernel, tx, held, readable)
  return requests.map(
    ({ cr_id, action, created_at, created_by, restriction_id }) =>
      described.find((change) => change.cr_id === cr_id) ?? {
        cr_id,
        action,
        operation: null,
        summary: describeUnreadable(action),
        approvals: null,
        approvers: null,
        impact: null,
        created_at,
        created_by,
        restriction_id,
      },
  )
}

async function buildAnalystSection(tx: Tx, now_ms: number): Promise<NonNullable<OverviewReply['analyst']>> {
  const until_at = addDays(now_ms, 14)
  const month_ago = addDays(now_ms, -30)
  const overrides = await listExpiringOverrides(tx, until_at, MAX_COUNTED + 1, FEW_ITEMS)
  const decisions = await listDecisionsWithActions(tx, MAX_DECISIONS, FEW_ITEMS)
  return {
    overrides_expiring: toFigure(overrides[0]?.total ?? 0, 'listSubjects', '/api/subjects', {
      override_expires_before: until_at,
      state: 'active',
    }),
    next_overrides: overrides.map(({ total: _, ...override }) => override),
    batches_with_failures: await listFailedBatches(tx, month_ago, FEW_ITEMS),
    uploads_with_rejects: await listRejectedUploads(tx, getFirstIdAt(month_ago), FEW_ITEMS),
    decisions_with_actions: decisions,
  }
}

async function buildEditorSection(tx: Tx, principal: string, now_ms: number) {
  return {
    drafts: await listDraftsByAuthor(tx, principal, MAX_ITEMS),
    imports_failed: await listFailedImports(tx, addDays(now_ms, -14), FEW_ITEMS),
  }
}

/** What the caller proposed, also what can no longer be approved, so that its author withdraws it. */
async function describeProposals(kernel: Kernel, tx: Tx, { principal, roles }: Actor) {
  const requests = await listProposals(tx, principal, FEW_ITEMS)
  const stale = await findStaleRequests(tx, kernel, requests)
  const described = await describeRequests(kernel, tx, roles, requests)
  return markOutdated(described, stale, 'No longer applicable, can be withdrawn.')
}

/** What cannot be approved waits for no impact run either. */
const markOutdated = (changes: readonly ChangeInWords[], stale: ReadonlySet<string>, note: string): ChangeInWords[] =>
  changes.map((change) => {
    if (!stale.has(change.cr_id)) return change
    const impact = change.impact === 'missing' ? 'not_required' : change.impact
    return { ...change, impact, summary: `${note} ${change.summary}` }
  })

/** Includes outdated requests: they can no longer be approved and have to be rejected. */
async function buildApprovalSection(kernel: Kernel, tx: Tx, actor: Actor) {
  const waiting = await listAwaiting(tx, actor, MAX_COUNTED + 1, MAX_CHECKED)
  const stale = await findStaleRequests(tx, kernel, waiting)
  const isStale = ({ cr_id }: ChangeRequestRow) => stale.has(cr_id)
  const shown = [...waiting.filter((request) => !isStale(request)), ...waiting.filter(isStale)].slice(0, FEW_ITEMS)
  const described = await describeRequests(kernel, tx, actor.roles, shown)
  const reviews = await countOpenReviews(tx, actor, MAX_COUNTED + 1)
  return {
    waiting: toFigure(waiting[0]?.total ?? 0, 'listChangeRequestInbox', '/api/change-requests/inbox'),
    inbox: markOutdated(described, stale, 'No longer applicable, to be rejected.'),
    emergency_changes: toFigure(reviews, 'listBreakGlassInbox', '/api/break-glass-reviews/inbox'),
  }
}

async function buildAuditorSection(tx: Tx): Promise<NonNullable<OverviewReply['auditor']>> {
  const [last] = await listVerifications(tx, null, 1)
  const changes = await listPolicyChanges(tx, FEW_ITEMS)
  return {
    last_verification: last
      ? {
          verification_id: last.verification_id,
          state: last.state,
          intact: last.intact,
          events: last.events,
          faults_total: last.faults_total,
          created_at: last.created_at,
        }
      : null,
    policy_changes: changes.map((change) => {
      const { title: _title, kind: _kind, version: _version, previous_version: _previous, ...rest } = change
      return { ...rest, summary: describePolicyChange(change) }
    }),
  }
}

async function buildAdministratorSection(tx: Tx, roles: readonly Role[], now_ms: number) {
  const counts = await countUsersByState(tx)
  const toUsers = (state: 'active' | 'invited' | 'inactive') => {
    const counted = counts.find((count) => count.state === state)?.users ?? 0
    const figure = toFigure(counted, 'listUsers', '/api/users', { state })
    return { ...figure, is_capped: figure.is_capped || counts[0]?.read === MAX_READ }
  }
  return {
    keys_to_check: await listKeysToCheck(tx, addDays(now_ms, 30), addDays(now_ms, -90), MAX_ITEMS),
    users: { active: toUsers('active'), invited: toUsers('invited'), inactive: toUsers('inactive') },
    failed_jobs: await listFailedJobs(tx, addDays(now_ms, -1), roles, FEW_ITEMS),
  }
}

export async function buildOverview(kernel: Kernel, tx: Tx, actor: Actor): Promise<OverviewReply> {
  const { principal, roles } = actor
  const now_ms = Date.now()
  const has = (...wanted: readonly Role[]): boolean => wanted.some((role) => roles.includes(role))
  return {
    roles: [...roles],
    at: new Date(now_ms).toISOString(),
    proposals: await describeProposals(kernel, tx, actor),
    definitions_due: has('policy_editor', 'compliance_officer', 'auditor')
      ? await listDueDefinitions(tx, addDays(now_ms, 14), MAX_ITEMS)
      : null,
    approvals: has('compliance_officer', 'tenant_admin') ? await buildApprovalSection(kernel, tx, actor) : null,
    analyst: has('analyst') ? await buildAnalystSection(tx, now_ms) : null,
    policy_editor: has('policy_editor') ? await buildEditorSection(tx, principal, now_ms) : null,
    auditor: has('auditor') ? await buildAuditorSection(tx) : null,
    tenant_admin: has('tenant_admin') ? await buildAdministratorSection(tx, roles, now_ms) : null,
  }
}
