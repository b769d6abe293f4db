/** How a case may end: by its playbook, for its subject, with the steps that an outcome needs. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound } from '#kernel/problem.ts'
import { findApplicable, loadPlaybook } from '#modules/playbooks/index.ts'
import { findSubject } from '#modules/subjects/index.ts'
import { isLeftOut, listApplying } from '../gathering/left-out-steps.ts'
import { type InvestigationRow, listSteps, type StepRow } from '../queries.ts'
import type { Guard } from './guards.ts'
import { listTriedSteps } from './queries.ts'

interface OutcomeContext {
  readonly kernel: Capabilities<'caches'>
  readonly tx: Tx
}

/** The version that the case follows, whatever is in force now. */
export const loadPinned = ({ kernel, tx }: OutcomeContext, row: InvestigationRow) =>
  loadPlaybook(kernel, tx, row.playbook_key, { origin: row.playbook_origin, version: row.playbook_version })

/** Codes with which the case may end, as far as facts of the subject decide it. */
export async function listOutcomes(context: OutcomeContext, row: InvestigationRow): Promise<string[]> {
  const { content } = await loadPinned(context, row)
  const subject = assertFound(await findSubject(context.tx, row.subject_id))
  const { outcomes } = await findApplicable(context.kernel, context.tx, content, subject)
  return content.outcomes.map(({ code }) => code).filter((code) => outcomes.has(code))
}

/** An officer waived it, or its condition does not apply. One that could not be asked is waived first. */
const isGivenUpStep = (step: StepRow): boolean => step.state === 'waived' || isLeftOut(step)

export interface GivenUp {
  /** What it does without. */
  readonly without: readonly string[]
  /** Waived while another outcome was left, and never tried: it does not do without these. */
  readonly untried: readonly string[]
}

/**
 * Steps that the outcome needs and that are waived or left out. None, as long as another outcome can be reached with all that it needs: doing without is
 * the last way to end a case.
 */
export async function listGivenUp(context: OutcomeContext, row: InvestigationRow, outcome: string): Promise<GivenUp> {
  const { content } = await loadPinned(context, row)
  const allowed = await listOutcomes(context, row)
  const steps = await listSteps(context.tx, row.investigation_id)
  const applying = await listApplying(context.kernel, context.tx, row, steps)
  const given_up = steps.filter((step) => isGivenUpStep(step) && !applying.includes(step))
  const isGivenUp = (key: string) => given_up.some(({ step_key }) => step_key === key)
  const isLeft = content.outcomes.some(({ code, needs }) => allowed.includes(code) && !needs.some(isGivenUp))
  if (isLeft) return { without: [], untried: [] }
  const needed = (content.outcomes.find(({ code }) => code === outcome)?.needs ?? []).filter(isGivenUp)
  const tried = await listTriedSteps(context.tx, row.investigation_id)
  const isUntried = (key: string) =>
    steps.some(({ step_key, state }) => step_key === key && state === 'waived') && !tried.has(key)
  return { without: needed.filter((key) => !isUntried(key)), untried: needed.filter(isUntried) }
}

export async function listOutcomeGuards(
  context: OutcomeContext,
  row: InvestigationRow,
  { outcome, without, untried, has_reason }: GivenUp & { readonly outcome: string; readonly has_reason: boolean },
): Promise<Guard[]> {
  const { content } = await loadPinned(context, row)
  const declared = content.outcomes.find(({ code }) => code === outcome)
  const pointer = '#/outcome'
  const allowed = await listOutcomes(context, row)
  // That the code is one of investigations was proved when the version was published; the list may have lost it since.
  if (!declared || !allowed.includes(outcome)) {
    const others =
      allowed.length > 0
        ? `Its playbook allows ${allowed.join(', ')}.`
        : 'No outcome applies to the subject as it is now.'
    const detail = `The investigation cannot end with ${outcome}. ${others}`
    return [{ code: 'outcome_not_allowed', pointer, detail }]
  }
  const steps = await listSteps(context.tx, row.investigation_id)
  const missing = declared.needs
    .filter((key) => !without.includes(key) && steps.find(({ step_key }) => step_key === key)?.state !== 'succeeded')
    .map((key) =>
      untried.includes(key)
        ? {
            code: 'step_not_tried',
            pointer: `#/steps/${key}`,
            detail: `The outcome ${outcome} needs the step ${key}, which was waived before anybody tried it: begin it again.`,
          }
        : {
            code: 'outcome_needs_step',
            pointer: `#/steps/${key}`,
            detail: `The outcome ${outcome} needs the step ${key}, which is not done.`,
          },
    )
  if (without.length === 0 || has_reason) return missing
  const detail = `The outcome ${outcome} needs what nobody will do (${without.join(', ')}). Say in a note why it holds without it.`
  return [...missing, { code: 'reason_required', pointer: '#/note', detail }]
}
