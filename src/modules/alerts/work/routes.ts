/** Work on alerts: claim, assign, release, snooze, dismiss, escalate, change the priority, comment. */
import type { AuditNotes } from '#kernel/audit/record.ts'
import { noteNamed } from '#kernel/audit/restricted-object.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { Actor, RequestMetadata } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { workItems } from '#modules/work/index.ts'
import { type AlertRow, findAlert, insertComment, lockAlert } from '../queries.ts'
import {
  Alert,
  AlertParams,
  AlertPatch,
  AssignRequest,
  Claim,
  ClaimRequest,
  Comment,
  CommentRequest,
  DecideDismissalRequest,
  DismissRequest,
  EscalateRequest,
  ReleaseRequest,
  SnoozeRequest,
  WakeRequest,
} from '../schema.ts'
import { assertAlert, toAlertHeaders, toAlertView } from '../view.ts'
import {
  type Act,
  assertMayWrite,
  assign,
  confirmDismissal,
  dismiss,
  escalate,
  prioritise,
  recordClaim,
  release,
  returnDismissal,
  snooze,
  wake,
} from './acts.ts'
import { listOwnProposals } from './queries.ts'

const workers = ['analyst', 'compliance_officer'] as const

interface ActInput {
  readonly tx: Tx
  readonly kernel: Capabilities<'caches' | 'encryption' | 'jobs' | 'modules'>
  readonly params: { readonly alert_id: string }
  readonly actor: Actor
  readonly audit: AuditNotes
  readonly request: RequestMetadata
  readonly body?: unknown
}

async function perform<Input>(input: ActInput, act: Act<Input>, given: Input) {
  const { tx, kernel, params, actor, audit } = input
  const before = assertAlert(await lockAlert(tx, params.alert_id), audit)
  assertRevision(before.revision, input)
  await (await act({ kernel, tx, principal: actor.principal }, before, given))()
  const after = assertFound(await findAlert(tx, before.alert_id))
  audit.recordDiff(toRecorded(before), toRecorded(after))
  await noteNamedBy(input, after)
  return toAlertView(after, actor)
}

/** The earlier alert and the case may be restricted apart from the alert. */
const noteNamedBy = (input: Pick<ActInput, 'tx' | 'audit'>, { previous_alert_id, investigation_id }: AlertRow) =>
  noteNamed(input, [
    ['alert', previous_alert_id],
    ['investigation', investigation_id],
  ])

/** What the audit event says in clear: nothing about the subject. */
const toRecorded = ({
  state,
  priority,
  assignee,
  queue_key,
  snoozed_until,
  reason_code,
  proposed_by,
}: AlertWorkView) => ({
  state,
  priority,
  assignee,
  queue_key,
  snoozed_until,
  reason_code,
  proposed_by,
})
type AlertWorkView = Pick<
  NonNullable<Awaited<ReturnType<typeof findAlert>>>,
  'state' | 'priority' | 'assignee' | 'queue_key' | 'snoozed_until' | 'reason_code' | 'proposed_by'
>

/** What the declarations of all acts on one alert have in common. */
const common = {
  tx: 'write',
  uses: ['caches', 'encryption', 'jobs', 'modules'],
  params: AlertParams,
  reply: [200, Alert],
  revisioned: true,
  headers: toAlertHeaders,
} as const

