/**
 * Analyses definitions in a bounded thread, so that other requests do not wait. Work that exceeds a limit of time or memory is
 * reported as unproved, not searched or untried; a failed thread is an error.
 */
import { BoundedThread, ThreadFailure } from '#kernel/bounded-thread.ts'
import type { ThreadAdmission } from '#kernel/thread-admission.ts'
import type { Finding, Inputs, PluginResults } from '../model.ts'
import { type AnalysisRequest, listTransferables, serializeRequest } from './analysis-request.ts'
import type { AnalysisTask, DecisionAttempt, SidedResult, TaskResults } from './analysis-task.ts'
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
  /** A limit was exceeded; a later attempt may succeed. */
  readonly is_cut_short: boolean
}

/** The same inputs on two sets of versions; names and lists as the task has them. */
export interface AttributionRequest {
  readonly names: readonly string[]
  readonly old: AnalysisRequest
  readonly young: AnalysisRequest
  readonly inputs: Inputs
  readonly plugins?: readonly SidedResult[]
}

/** Where a search starts from, and the band it is for. */
export interface SearchStart {
  readonly inputs: Inputs
  /** Any other band than now when absent. */
  readonly band?: string | undefined
  /** What the plugins say for these inputs. */
  readonly plugins?: PluginResults | undefined
}

/** Callers are served in turn. All methods throw when the thread fails. */
export interface AnalysisRunner {
  analyse(order: AnalysisRequest, caller: string): Promise<Analysis>
  /** For a definition without binding faults; `truncated` when a limit was exceeded. */
  search(order: AnalysisRequest, start: SearchStart, caller: string): Promise<MinimalChanges>
  /** Names in `untried` what a limit prevented from being tried. */
  attribute(order: AttributionRequest, caller: string): Promise<AttributionResult>
  close(): Promise<void>
}
export type AttributionResult = Pick<Attribution<DecisionAttempt>, 'alone' | 'joint' | 'untried'>

/** Five million combinations, the maximum, take under a second; lists and decisions may add several. */
const TIME_LIMIT_MS = 15_000
const HEAP_LIMIT_MIB = 256
const MAX_WAITING = 50
/** The part of the time limit for the search, so that its results are still returned. */
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
    async search(order, { inputs, band, plugins }, caller) {
      try {
        return await run({ op: 'search', of: await serializeRequest(order), inputs, band, plugins, limit_ms }, caller)
      } catch (error) {
        assertLimitFailure(error)
        return NOT_SEARCHED
      }
    },
    async attribute({ names, old, young, inputs, plugins = [] }, caller) {
      try {
        const packed = { old: await serializeRequest(old), young: await serializeRequest(young) }
        return await run({ op: 'attribute', names, inputs, plugins, limit_ms, ...packed }, caller)
      } catch (error) {
        assertLimitFailure(error)
        return { alone: [], joint: [], untried: names }
      }
    },
    close: () => thread.close(),
  }
}

/** Returns the failure when a limit was exceeded; rethrows any other error. */
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
