/** Routes of source contracts beside those of every kind of definition: the check of a payload, and the quarantine. */
import { noteRestriction } from '#kernel/audit/restricted-object.ts'
import { requestScope } from '#kernel/database/scope.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { JobView } from '#kernel/job/schema.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { Route } from '#kernel/route.ts'
import type { Static } from '#kernel/schema.ts'
import { documentStore } from '#modules/definitions/index.ts'
import { CONTRACT_FAMILY } from './bind-contract.ts'
import { checkPayload } from './payload-check.ts'
import { getQuarantinedPayload, widenForPayload } from './quarantine.ts'
import {
  findLastAdmission,
  findQuarantineView,
  listContractActivity,
  listQuarantine,
  lockQuarantineItem,
  type QuarantineViewRow,
  resolveQuarantineItem,
} from './queries.ts'
import { REPROCESS_PAYLOAD } from './reprocess-job.ts'
import {
  Activity,
  CheckReply,
  CheckRequest,
  MAX_COUNTED_ITEMS,
  PayloadParams,
  QuarantinePage,
  QuarantineQuery,
  QuarantineView,
  ReprocessRequest,
  ResolveReply,
  ResolveRequest,
  VersionParams,
} from './schema.ts'

const ACTIVITY_DAYS = 90
const DAY_MS = 86_400_000

const RESOLUTIONS = { widen: 'widened', provider_fault: 'provider_fault', discard: 'discarded' } as const

const toItemView = ({ violations, ...item }: QuarantineViewRow) => ({ ...item, violations: [...violations] })

