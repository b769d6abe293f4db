/** What people do with a step: begin it again, settle an unknown outcome, waive or add one. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { checkAddedStep, loadPlaybook, type playbookModel } from '#modules/playbooks/index.ts'
import { callLedger, createCall } from '#modules/providers/index.ts'
import { payloadStore } from '#modules/source-contracts/index.ts'
import { findSubject } from '#modules/subjects/index.ts'
import { listTriedSteps } from '../lifecycle/queries.ts'
import { expectAskable } from '../opening/check-askable.ts'
import { listPossibleOutcomes } from '../opening/possible-outcomes.ts'
import { insertSteps } from '../opening/queries.ts'
import { type InvestigationRow, listSteps, type StepRow } from '../queries.ts'
import { isLeftOut, listApplying } from './left-out-steps.ts'
import { updateStepAgain } from './queries.ts'
import { isBlocked, isDeferred, listStartable } from './step-states.ts'

const MAX_STEPS = 100

type StepKernel = Capabilities<
  'caches' | 'encryption' | 'forced_provider_mode' | 'modules' | 'plugin_policy' | 'threads'
>

/** 424 and 503 where what a required one of them asks for cannot be asked now. */
async function expectRowsAskable(
  kernel: StepKernel,
  tx: Tx,
  { is_in_force: is_restricted }: Pick<InvestigationRow, 'is_in_force'>,
  rows: readonly Pick<StepRow, 'step_key' | 'kind' | 'definition' | 'is_required'>[],
): Promise<void> {
  const steps = rows.map(({ step_key: key, kind, definition, is_required: required }) => ({
    ...{ key, kind, required },
    with: definition['with'] as object,
  }))
  await expectAskable(kernel, tx, steps, { is_restricted })
}

/** The call that a new run goes on with; null: it makes a new one. An answer that was paid for is used, if it can be used now. */
async function findUsableCall(kernel: StepKernel, tx: Tx, { call_id, state }: StepRow): Promise<string | null> {
  if (call_id === null) return null
  const { call, attempts, result } = await callLedger.loadCall(kernel, tx, call_id)
  if (result) {
    if (call.contract_key === null || result.result === 'not_found') return call_id
    const [admission] = await payloadStore.findLastAdmissions(tx, [result.payload_id])
    return admission && !admission.admitted ? null : call_id
  }
  if (state === 'indeterminate') return fail('transition_not_allowed', 'Its outcome is unknown: settle the step.')
  return attempts.at(-1)?.is_final ? null : call_id
}

/**
 * Steps that can begin again, with the one that was asked for: those of a blocked case begin together. Without a job nothing else begins
 * a step that waits for its provider: each act takes such steps along.
 */
export async function beginAgain(
  kernel: StepKernel,
  tx: Tx,
  investigation: InvestigationRow,
  step: StepRow,
): Promise<{ readonly only: string[] | undefined; readonly steps: number }> {
  const { investigation_id, gathering } = investigation
  const isIdle = gathering !== 'running' && (step.state === 'pending' || isDeferred(step))
  // A waiver of an untried step does not count for the last outcome, so it can be taken back.
  const isTakenBack = step.state === 'waived' && !(await listTriedSteps(tx, investigation_id)).has(step.step_key)
  if (!isIdle && !isBlocked(step) && !isTakenBack && !['failed', 'indeterminate', 'skipped'].includes(step.state))
    fail('transition_not_allowed', `The step is ${step.state}.`)
  if (isLeftOut(step) && !(await listApplying(kernel, tx, investigation, [step])).includes(step))
    fail('transition_not_allowed', 'Its condition does not apply to the subject.')
  await expectRowsAskable(kernel, tx, investigation, [{ ...step, is_required: true }])
  await updateStepAgain(tx, investigation_id, step.step_key, await findUsableCall(kernel, tx, step))
  const steps = await listSteps(tx, investigation_id)
  if (gathering !== 'blocked') {
    const deferred = gathering === 'running' ? [] : steps.filter(isDeferred).map(({ step_key }) => step_key)
    return { only: [step.step_key, ...deferred], steps: steps.length }
  }
  for (const other of steps.filter(isBlocked))
    await updateStepAgain(tx, investigation_id, other.step_key, other.call_id)
  return { only: undefined, steps: steps.length }
}

/**
 * What a job left that was cancelled or failed: steps that can begin, and those that wait for a credential or their provider; what needs them
 * follows. A step that failed is begun again by itself. Returns the keys.
 */
export async function beginLeft(kernel: StepKernel, tx: Tx, investigation: InvestigationRow): Promise<string[]> {
  const { investigation_id, gathering } = investigation
  if (gathering === 'running') fail('transition_not_allowed', 'Gathering is running.')
  const steps = await listSteps(tx, investigation_id)
  const left = [...listStartable(steps), ...steps.filter((step) => isBlocked(step) || isDeferred(step))]
  if (left.length === 0) fail('transition_not_allowed', 'No step is left that was not begun.')
  await expectRowsAskable(kernel, tx, investigation, left)
  for (const step of left.filter(isBlocked)) await updateStepAgain(tx, investigation_id, step.step_key, step.call_id)
  return left.map(({ step_key }) => step_key)
}

