/** What people do with a case as a whole. `row` is locked in every act. */
import type { Tx } from '#kernel/database/tx.ts'
import { emit } from '#kernel/events/emit.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail, type ProblemError } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { type Priority, workClocks, workItems } from '#modules/work/index.ts'
import { addNote } from '../case-notes.ts'
import { investigationClosed, investigationProposed, investigationReopened } from '../events.ts'
import { caseWorkers, toWorkItem, type WaitingReason } from '../model.ts'
import { startClocks } from '../opening/open-investigation.ts'
import { type InvestigationRow, insertEvent } from '../queries.ts'
import { hashManifest, readProposalContent, sealCase } from '../seal/manifest.ts'
import { assertOpen, readContent } from './case-content.ts'
import { type Action, type Caller, type Guard, listGuards } from './guards.ts'
import { listGivenUp, listOutcomeGuards, loadPinned } from './outcomes.ts'
import { type CaseChange, updateCase } from './queries.ts'

export interface ActContext {
  readonly kernel: Capabilities<'auditKeys' | 'caches' | 'encryption' | 'integrity' | 'modules'>
  readonly tx: Tx
  readonly caller: Caller
  readonly request_id: string
}

export type Act<Input> = (context: ActContext, row: InvestigationRow, input: Input) => Promise<void>
type Noted = { readonly note?: string | null | undefined }

/** 409 with everything that is missing; who the caller is comes first, as every other refusal of a caller. */
function assertPermitted(guards: readonly Guard[]): void {
  const [first] = guards
  if (!first) return
  if (guards.some(({ code }) => code === 'person_required')) fail('person_required')
  if (guards.some(({ code }) => code === 'role_required')) fail('role_required')
  const own = guards.find(({ code }) => code === 'own_proposal' || code === 'own_waiver')
  if (own) fail('approval_own_request', own.detail)
  const errors = guards.map(
    ({ code, detail, pointer }): ProblemError => ({ in: 'body', pointer, detail, keyword: code }),
  )
  fail('transition_not_allowed', {
    detail: guards
      .map(({ detail }) => detail)
      .join(' ')
      .slice(0, 1000),
    errors,
  })
}

async function expectPermitted(
  context: ActContext,
  action: Action,
  row: InvestigationRow,
  more: readonly Guard[] = [],
) {
  const { content } = await readContent(context, row, action === 'propose_outcome' ? 'verified' : 'stored')
  assertPermitted([...listGuards(action, row, content, context.caller), ...more])
}

/** Stores the change, and what was written about it under the same revision. */
async function change(
  { kernel, tx }: ActContext,
  row: InvestigationRow,
  changed: Partial<CaseChange>,
  note: Noted['note'],
) {
  const write = async () => note && addNote(kernel, tx, row, { text: note, revision: row.revision + 1 })
  // Nothing is written about a case that has ended: before the act that ends it, and after the one that opens it again.
  const isOpen = row.state === 'open' || row.state === 'proposed'
  if (isOpen) await write()
  await updateCase(tx, row.investigation_id, { ...row, ...changed })
  if (!isOpen) await write()
}

export const update: Act<{ title?: string; priority?: Priority } & Noted> = async (context, row, input) => {
  const { title = row.title, priority = row.priority, note } = input
  assertOpen(row)
  if (title === row.title && priority === row.priority) return
  const { investigation_id, playbook_key } = row
  if (priority !== row.priority)
    await workItems.rerouteWork(context.kernel, context.tx, {
      ...toWorkItem(investigation_id),
      priority,
      source: playbook_key,
    })
  await change(context, row, { title, priority }, note)
}

export const assign: Act<{ user_id: string } & Noted> = async (context, row, { user_id, note }) => {
  const { tx } = context
  const { investigation_id, restriction_id } = row
  if (row.state !== 'open' && row.state !== 'proposed')
    fail('transition_not_allowed', `The investigation is ${row.state}.`)
  // A note of its own is part of what is sealed.
  if (note && row.state === 'proposed')
    fail('transition_not_allowed', 'An outcome is proposed; assign it without a note, or return it first.')
  const item = { ...toWorkItem(investigation_id), restriction_id }
  await workItems.assertAssignable(tx, user_id, restriction_id, caseWorkers)
  await workItems.assignWork(tx, item, user_id)
  const data = { assignee: `user:${user_id}` }
  await insertEvent(tx, {
    event_id: uuidv7(),
    investigation_id,
    kind: 'assigned',
    category: 'person',
    revision: null,
    data,
  })
  if (note) await addNote(context.kernel, tx, row, { text: note })
}

