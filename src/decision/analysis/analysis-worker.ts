/** Entry point of the analysis thread. It keeps no state, so it can be terminated at any moment. */
import { parentPort } from 'node:worker_threads'
import { type AnalysisTask, runTask, type TaskResults } from './analysis-task.ts'

export type AnalysisWorkerReply =
  | { readonly op: 'ready' }
  | { readonly op: 'found'; readonly found: TaskResults[AnalysisTask['op']] }
  | { readonly op: 'failed'; readonly message: string }

parentPort?.on('message', (task: AnalysisTask) => {
  let answer: AnalysisWorkerReply
  try {
    answer = { op: 'found', found: runTask(task) }
  } catch (error) {
    answer = { op: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
  parentPort?.postMessage(answer)
})
parentPort?.postMessage({ op: 'ready' } satisfies AnalysisWorkerReply)