export const payloadRoutes: readonly Route[] = [
  tenantRoute('POST /source-contracts/:contract_key/versions/:version/check', {
    id: 'checkSourceContractPayload',
    summary: 'Check a payload by a version or the draft: result, violations with their places, and facts',
    description:
      'In the fixed order of admission: bytes, JSON, records, schema, lists, provenance, freshness, checks. XML is converted to ' +
      'JSON first. Nothing is stored.',
    roles: ['policy_editor', 'analyst'],
    tx: 'self',
    uses: ['caches', 'threads'],
    params: VersionParams,
    body: CheckRequest,
    reply: [200, CheckReply],
    stores_nothing: true,
    problems: ['not_found', 'conflict', 'definition_invalid', 'content_corrupt'],
  }).handle(({ params, body, kernel, read, actor }) =>
    checkPayload(kernel, read, { params, body, tenant_id: actor.tenant_id }),
  ),

  tenantRoute('GET /source-contracts/activity', {
    id: 'listSourceContractActivity',
    summary: 'Of each contract: payloads in quarantine, findings of drift, and the last payload',
    roles: ['policy_editor', 'compliance_officer', 'auditor'],
    tx: 'one',
    reply: [200, Activity],
  }).handle(async ({ tx }) => {
    const since = new Date(Date.now() - ACTIVITY_DAYS * DAY_MS).toISOString()
    const items = await listContractActivity(tx, since, MAX_COUNTED_ITEMS)
    return { items, open_quarantine: items.reduce((sum, { open_quarantine }) => sum + open_quarantine, 0) }
  }),

  tenantRoute('GET /source-contracts/quarantine', {
    id: 'listQuarantinedPayloads',
    summary: 'Payloads that broke their contract, newest first, with the place of each violation',
    tool: {
      name: 'list_quarantine',
      title: 'List quarantined payloads',
      description:
        'Payloads that broke their source contract, newest first, with the place of each violation. None ' +
        'reached a decision.',
      effect: 'read',
    },
    roles: ['policy_editor', 'compliance_officer', 'auditor'],
    tx: 'one',
    uses: ['cursors'],
    query: QuarantineQuery,
    reply: [200, QuarantinePage],
  }).handle(async (input) => {
    const { contract_key = null, state = null, keyword = null } = input.query
    const page = await paginate(input, 'listQuarantinedPayloads', ['payload_id'], (after, count) =>
      listQuarantine(input.tx, { contract_key, state, keyword }, after, count),
    )
    return { ...page, items: page.items.map(toItemView) }
  }),

  tenantRoute('GET /source-contracts/quarantine/:payload_id', {
    id: 'getQuarantinedPayload',
    summary: 'One payload in quarantine: its violations, its admissions and its content without personal values',
    description: 'Values of personal members, and of members that the contract does not declare, are left out.',
    roles: ['policy_editor', 'compliance_officer', 'auditor'],
    tx: 'self',
    uses: ['caches', 'threads', 'encryption'],
    params: PayloadParams,
    reply: [200, QuarantineView],
    audited: true,
    revisioned: true,
    problems: ['not_found', 'content_corrupt'],
  }).handle(async ({ params, kernel, read, actor, audit }) => {
    const view = await getQuarantinedPayload(kernel, read, params.payload_id, actor.tenant_id)
    await read((tx) => noteRestriction({ tx, audit }, 'source_payload', view.payload_id))
    return view
  }),

  tenantRoute('POST /source-contracts/quarantine/:payload_id/resolve', {
    id: 'resolveQuarantinedPayload',
    summary: 'Close a quarantined payload: widen the contract, report a fault of the provider, or discard it',
    description:
      'widen opens a draft with the smallest change that admits the payload; publish and activate it, then reprocess the payload. ' +
      'The payload itself is never admitted by this.',
    roles: ['policy_editor', 'compliance_officer'],
    tx: 'self',
    uses: ['transactions', 'caches', 'threads', 'encryption'],
    params: PayloadParams,
    body: ResolveRequest,
    reply: [200, ResolveReply],
    revisioned: true,
    problems: ['not_found', 'nothing_in_force', 'conflict', 'duplicate', 'transition_not_allowed', 'content_corrupt'],
  }).handle(async (input) => {
    const { params, body, kernel, actor, findSettled, settle, read, audit } = input
    const { payload_id } = params
    const fingerprint = JSON.stringify({ payload_id, ...body })
    // A repetition finds the payload resolved by the request that it repeats.
    const earlier = await findSettled<Static<typeof ResolveReply>>(fingerprint)
    if (earlier) return earlier
    const before = assertFound(await read((tx) => findQuarantineView(tx, payload_id)))
    if (before.state === 'resolved') fail('transition_not_allowed', `It was resolved already: ${before.resolution}.`)
    const scope = requestScope(actor)
    const widened = body.action === 'widen' ? await widenForPayload(kernel, scope, payload_id) : null
    return settle(fingerprint, async (tx) => {
      const item = assertFound(await lockQuarantineItem(tx, payload_id))
      await noteRestriction({ tx, audit }, 'source_payload', payload_id)
      assertRevision(item.revision, input)
      if (item.state === 'resolved') fail('transition_not_allowed', `It was resolved already: ${item.resolution}.`)
      let draft_revision: number | null = null
      if (widened) {
        const dataset = await documentStore.lockOwnDefinition(tx, CONTRACT_FAMILY, item.contract_key)
        const draft = await documentStore.insertDraft(tx, dataset, widened.text, widened.based_on)
        draft_revision = (draft ?? fail('duplicate', 'A draft is open already; publish or delete it first.')).revision
      }
      await resolveQuarantineItem(tx, payload_id, RESOLUTIONS[body.action], body.reason)
      audit.recordDiff({ state: 'open' }, { state: 'resolved', action: body.action })
      audit.recordText('reason', body.reason)
      return { ...toItemView(assertFound(await findQuarantineView(tx, payload_id))), draft_revision }
    })
  }),

  tenantRoute('POST /source-contracts/quarantine/:payload_id/reprocess', {
    id: 'reprocessQuarantinedPayload',
    summary: 'Check a quarantined payload again, by the version in force now',
    description:
      'The result is a new admission that cites the one before; nothing that was decided earlier changes. A payload that is ' +
      'refused again stays in quarantine.',
    roles: ['policy_editor', 'compliance_officer'],
    tx: 'write',
    uses: ['jobs'],
    params: PayloadParams,
    body: ReprocessRequest,
    reply: [202, JobView],
    starts: REPROCESS_PAYLOAD,
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async ({ tx, params, kernel, audit }) => {
    const { payload_id } = params
    assertFound(await lockQuarantineItem(tx, payload_id))
    const { restriction_id } = await noteRestriction({ tx, audit }, 'source_payload', payload_id)
    const { admitted, admission_id } = assertFound(await findLastAdmission(tx, payload_id))
    if (admitted) return fail('transition_not_allowed', 'The payload is admitted already.')
    audit.recordDiff(null, { payload_id, replaces_admission_id: admission_id })
    const resource = `/api/source-contracts/quarantine/${payload_id}` as const
    return kernel.jobs.enqueue(tx, {
      kind: REPROCESS_PAYLOAD,
      payload: { payload_id, admission_id },
      resource,
      restriction_id,
    })
  }),
]