/**
 * What was waived is never done: an outcome that needs it is lost. The last one is lost only with a step that was tried and found nothing: then
 * it can be proposed with a reason, and closed by somebody else than whoever waived.
 */
export async function assertOutcomeLeft(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  investigation: InvestigationRow,
  { step_key, state, problem }: Pick<StepRow, 'step_key' | 'state' | 'problem'>,
): Promise<void> {
  // What waits, for a limit of the provider or until it is back, is still to be tried.
  if (problem !== null && state !== 'pending' && state !== 'waiting') return
  const {
    playbook_key,
    playbook_origin: origin,
    playbook_version: version,
    investigation_id,
    subject_id,
  } = investigation
  const playbook = await loadPlaybook(kernel, tx, playbook_key, { origin, version })
  const subject = assertFound(await findSubject(tx, subject_id))
  const waived = (await listSteps(tx, investigation_id)).filter(({ state }) => state === 'waived')
  const before = waived.map((each) => each.step_key)
  const count = async (without: readonly string[]) =>
    (await listPossibleOutcomes(kernel, tx, playbook, { subject, without })).length
  if ((await count(before)) > 0 && (await count([...before, step_key])) === 0)
    fail('transition_not_allowed', `Every outcome that is left needs the step ${step_key}.`)
}

export interface Settlement {
  readonly action: 'call_again' | 'enter_answer'
  readonly reason: string
  readonly answer?: Omit<callLedger.EnteredAnswer, 'reason' | 'pointer'>
}

/** Returns the call that the step goes on with. */
export async function settleStep(
  kernel: StepKernel,
  tx: Tx,
  { investigation_id, step }: { readonly investigation_id: string; readonly step: StepRow },
  { action, reason, answer }: Settlement,
): Promise<string> {
  const { call_id, step_key } = step
  if (step.state !== 'indeterminate' || call_id === null)
    return fail('transition_not_allowed', `The step is ${step.state}: only an unknown outcome is settled.`)
  const goOn = async (with_call: string): Promise<string> => {
    await updateStepAgain(tx, investigation_id, step_key, with_call)
    return with_call
  }
  if (action === 'enter_answer') {
    if (!answer) return fail('conflict', 'enter_answer needs answer.')
    const loaded = await callLedger.expectUnknownOutcome(kernel, tx, call_id)
    await callLedger.storeEnteredAnswer(kernel, tx, loaded, { ...answer, reason, pointer: '#/answer' })
    return goOn(call_id)
  }
  // Somebody repeated the call itself: the step goes on with that one.
  const repeat = await callLedger.findRepeat(tx, call_id)
  if (repeat) return goOn(repeat.call_id)
  const loaded = await callLedger.expectUnknownOutcome(kernel, tx, call_id)
  const { provider, request } = await callLedger.prepareRepeat(kernel, tx, loaded)
  const call_key = `investigation/${investigation_id}/${step_key}/${step.attempt + 1}`
  return goOn((await createCall(kernel, tx, provider, { ...request, call_key })).call_id)
}

export interface StepRequest {
  readonly step_key: string
  readonly kind: string
  readonly title: string
  readonly with: Readonly<Record<string, unknown>>
  readonly needs?: readonly string[]
  readonly is_required?: boolean
  readonly reuse_days?: number
  readonly max_cost?: playbookModel.Money
}

/** Returns how many steps the case has now. */
export async function addStep(
  kernel: StepKernel,
  tx: Tx,
  investigation: InvestigationRow,
  { step_key, is_required = false, needs = [], ...request }: StepRequest,
): Promise<number> {
  const { investigation_id, playbook_key, playbook_origin: origin, playbook_version: version } = investigation
  const steps = await listSteps(tx, investigation_id)
  if (steps.length >= MAX_STEPS) fail('conflict', `A case has at most ${MAX_STEPS} steps.`)
  const unknown = needs.find((key) => !steps.some((step) => step.step_key === key))
  if (unknown !== undefined) fail('conflict', `The case has no step ${unknown}.`)
  const { content } = await loadPlaybook(kernel, tx, playbook_key, { origin, version })
  const { reuse_days = null, max_cost = null, kind, title } = request
  const members = { key: step_key, title, needs, required: is_required, when: null, reuse_days, max_cost }
  const added = { ...members, kind, with: request.with } as unknown as playbookModel.PlaybookStep
  const findings = await checkAddedStep(kernel, tx, content, added)
  const errors = findings.filter(({ severity }) => severity === 'error')
  if (errors.length > 0) {
    const isInput = errors.every(({ pointer }) => pointer.startsWith('/steps/0/with/input'))
    fail(isInput ? 'validation_failed' : 'conflict', {
      detail: errors
        .map(({ message }) => message)
        .join(' ')
        .slice(0, 1000),
      errors: errors.map(({ pointer, message, code }) => ({
        in: 'body' as const,
        pointer: pointer.replace(/^\/steps\/0/, '#'),
        detail: message,
        keyword: code,
      })),
    })
  }
  await expectAskable(kernel, tx, [added], { is_restricted: investigation.is_in_force })
  await insertSteps(tx, investigation_id, [
    { step_key, kind, origin: 'person', is_required, needs, definition: { ...added } },
  ])
  return steps.length + 1
}
