/** Second looks: dismissals that were sampled, judged again by somebody else. */
import { expectPerson } from '#kernel/auth/principal.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { emit } from '#kernel/events/emit.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { workItems } from '#modules/work/index.ts'
import { alertReopened } from '../events.ts'
import { findAlert, insertComment, lockAlert } from '../queries.ts'
import { assertMayWrite } from '../work/acts.ts'
import { startAlertWork } from '../work/alert-work.ts'
import { findSuccessor, updateWork } from '../work/queries.ts'
import {
  countSecondLooks,
  findSecondLook,
  listSecondLooks,
  lockSecondLook,
  type SecondLookRow,
  updateDecided,
} from './queries.ts'
import { toLookItem } from './sample.ts'
import { Agreement, DecisionRequest, SecondLook, SecondLookPage, SecondLookParams, SecondLookQuery } from './schema.ts'

const toSecondLookView = (row: SecondLookRow) => ({
  look_id: row.look_id,
  alert_id: row.alert_id,
  title: row.title,
  source: row.source,
  priority: row.priority,
  reason_code: row.reason_code,
  dismissed_by: row.dismissed_by,
  sample: {
    code: row.sample_code,
    version: row.sample_version,
    seed: row.seed,
    rate_bps: row.rate_bps,
    bucket: row.bucket,
  },
  state: row.state,
  decided_at: row.decided_at,
  decided_by: row.decided_by,
  created_at: row.created_at,
  is_restricted: row.is_in_force,
})

type Counts = { readonly waiting: number; readonly agreed: number; readonly disagreed: number }
const withRate = ({ waiting, agreed, disagreed }: Counts) => {
  const decided = agreed + disagreed
  return { waiting, agreed, disagreed, agreement_bps: decided === 0 ? null : Math.floor((agreed * 10_000) / decided) }
}

export const secondLookRoutes = [
  tenantRoute('GET /alerts/second-looks', {
    id: 'listAlertSecondLooks',
    summary: 'Dismissals chosen for a second look, newest first',
    roles: ['compliance_officer', 'auditor'],
    tx: 'one',
    uses: ['cursors'],
    query: SecondLookQuery,
    reply: [200, SecondLookPage],
  }).handle(async (input) => {
    const state = input.query.state ?? 'waiting'
    const found = await paginate(input, 'listAlertSecondLooks', ['look_id'], (after, count) =>
      listSecondLooks(input.tx, state, after, count),
    )
    return { ...found, items: found.items.map(toSecondLookView) }
  }),

  tenantRoute('GET /alerts/second-looks/agreement', {
    id: 'getAlertAgreement',
    summary: 'How often second looks agree with the dismissal, in all and by source',
    roles: ['compliance_officer', 'auditor'],
    tx: 'one',
    reply: [200, Agreement],
  }).handle(async ({ tx }) => {
    const rows = await countSecondLooks(tx)
    const add = (member: keyof Counts) => rows.reduce((sum, row) => sum + row[member], 0)
    const all = { waiting: add('waiting'), agreed: add('agreed'), disagreed: add('disagreed') }
    return { ...withRate(all), by_source: rows.map(({ source, ...counts }) => ({ source, ...withRate(counts) })) }
  }),

  tenantRoute('GET /alerts/second-looks/:look_id', {
    id: 'getAlertSecondLook',
    summary: 'Get a second look with what is needed to compute its choice again',
    roles: ['compliance_officer', 'auditor'],
    tx: 'one',
    params: SecondLookParams,
    reply: [200, SecondLook],
    problems: ['not_found'],
  }).handle(async ({ tx, params, audit }) => {
    const look = assertFound(await findSecondLook(tx, params.look_id))
    audit.belongsTo(look)
    return toSecondLookView(look)
  }),

  tenantRoute('POST /alerts/second-looks/:look_id/decide', {
    id: 'decideAlertSecondLook',
    summary: 'Agree with a dismissal, or open the alert again',
    description:
      'By somebody who neither proposed nor confirmed the dismissal. Where a newer alert of the same match exists, the dismissed one ' +
      'stays closed: the disagreement is a comment on both.',
    roles: ['compliance_officer'],
    tx: 'write',
    params: SecondLookParams,
    uses: ['caches'],
    body: DecisionRequest,
    reply: [200, SecondLook],
    problems: ['not_found', 'transition_not_allowed', 'approval_own_request', 'person_required', 'erased'],
  }).handle(async ({ tx, params, body, actor, kernel, audit }) => {
    expectPerson(actor.principal, 'Only a person takes a second look, not an API key.')
    const look = assertFound(await lockSecondLook(tx, params.look_id))
    audit.belongsTo(look)
    if (look.state !== 'waiting') fail('transition_not_allowed', 'The second look was decided already.')
    const alert = assertFound(await lockAlert(tx, look.alert_id))
    if ([look.dismissed_by, alert.proposed_by].includes(actor.principal))
      fail('approval_own_request', 'Somebody who had no part in the dismissal takes the second look.')
    await updateDecided(tx, look.look_id, body.agrees ? 'agreed' : 'disagreed')
    await workItems.completeWork(tx, toLookItem(look.look_id))
    const opens = !body.agrees && alert.state === 'dismissed' && alert.revision === look.revision
    const successor_id = opens ? await findSuccessor(tx, alert.alert_id) : undefined
    if (opens && successor_id === undefined) {
      const opened = { state: 'new', assignee: null, proposed_by: null, dismissed_by: null, reason_code: null } as const
      await updateWork(tx, alert.alert_id, { ...alert, ...opened, second_person: false })
      await startAlertWork(kernel, tx, alert)
      const { alert_id: object_id, restriction_id, priority } = alert
      await emit(tx, alertReopened, { object_id, restriction_id, data: { priority } })
    }
    if (body.note) {
      assertMayWrite(alert)
      const { revision } = assertFound(await findAlert(tx, alert.alert_id))
      const of = revision === alert.revision ? null : revision
      await insertComment(tx, { comment_id: uuidv7(), alert_id: alert.alert_id, revision: of, text: body.note })
    }
    if (successor_id !== undefined && !alert.is_erased)
      await insertComment(tx, {
        comment_id: uuidv7(),
        alert_id: successor_id,
        revision: null,
        text: 'A second look disagreed with the dismissal of the earlier alert.',
      })
    audit.recordDiff({ state: 'waiting' }, { state: body.agrees ? 'agreed' : 'disagreed' })
    return toSecondLookView(assertFound(await findSecondLook(tx, look.look_id)))
  }),
]
