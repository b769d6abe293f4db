/** What one attempt gave, and attempts that ask nobody: from stored answers, fixtures, or ended by a plugin that may not run. */
import { Problem } from '#kernel/problem.ts'
import type { FailedAttempt, ReceivedAnswer } from './answers.ts'
import type { CalledOperation } from './capability.ts'
import type { CallRun, LoadedCall } from './load-call.ts'
import { findFixtureAnswer, findRecorded } from './local-answers.ts'
import type { AnswerRow, AttemptRow } from './queries.ts'
import { readFixture } from './send-plugin.ts'

export interface AdmittedCall {
  readonly outcome: 'answered' | 'quarantined'
  readonly result: AnswerRow['result']
  readonly payload_id: string
  /** Null where no contract judges it. */
  readonly admission_id: string | null
}

/** How far a call came. */
export type CallStep =
  | { readonly kind: 'ended'; readonly end: AdmittedCall }
  | { readonly kind: 'failed'; readonly problem: Problem; readonly fault: string }
  | { readonly kind: 'wait'; readonly until: Date; readonly problem: Problem; readonly fault: string }

export type AttemptResult =
  | { readonly answer: ReceivedAnswer }
  | {
      readonly failure: Omit<FailedAttempt, 'is_final'>
      readonly retry_after_s: number | null
      /** The call ends with it: a plugin or a tool may not be used, or failed. */
      readonly problem?: Problem
    }
  | { readonly held: CallStep }

const pluginProblems = ['plugin_invalid', 'plugin_failed'] as const
export const isPluginProblem = (code: string): code is (typeof pluginProblems)[number] =>
  pluginProblems.some((each) => each === code)

/** From stored answers or fixtures, without asking anybody. */
export async function answerLocally(
  run: CallRun,
  loaded: LoadedCall & { readonly capability: CalledOperation },
  attempt: AttemptRow,
  input: Readonly<Record<string, unknown>>,
): Promise<AttemptResult> {
  const { kernel, scope } = run
  const { call, capability } = loaded
  const recorded =
    call.mode === 'recorded' ? await kernel.transactions.read(scope, (tx) => findRecorded(tx, call, null)) : undefined
  if (recorded) return { answer: recorded }
  const found = findFixtureAnswer(capability, input)
  if (found && 'bytes' in found) {
    if (capability.kind !== 'plugin') return { answer: found }
    return readFixture(run, { ...loaded, capability }, attempt, found).catch(endByPlugin)
  }
  const { fault, sent } = found ?? { fault: 'not_recorded', sent: false }
  // As where the provider is called: without a response it is not known whether it acted on the request.
  const outcome = sent && call.promise === 'once' ? 'unknown' : 'failed'
  return { failure: { outcome, fault, http_status: null, duration_ms: 0, is_outage: false }, retry_after_s: null }
}

/** The plugin or tool may not be used: nothing was sent. */
export function endByPlugin(error: unknown): AttemptResult {
  if (!(error instanceof Problem) || !isPluginProblem(error.code)) throw error
  return {
    failure: { outcome: 'not_sent', fault: error.code, http_status: null, duration_ms: null, is_outage: false },
    retry_after_s: null,
    problem: error,
  }
}
