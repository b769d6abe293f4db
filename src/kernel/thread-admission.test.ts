/** Who may run heavy work when, and who is refused. No thread is started: slots are counted. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type AdmissionRequest, ThreadAdmission, type ThreadSlot, type WorkKind } from './thread-admission.ts'

const kind = (name: string, max_running: number, max_waiting = 10): WorkKind => ({
  name,
  max_running: () => max_running,
  max_waiting,
})
const any = kind('any', 100)
const single = kind('single', 1)

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Which of the requests have been admitted so far, in their order. */
function admitted(admission: ThreadAdmission) {
  const order: string[] = []
  const slots = new Map<string, ThreadSlot>()
  const ask = (name: string, request: Partial<AdmissionRequest> = {}) =>
    admission.acquire({ kind: any, caller: name.charAt(0), ...request }).then((slot) => {
      order.push(name)
      slots.set(name, slot)
    })
  const end = async (name: string) => {
    slots.get(name)?.release()
    await vi.advanceTimersByTimeAsync(0)
  }
  return { order, ask, end }
}

test('runs the configured number of threads, and half of them for one caller', async () => {
  const { order, ask, end } = admitted(new ThreadAdmission({ threads: 4 }))
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void ask(name)
  await vi.advanceTimersByTimeAsync(0)
  expect(order).toEqual(['a1', 'a2', 'b1', 'b2'])
  await end('a1')
  expect(order).toEqual(['a1', 'a2', 'b1', 'b2', 'a3'])
  await end('b1')
  expect(order.at(-1)).toBe('c1')
})

test('a process with one thread runs one task at a time, callers in turn', async () => {
  const { order, ask, end } = admitted(new ThreadAdmission({ threads: 1 }))
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) void ask(name)
  await vi.advanceTimersByTimeAsync(0)
  for (const name of ['a1', 'a2', 'b1', 'c1']) await end(name)
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3'])
})

test('a kind has its own limit, and work waiting for it does not block others', async () => {
  const admission = new ThreadAdmission({ threads: 4 })
  const { order, ask, end } = admitted(admission)
  void ask('a1', { kind: single })
  void ask('a2', { kind: single })
  void ask('b1', { kind: single })
  void ask('a3')
  await vi.advanceTimersByTimeAsync(0)
  expect(order).toEqual(['a1', 'a3'])
  expect([admission.running, admission.waiting, admission.count(single, 'a')]).toEqual([2, 2, 2])
  await end('a1')
  expect(order).toEqual(['a1', 'a3', 'a2'])
})

test('refuses with 429 when a caller has too much waiting, and with 503 when the process has, each with Retry-After', async () => {
  const admission = new ThreadAdmission({ threads: 1, max_waiting: 3 })
  const { ask } = admitted(admission)
  const few = kind('few', 1, 2)
  void ask('a1', { kind: few })
  void ask('a2', { kind: few })
  void ask('a3', { kind: few })
  const refusal = { extra: { retry_after_s: expect.any(Number) } }
  await expect(ask('a4', { kind: few })).rejects.toMatchObject({ code: 'concurrency_limited', ...refusal })
  void ask('b1')
  await expect(ask('c1')).rejects.toMatchObject({ code: 'overloaded', ...refusal })
  expect(admission.waiting).toBe(3)
})

test('limits the waiting time, except for jobs', async () => {
  const admission = new ThreadAdmission({ threads: 1, wait_ms: 1000 })
  const { order, ask, end } = admitted(admission)
  void ask('a1')
  const client = ask('b1')
  const refused = expect(client).rejects.toMatchObject({ code: 'overloaded' })
  void ask('c1', { is_job: true })
  await vi.advanceTimersByTimeAsync(1000)
  await refused
  expect(admission.waiting).toBe(1)
  await end('a1')
  expect(order).toEqual(['a1', 'c1'])
})

test('an aborted wait leaves nothing behind', async () => {
  const admission = new ThreadAdmission({ threads: 1 })
  const { ask, end } = admitted(admission)
  void ask('a1')
  const gone = new AbortController()
  const waiting = ask('b1', { signal: gone.signal })
  const rejected = expect(waiting).rejects.toBe('gone')
  gone.abort('gone')
  await rejected
  await expect(ask('b2', { signal: gone.signal })).rejects.toBe('gone')
  await end('a1')
  expect([admission.running, admission.waiting]).toEqual([0, 0])
})

test('notifies exactly the holders whose slot a waiting request could use', async () => {
  const admission = new ThreadAdmission({ threads: 2 })
  const { ask, end } = admitted(admission)
  const contended: string[] = []
  const telling = (name: string, of: WorkKind) =>
    ask(name, { kind: of, is_job: true, onContended: () => contended.push(name) })
  await telling('a1', any)
  await telling('b1', single)
  const waiting = ask('c1', { kind: single })
  expect(contended).toEqual(['b1'])
  await end('b1')
  await waiting
  expect(contended).toEqual(['b1'])
  void ask('d1', { kind: single })
  await end('a1')
  // Admitted while somebody waits whom its slot would not help.
  await telling('e1', any)
  expect(contended).toEqual(['b1'])
})

test('runs at least one thread, and releases a slot once', async () => {
  const admission = new ThreadAdmission({ threads: 0 })
  const none = kind('none', 0)
  const slot = await admission.acquire({ kind: none, caller: 'a' })
  slot.release()
  slot.release()
  expect(admission.running).toBe(0)
  expect((await admission.acquire({ kind: none, caller: 'a' })) !== undefined).toBe(true)
})