export const workRoutes = [
  tenantRoute('POST /alerts/claim', {
    id: 'claimAlert',
    summary: 'Take the next alert that nobody works on',
    description:
      'Of the queues whose team the caller belongs to, and of the alerts that no queue takes: highest priority first, then the oldest. ' +
      'Queues of which the caller has as many open items as they allow are left out. Two people never get the same alert, and nobody ' +
      'gets one whose dismissal they have proposed. `alert` is null when none is left for the caller; others may still be unassigned, ' +
      'and `assignAlert` takes a chosen one.',
    roles: workers,
    tx: 'write',
    uses: ['caches', 'encryption', 'jobs', 'modules'],
    body: ClaimRequest,
    reply: [200, Claim],
    problems: ['not_found', 'transition_not_allowed', 'person_required'],
  }).handle(async ({ tx, body, actor, kernel, audit }) => {
    const except = await listOwnProposals(tx, actor.principal)
    const filter = { object_kind: 'alert', except, ...(body.queue_key && { queue_key: body.queue_key }) }
    const claimed = await workItems.claimWork(kernel, tx, actor, filter)
    if (!claimed) return { alert: null }
    const before = assertAlert(await lockAlert(tx, claimed.object_id), audit)
    await recordClaim({ kernel, tx, principal: actor.principal }, before)
    const alert = assertFound(await findAlert(tx, before.alert_id))
    audit.recordDiff({ assignee: null }, { assignee: alert.assignee })
    await noteNamedBy({ tx, audit }, alert)
    return { alert: toAlertView(alert, actor) }
  }),

  tenantRoute('PATCH /alerts/:alert_id', {
    ...common,
    id: 'updateAlert',
    summary: 'Change the priority of an alert',
    roles: workers,
    body: AlertPatch,
    problems: ['not_found', 'revision_stale', 'transition_not_allowed', 'person_required', 'erased'],
  }).handle((input) => perform(input, prioritise, input.body)),

  tenantRoute('POST /alerts/:alert_id/assign', {
    ...common,
    id: 'assignAlert',
    summary: 'Give an alert to a person',
    description: 'One that somebody works on is given away by them, or by a compliance officer.',
    roles: workers,
    body: AssignRequest,
    problems: ['not_found', 'conflict', 'revision_stale', 'transition_not_allowed', 'person_required', 'erased'],
  }).handle((input) =>
    perform(input, assign, {
      ...input.body,
      may_release_others: input.actor.roles.includes('compliance_officer'),
    }),
  ),

  tenantRoute('POST /alerts/:alert_id/release', {
    ...common,
    id: 'releaseAlert',
    summary: 'Return an alert to its queue',
    description: 'Whoever works on it releases it, or a compliance officer.',
    roles: workers,
    body: ReleaseRequest,
    problems: ['not_found', 'revision_stale', 'transition_not_allowed', 'erased'],
  }).handle((input) =>
    perform(input, release, {
      ...input.body,
      may_release_others: input.actor.roles.includes('compliance_officer'),
    }),
  ),

  tenantRoute('POST /alerts/:alert_id/snooze', {
    ...common,
    id: 'snoozeAlert',
    summary: 'Snooze an alert until a given time',
    description:
      'The list `alert-settings` says for how long at most, by the highest priority that the alert ever had. Service clocks do not run ' +
      'meanwhile. Raising the priority above that wakes it.',
    roles: workers,
    body: SnoozeRequest,
    problems: ['not_found', 'conflict', 'revision_stale', 'transition_not_allowed', 'person_required', 'erased'],
  }).handle((input) => perform(input, snooze, input.body)),

  tenantRoute('POST /alerts/:alert_id/wake', {
    ...common,
    id: 'wakeAlert',
    summary: 'End the snooze of an alert now',
    roles: workers,
    body: WakeRequest,
    problems: ['not_found', 'revision_stale', 'transition_not_allowed', 'person_required', 'erased'],
  }).handle((input) => perform(input, wake, input.body)),

  tenantRoute('POST /alerts/:alert_id/dismiss', {
    ...common,
    id: 'dismissAlert',
    summary: 'Dismiss an alert, or propose it where a second person is needed',
    description:
      'The list `alert-settings` says from which priority on another person confirms; until then the alert stays open. The highest ' +
      'priority that the alert ever had counts. ' +
      'Later reports with the same facts are counted and not raised.',
    roles: workers,
    body: DismissRequest,
    problems: [
      'not_found',
      'conflict',
      'revision_stale',
      'transition_not_allowed',
      'person_required',
      'content_corrupt',
      'erased',
    ],
  }).handle((input) => perform(input, dismiss, input.body)),

  tenantRoute('POST /alerts/:alert_id/confirm-dismissal', {
    ...common,
    id: 'confirmAlertDismissal',
    summary: 'Confirm a dismissal that another person proposed',
    roles: workers,
    body: DecideDismissalRequest,
    problems: [
      'not_found',
      'approval_own_request',
      'revision_stale',
      'transition_not_allowed',
      'person_required',
      'content_corrupt',
      'erased',
    ],
  }).handle((input) => perform(input, confirmDismissal, input.body)),

  tenantRoute('POST /alerts/:alert_id/return-dismissal', {
    ...common,
    id: 'returnAlertDismissal',
    summary: 'Refuse a dismissal that was proposed, or withdraw it',
    roles: workers,
    body: DecideDismissalRequest,
    problems: ['not_found', 'revision_stale', 'transition_not_allowed', 'person_required', 'erased'],
  }).handle((input) => perform(input, returnDismissal, input.body)),

  tenantRoute('POST /alerts/:alert_id/escalate', {
    ...common,
    id: 'escalateAlert',
    summary: 'Escalate an alert: it needs an investigation',
    description:
      'Joins the open investigation of the subject and playbook, or opens one with the title of the alert, in the same transaction; the ' +
      'note is stored there too. The list `investigation-triggers` says by which playbook; without a subject or an entry the alert is only marked.',
    roles: workers,
    body: EscalateRequest,
    problems: [
      'not_found',
      'conflict',
      'revision_stale',
      'transition_not_allowed',
      'person_required',
      'nothing_in_force',
      'content_corrupt',
      'erased',
      'concurrency_limited',
    ],
  }).handle((input) => perform(input, escalate, input.body)),

  tenantRoute('POST /alerts/:alert_id/comments', {
    id: 'createAlertComment',
    summary: 'Write a comment on an alert',
    description: 'Read in its history, by analyst, compliance_officer and auditor.',
    roles: workers,
    tx: 'write',
    params: AlertParams,
    body: CommentRequest,
    reply: [201, Comment],
    problems: ['not_found', 'erased'],
  }).handle(async ({ tx, params, body, audit }) => {
    const alert = assertAlert(await findAlert(tx, params.alert_id), audit)
    assertMayWrite(alert)
    const { alert_id } = alert
    const comment = assertFound(
      await insertComment(tx, { comment_id: uuidv7(), alert_id, revision: null, text: body.text }),
    )
    audit.recordHashes(null, { comment_id: comment.comment_id, text: comment.text })
    return comment
  }),
]