/** Service clocks do not run meanwhile. */
export const wait: Act<{ waiting_for: WaitingReason; until?: string | null } & Noted> = async (context, row, input) => {
  await expectPermitted(context, 'wait', row)
  const { waiting_for, until = null, note } = input
  if (until !== null && Date.parse(until) <= Date.now()) fail('conflict', 'The end is in the past.')
  await workClocks.pauseClocks(context.tx, toWorkItem(row.investigation_id))
  await change(context, row, { waiting_for, waiting_until: until }, note)
}

export const resume: Act<Noted> = async (context, row, { note }) => {
  await expectPermitted(context, 'resume', row)
  await workClocks.resumeClocks(context.kernel, context.tx, toWorkItem(row.investigation_id))
  await change(context, row, { waiting_for: null, waiting_until: null }, note)
}

export const proposeOutcome: Act<{ outcome: string } & Noted> = async (context, row, { outcome, note }) => {
  const { tx, caller } = context
  const given_up = await listGivenUp(context, row, outcome)
  const { without } = given_up
  const guards = await listOutcomeGuards(context, row, { outcome, ...given_up, has_reason: Boolean(note) })
  await expectPermitted(context, 'propose_outcome', row, guards)
  const proposal_hash = hashManifest(await readProposalContent(tx, row, { outcome, without }))
  const proposal = {
    ...{ proposed_outcome: outcome, proposed_by: caller.principal, proposal_hash },
    proposed_without: [...without],
  }
  await change(context, row, { state: 'proposed', ...proposal }, note)
  const { investigation_id: object_id, restriction_id } = row
  await emit(tx, investigationProposed, { object_id, restriction_id, data: { outcome } })
}

const NO_PROPOSAL = { proposed_outcome: null, proposed_by: null, proposal_hash: null, proposed_without: [] }

export const withdrawProposal: Act<Noted> = async (context, row, { note }) => {
  await expectPermitted(context, 'withdraw_proposal', row)
  await change(context, row, { state: 'open', ...NO_PROPOSAL }, note)
}

export const returnProposal: Act<{ note: string }> = async (context, row, { note }) => {
  await expectPermitted(context, 'return', row)
  await change(context, row, { state: 'open', ...NO_PROPOSAL }, note)
}

/** The proposal, its content and who proposed it are what they were; otherwise somebody has to propose again. */
export const close: Act<{ proposal_hash: string } & Noted> = async (context, row, { proposal_hash, note }) => {
  const { kernel, tx, caller } = context
  await expectPermitted(context, 'close', row)
  const outcome = row.proposed_outcome as string
  const content = await readProposalContent(tx, row, { outcome, without: row.proposed_without })
  if (row.proposal_hash !== proposal_hash || hashManifest(content) !== row.proposal_hash)
    fail(
      'conflict',
      'The investigation has changed since the outcome was proposed, or another one was proposed. Return it so that it can be proposed again.',
    )
  const seal_no = await sealCase(kernel, tx, row, { content, closed_by: caller.principal, note: note ?? null })
  await workItems.completeWork(tx, toWorkItem(row.investigation_id))
  await change(context, row, { state: 'closed', outcome, closed_by: caller.principal, seal_no }, note)
  const { investigation_id: object_id, restriction_id } = row
  await emit(tx, investigationClosed, { object_id, restriction_id, data: { outcome, seal_no } })
}

/** The earlier seal stays; the next one has the next number. Clocks of the playbook begin again. */
export const reopen: Act<{ note: string }> = async (context, row, { note }) => {
  const { kernel, tx } = context
  const { investigation_id, restriction_id, priority, playbook_key } = row
  await expectPermitted(context, 'reopen', row)
  await change(context, row, { state: 'open', ...NO_PROPOSAL, outcome: null, closed_by: null }, note)
  const object = { ...toWorkItem(investigation_id), restriction_id }
  const { openings } = await workItems.openWork(kernel, tx, { ...object, priority, source: playbook_key })
  const { content } = await loadPinned(context, row)
  const clocks = content.clocks.map((clock, at) => ({ ...clock, key: toReopenedKey(clock.key, at, openings) }))
  await startClocks(kernel, tx, object, clocks)
  await emit(tx, investigationReopened, { object_id: investigation_id, restriction_id, data: {} })
}

const MAX_CLOCK_KEY = 100

/** Clocks of each opening have keys of their own. A key that is too long is cut, and differs from others by its place. */
export function toReopenedKey(key: string, at: number, openings: number): string {
  const whole = `${key}-${openings}`
  if (whole.length <= MAX_CLOCK_KEY) return whole
  const end = `-${at}-${openings}`
  return `${key.slice(0, MAX_CLOCK_KEY - end.length)}${end}`
}

/** For another case of the same people: what it gathered is named there too. */
export { change as changeCase, expectPermitted }
