/** The inside of the bounded thread that goes through definitions: it keeps nothing, so it can be ended at any moment. */
import { parentPort } from 'node:worker_threads'
import { carryOut, type Findings, type Task } from './analysis-task.ts'

export type Answer =
  | { readonly op: 'ready' }
  | { readonly op: 'found'; readonly found: Findings[Task['op']] }
  | { readonly op: 'failed'; readonly message: string }

parentPort?.on('message', (task: Task) => {
  let answer: Answer
  try {
    answer = { op: 'found', found: carryOut(task) }
  } catch (error) {
    answer = { op: 'failed', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
  parentPort?.postMessage(answer)
})
parentPort?.postMessage({ op: 'ready' } satisfies Answer)
