/**
 * Goes through definitions in a bounded thread, so that nobody else's request waits for it. What meets a limit of time or
 * memory is said to be unproved, unsearched or untried; a thread that fails is never taken for an answer.
 */
import { BoundedThread, ThreadFailure } from '#kernel/bounded-thread.ts'
import type { ThreadAdmission } from '#kernel/thread-admission.ts'
import type { Finding, Inputs } from '../model.ts'
import { type AnalysisRequest, listTransferables, serializeRequest } from './analysis-request.ts'
import type { AnalysisTask, DecisionAttempt, TaskResults } from './analysis-task.ts'
import type { AnalysisWorkerReply } from './analysis-worker.ts'
import type { Attribution } from './attribution.ts'
import { type MinimalChanges, NOT_SEARCHED } from './minimal-changes.ts'

export interface AnalysisRunnerOptions {
  /** The built analysis-worker. */
  readonly script: URL | string
  readonly time_limit_ms?: number
  readonly heap_limit_mib?: number
  readonly admission?: ThreadAdmission
}

export interface Analysis {
  readonly findings: readonly Finding[]
  /** A limit was met, as it might not be at another time. */
  readonly is_cut_short: boolean
}

/** The same inputs on two sets of versions; names and lists as the task has them. */
export interface AttributionRequest {
  readonly names: readonly string[]
  readonly old: AnalysisRequest
  readonly young: AnalysisRequest
  readonly inputs: Inputs
}

/** `caller` is who asks: callers take turns. All throw when the thread fails. */
export interface AnalysisRunner {
  analyse(order: AnalysisRequest, caller: string): Promise<Analysis>
  /** What was bound before; says `truncated` where a limit was met. */
  search(order: AnalysisRequest, inputs: Inputs, band: string | undefined, caller: string): Promise<MinimalChanges>
  /** Says `untried` of what a limit kept from being tried. */
  attribute(order: AttributionRequest, caller: string): Promise<AttributionResult>
  close(): Promise<void>
}
export type AttributionResult = Pick<Attribution<DecisionAttempt>, 'alone' | 'joint' | 'untried'>

/** Five million combinations, the most that is gone through, take under a second; lists and decisions may add several. */
const TIME_LIMIT_MS = 15_000
const HEAP_LIMIT_MIB = 256
const MAX_WAITING = 50
/** Of the time limit: how long is searched, so that what was found by then is told. */
const SEARCH_TIME_SHARE = 1 / 3

export function createAnalysisRunner(options: AnalysisRunnerOptions): AnalysisRunner {
  const { script, time_limit_ms = TIME_LIMIT_MS, heap_limit_mib, admission } = options
  const thread = new BoundedThread<AnalysisTask, AnalysisWorkerReply>({
    name: 'analysis worker',
    script,
    time_limit_ms,
    heap_limit_mib: heap_limit_mib ?? HEAP_LIMIT_MIB,
    max_waiting: MAX_WAITING,
    admission,
  })
  const limit_ms = time_limit_ms * SEARCH_TIME_SHARE

  async function run<T extends AnalysisTask>(task: T, caller: string): Promise<TaskResults[T['op']]> {
    const orders = task.op === 'attribute' ? [task.old, task.young] : [task.of]
    const answer = await thread.run(task, { caller, transfer: orders.flatMap(listTransferables) })
    if (answer.op === 'found') return answer.found as TaskResults[T['op']]
    throw new Error(answer.op === 'failed' ? answer.message : `The analysis worker answered ${answer.op}`)
  }

  return {
    async analyse(order, caller) {
      try {
        const findings = await run({ op: 'prove', of: await serializeRequest(order) }, caller)
        return { findings, is_cut_short: false }
      } catch (error) {
        return { findings: [limitFinding(assertLimitFailure(error).message)], is_cut_short: true }
      }
    },
    async search(order, inputs, band, caller) {
      try {
        return await run({ op: 'search', of: await serializeRequest(order), inputs, band, limit_ms }, caller)
      } catch (error) {
        assertLimitFailure(error)
        return NOT_SEARCHED
      }
    },
    async attribute({ names, old, young, inputs }, caller) {
      try {
        const packed = { old: await serializeRequest(old), young: await serializeRequest(young) }
        return await run({ op: 'attribute', names, inputs, limit_ms, ...packed }, caller)
      } catch (error) {
        assertLimitFailure(error)
        return { alone: [], joint: [], untried: names }
      }
    },
    close: () => thread.close(),
  }
}

/** The limit, if one was met; anything else is thrown on. */
function assertLimitFailure(error: unknown): ThreadFailure {
  if (error instanceof ThreadFailure && (error.reason === 'time' || error.reason === 'memory')) return error
  throw error
}

const limitFinding = (why: string): Finding => ({
  code: 'not_analysable',
  pointer: '',
  message: `This cannot be proved complete: ${why}. Test fewer inputs together, or smaller lists.`,
  severity: 'error',
})
