/**
 * Goes through definitions in a bounded thread, so that nobody else's request waits for it. What meets a limit of time or
 * memory is said to be unprovable, like what has too many combinations; a thread that fails is never taken for an answer.
 */
import { BoundedThread, ThreadFailure } from '../../kernel/bounded-thread.ts'
import type { Finding } from '../model.ts'
import type { AnalysisOrder } from './analysis-order.ts'
import type { Answer } from './analysis-worker.ts'

export interface AnalystOptions {
  /** The built analysis-worker. */
  readonly script: URL | string
  readonly time_limit_ms?: number
  readonly heap_limit_mib?: number
}

export interface Analysis {
  readonly findings: readonly Finding[]
  /** A limit was met, as it might not be at another time. */
  readonly is_cut_short: boolean
}

export interface Analyst {
  /** `caller` is who asks: callers take turns. Throws when the thread fails. */
  analyse(order: AnalysisOrder, caller: string): Promise<Analysis>
  close(): Promise<void>
}

/** Five million combinations, the most that is gone through, take under a second; lists and decisions may add several. */
const TIME_LIMIT_MS = 15_000
const HEAP_LIMIT_MIB = 256
const MAX_WAITING = 50

export function createAnalyst({ script, time_limit_ms, heap_limit_mib }: AnalystOptions): Analyst {
  const thread = new BoundedThread<AnalysisOrder, Answer>({
    name: 'analysis worker',
    script,
    time_limit_ms: time_limit_ms ?? TIME_LIMIT_MS,
    heap_limit_mib: heap_limit_mib ?? HEAP_LIMIT_MIB,
    max_waiting: MAX_WAITING,
  })
  return {
    async analyse(order, caller) {
      try {
        const answer = await thread.run(order, { caller })
        if (answer.op === 'analysed') return { findings: answer.findings, is_cut_short: false }
        throw new Error(answer.op === 'failed' ? answer.message : `The analysis worker answered ${answer.op}`)
      } catch (error) {
        if (!(error instanceof ThreadFailure) || !(error.reason === 'time' || error.reason === 'memory')) throw error
        return { findings: [cutShort(error.message)], is_cut_short: true }
      }
    },
    close: () => thread.close(),
  }
}

const cutShort = (why: string): Finding => ({
  code: 'not_analysable',
  pointer: '',
  message: `This cannot be proved complete: ${why}. Test fewer inputs together, or smaller lists.`,
  severity: 'error',
})
