/** The inside of the bounded thread that goes through definitions: it keeps nothing, so it can be ended at any moment. */
import { parentPort } from 'node:worker_threads'
import type { Finding } from '../model.ts'
import { type AnalysisOrder, carryOut } from './analysis-order.ts'

export type Answer =
  | { readonly op: 'ready' }
  | { readonly op: 'analysed'; readonly findings: readonly Finding[] }
  | { readonly op: 'failed'; readonly message: string }

parentPort?.on('message', (order: AnalysisOrder) => {
  let answer: Answer
  try {
    answer = { op: 'analysed', findings: carryOut(order) }
  } catch (error) {
    answer = { op: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
  parentPort?.postMessage(answer)
})
parentPort?.postMessage({ op: 'ready' } satisfies Answer)
