/** For tests: the scripts of worker threads, with the one that proves definitions held back, or ended, as a test says. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { threadsDir } from './threads.ts'

/** `full`: ends as a thread does whose memory is at its limit, which to fill would take its time. */
export type WorkerCommand = 'go' | 'wait' | 'die' | 'full'

/** `worker`: the built analysis-worker, where it is not the usual one. */
export function createControlledAnalysis(worker = path.join(threadsDir, 'analysis-worker.mjs')) {
  const scripts_dir = fs.mkdtempSync(path.join(os.tmpdir(), 'held-analysis-'))
  const at = (name: string): string => path.join(scripts_dir, name)
  for (const name of ['type-worker.mjs', 'import-thread.mjs']) fs.symlinkSync(path.join(threadsDir, name), at(name))
  fs.writeFileSync(
    at('analysis-worker.mjs'),
    `import fs from 'node:fs'
     import { parentPort } from 'node:worker_threads'
     const order = () => fs.readFileSync(${JSON.stringify(at('order'))}, 'utf8')
     const cell = new Int32Array(new SharedArrayBuffer(4))
     const on = parentPort.on.bind(parentPort)
     parentPort.on = (event, listener) => on(event, (message) => {
       fs.appendFileSync(${JSON.stringify(at('begun'))}, '.')
       while (order() === 'wait') Atomics.wait(cell, 0, 0, 5)
       if (order() === 'die') process.exit(1)
       if (order() === 'full') throw Object.assign(new Error('full'), { code: 'ERR_WORKER_OUT_OF_MEMORY' })
       listener(message)
     })
     await import(${JSON.stringify(worker)})`,
  )
  const order = (word: WorkerCommand): void => {
    fs.writeFileSync(at('order.new'), word)
    fs.renameSync(at('order.new'), at('order'))
  }
  order('go')
  fs.writeFileSync(at('begun'), '')
  return {
    scripts_dir,
    order,
    /** How many analyses have begun in the thread. */
    begun: (): number => fs.statSync(at('begun')).size,
    remove: (): void => fs.rmSync(scripts_dir, { recursive: true }),
  }
}
