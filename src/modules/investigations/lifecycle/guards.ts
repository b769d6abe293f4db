/** What keeps an act on a case from being done, each with the place where somebody can do something about it. */
import { isPerson } from '#kernel/auth/principal.ts'
import type { Role } from '#kernel/auth/roles.ts'
import { type InvestigationState, settledStates } from '../model.ts'
import type { InvestigationRow, StepRow } from '../queries.ts'
import type { TaskRow } from '../tasks/queries.ts'

export interface Guard {
  readonly code: string
  readonly detail: string
  /** JSON Pointer into the case: `#/steps/<key>`, `#/tasks/<id>`, `#/narrative/paragraphs/<place>`. */
  readonly pointer: string
}

export const actions = [
  'propose_outcome',
  'withdraw_proposal',
  'return',
  'close',
  'reopen',
  'merge',
  'wait',
  'resume',
  'assign',
] as const
export type Action = (typeof actions)[number]

export interface Caller {
  readonly principal: string
  readonly roles: readonly Role[]
}

/** What guards look at beside the case itself. */
export interface CaseContent {
  readonly steps: readonly StepRow[]
  /** Keys of steps that were left out and whose condition applies to the subject as it is now. */
  readonly applying: readonly string[]
  readonly tasks: readonly TaskRow[]
  /** Of the narrative; empty: it is complete. */
  readonly narrative: readonly Guard[]
  /** Of a proposed case: part of what the seal covers, evidence or a linked alert, is not available to the caller. */
  readonly is_hidden: boolean
  /** Of a proposed case: what the proposal rests on has changed since. */
  readonly is_stale: boolean
  /** Requests for information that are open. */
  readonly requests_open: number
}

const states: Readonly<Record<Action, InvestigationState>> = {
  propose_outcome: 'open',
  withdraw_proposal: 'proposed',
  return: 'proposed',
  close: 'proposed',
  reopen: 'closed',
  merge: 'open',
  wait: 'open',
  resume: 'open',
  assign: 'open',
}
const forOfficers: readonly Action[] = ['return', 'close', 'reopen', 'merge']

export function listGuards(
  action: Action,
  investigation: InvestigationRow,
  content: CaseContent,
  caller: Caller,
): Guard[] {
  const found = [...listCallerGuards(action, investigation, caller)]
  const expected = states[action]
  if (investigation.state !== expected)
    return [
      ...found,
      { code: 'state', pointer: '#/state', detail: `The investigation is ${investigation.state}, not ${expected}.` },
    ]
  if (action === 'propose_outcome') found.push(...listProposalGuards(investigation, content))
  if (action === 'propose_outcome' || action === 'close') found.push(...listApplyingGuards(investigation, content))
  if (action === 'close') found.push(...listWaiverGuards(investigation, content, caller))
  // Nobody closes on what they cannot read.
  if (action === 'close') found.push(...content.narrative.filter(({ code }) => code === 'citation_unknown'))
  if (action === 'close' && content.is_hidden)
    found.push({
      code: 'evidence_not_available',
      pointer: '#/evidence',
      detail: 'Part of what the proposal rests on is not available to you.',
    })
  if (action === 'close' && content.is_stale) found.push(staleGuard)
  if (action === 'merge')
    found.push(
      ...listRunningGuards(investigation, content),
      ...listRequestGuards(
        content,
        'It stays with this investigation: ask again in the other one if it is still needed.',
      ),
    )
  if (action === 'wait' && investigation.waiting_for !== null)
    found.push({ code: 'waiting', pointer: '#/waiting_for', detail: 'The investigation is waiting already.' })
  if (action === 'resume' && investigation.waiting_for === null)
    found.push({ code: 'not_waiting', pointer: '#/waiting_for', detail: 'The investigation is not waiting.' })
  return found
}

function* listCallerGuards(action: Action, { proposed_by }: InvestigationRow, caller: Caller): Generator<Guard> {
  const allowed: readonly Role[] = forOfficers.includes(action)
    ? ['compliance_officer']
    : ['analyst', 'compliance_officer']
  if (!allowed.some((role) => caller.roles.includes(role)))
    yield { code: 'role_required', pointer: '#/caller/roles', detail: `Only ${allowed.join(' or ')} may do this.` }
  if (!isPerson(caller.principal))
    yield { code: 'person_required', pointer: '#/caller', detail: 'Only a person may do this, not an API key.' }
  if (action === 'withdraw_proposal' && proposed_by !== null && proposed_by !== caller.principal)
    yield { code: 'not_proposer', pointer: '#/proposal/proposed_by', detail: 'Only whoever proposed it withdraws it.' }
  if ((action === 'close' || action === 'return') && proposed_by === caller.principal)
    yield {
      code: 'own_proposal',
      pointer: '#/proposal/proposed_by',
      detail: 'Nobody decides on their own proposal; another person must.',
    }
}

