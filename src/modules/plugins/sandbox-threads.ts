/**
 * The two threads that plugins run in: decisions wait for factors, so adapters and provider code, which may take longer, have a
 * thread of their own.
 */
import { declareThread } from '#kernel/worker-threads.ts'
import type { EntryPoint } from '#sandbox/model.ts'
import { SandboxRunner } from '#sandbox/sandbox-runner.ts'

const MAX_WAITING = 64

const declareSandbox = () =>
  declareThread({
    script: 'sandbox',
    create: ({ script, admission }) => new SandboxRunner({ script, admission, max_waiting: MAX_WAITING }),
  })

const factorThread = declareSandbox()
export const otherThread = declareSandbox()

export const getSandboxThread = (entry_point: EntryPoint) => (entry_point === 'factor' ? factorThread : otherThread)
