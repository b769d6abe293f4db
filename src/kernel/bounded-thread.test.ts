/** What a bounded thread does with tasks that wait; limits and endings are tested with the types that run in one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { BoundedThread, failThreadUnavailable, type ThreadOptions } from './bounded-thread.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'bounded-thread-'))
const script = path.join(folder, 'echo.mjs')
let thread: BoundedThread<string, string>

beforeAll(() => {
  writeFileSync(
    script,
    `import { parentPort } from 'node:worker_threads'
     parentPort.on('message', (task) => {
       if (task === 'exit') process.exit(1)
       if (task === 'throw') throw new Error('broken')
       if (task === 'spin') for (;;);
       const [, pause_ms] = /^pause (\\d+)$/.exec(task) ?? []
       if (pause_ms) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(pause_ms))
       parentPort.postMessage(task + '!')
     })
     parentPort.postMessage('ready')`,
  )
})
afterEach(() => thread.close())
afterAll(() => rmSync(folder, { recursive: true }))

const start = (options: Partial<ThreadOptions> = {}): void => {
  thread = new BoundedThread({ name: 'echo', script, time_limit_ms: 60_000, heap_limit_mib: 64, ...options })
}

test('callers take turns, whatever the number of tasks of one of them', async () => {
  start()
  const order: string[] = []
  const ask = async (caller: string, task: string) => order.push(await thread.run(task, { caller }))
  await Promise.all([ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1'), ask('c', 'c1')])
  expect(order).toEqual(['a1!', 'a2!', 'b1!', 'c1!', 'a3!'])
})

test('limits waiting tasks per caller, and admits another caller', async () => {
  start({ max_waiting: 1 })
  const running = thread.run('1', { caller: 'a' })
  const waiting = thread.run('2', { caller: 'a' })
  await expect(thread.run('3', { caller: 'a' })).rejects.toMatchObject({ code: 'concurrency_limited' })
  expect(await Promise.all([running, waiting, thread.run('4', { caller: 'b' })])).toEqual(['1!', '2!', '4!'])
})

test('reports whether a task ended or broke the thread, and starts a new thread for the next one', async () => {
  start()
  await expect(thread.run('exit')).rejects.toMatchObject({ reason: 'stopped' })
  expect(await thread.run('1')).toBe('1!')
  await expect(thread.run('throw')).rejects.toMatchObject({ reason: 'crashed', message: 'broken' })
  expect(await thread.run('2')).toBe('2!')
})

test('counts CPU time against the limit, and calls a task starved that does not get the CPU', async () => {
  start({ time_limit_ms: 500, elapsed_limit_ms: 60_000 })
  expect(await thread.run('pause 700')).toBe('pause 700!')
  await expect(thread.run('spin')).rejects.toMatchObject({ reason: 'time', message: 'it took longer than 0.5 s' })
  await thread.close()
  start({ time_limit_ms: 600_000, elapsed_limit_ms: 50 })
  const starved = await thread.run('pause 600000').catch((error) => error)
  expect(starved).toMatchObject({ reason: 'starved' })
  expect(() => failThreadUnavailable(starved, 'Not now.')).toThrow(
    expect.objectContaining({ code: 'overloaded', cause: starved }),
  )
  expect(await thread.run('1')).toBe('1!')
})