/** The decision to do without what the outcome needs is looked at by a second person too. */
const listWaiverGuards = (
  { proposed_without }: InvestigationRow,
  { steps }: CaseContent,
  { principal }: Caller,
): Guard[] =>
  steps
    .filter(({ step_key, waived_by }) => waived_by === principal && proposed_without.includes(step_key))
    .map(({ step_key }) => ({
      code: 'own_waiver',
      pointer: `#/steps/${step_key}`,
      detail: `You waived the step ${step_key}, which the outcome needs; another person closes the investigation.`,
    }))

/** Otherwise a fact that is changed for the time of gathering would do without a step, which only an officer may. */
const listApplyingGuards = ({ proposed_without }: InvestigationRow, { steps, applying }: CaseContent): Guard[] =>
  steps
    .filter(
      ({ step_key, is_required }) =>
        (is_required || proposed_without.includes(step_key)) && applying.includes(step_key),
    )
    .map(({ step_key }) => ({
      code: 'step_applies',
      pointer: `#/steps/${step_key}`,
      detail: `The step ${step_key} was left out, and its condition applies to the subject now: begin it again.`,
    }))

/** What runs would be lost to the case. */
function listRunningGuards(
  { gathering }: Pick<InvestigationRow, 'gathering'>,
  { steps }: Pick<CaseContent, 'steps'>,
): Guard[] {
  const found: Guard[] = []
  if (gathering === 'running')
    found.push({ code: 'gathering_running', pointer: '#/gathering', detail: 'The service is still gathering.' })
  for (const { step_key, state } of steps)
    if (state === 'running')
      found.push({
        code: 'step_running',
        pointer: `#/steps/${step_key}`,
        detail: `The step ${step_key} is running.`,
      })
  return found
}

const staleGuard: Guard = {
  code: 'proposal_stale',
  pointer: '#/proposal/proposal_hash',
  detail: 'The investigation has changed since the outcome was proposed. Return it so that it can be proposed again.',
}

const listRequestGuards = ({ requests_open }: Pick<CaseContent, 'requests_open'>, more = ''): Guard[] =>
  requests_open === 0
    ? []
    : [
        {
          code: 'information_open',
          pointer: '#/information_requests',
          detail: `A request for information is open; fulfil or withdraw it. ${more}`.trim(),
        },
      ]

function listProposalGuards(
  { gathering, waiting_for }: InvestigationRow,
  { steps, tasks, narrative, requests_open }: CaseContent,
): Guard[] {
  const found = listRunningGuards({ gathering }, { steps })
  if (waiting_for !== null)
    found.push({ code: 'waiting', pointer: '#/waiting_for', detail: 'The investigation waits; resume it first.' })
  for (const { step_key, state, is_required } of steps) {
    const pointer = `#/steps/${step_key}`
    if (is_required && state !== 'running' && !settledStates.includes(state))
      found.push({ code: 'step_open', pointer, detail: `The required step ${step_key} is ${state}.` })
  }
  const given = new Set(
    steps.filter(({ state }) => state === 'waived' || state === 'skipped').map(({ step_key }) => step_key),
  )
  for (const { task_id, is_required, state, step_key, title } of tasks)
    if (is_required && state !== 'done' && !(step_key !== null && given.has(step_key)))
      found.push({ code: 'task_open', pointer: `#/tasks/${task_id}`, detail: `The required task "${title}" is open.` })
  return [...found, ...listRequestGuards({ requests_open }), ...narrative]
}

export interface NextAction {
  readonly action: Action
  readonly is_permitted: boolean
  readonly missing: readonly Guard[]
}

export const listNextActions = (
  investigation: InvestigationRow,
  content: CaseContent,
  caller: Caller,
): readonly NextAction[] =>
  actions.map((action) => {
    const missing = listGuards(action, investigation, content, caller)
    return { action, is_permitted: missing.length === 0, missing }
  })

/** The one act that brings the case forward, for this caller; null where it has ended. */
export function getMainAction({ state, proposed_by }: InvestigationRow, { principal }: Caller): Action | null {
  if (state === 'open') return 'propose_outcome'
  if (state === 'proposed') return proposed_by === principal ? 'withdraw_proposal' : 'close'
  return null
}
