import { describe, expect, test } from 'vitest'
import { Problem } from '../problem.ts'
import { deadlineWithJitter, JobWatch, waitForChange } from './long-poll.ts'
import type { JobRow } from './queries.ts'

const at = (revision: number, state: JobRow['state'] = 'running') => ({ state, revision }) as JobRow
const soon = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Gives what comes next each time, the last for ever, and counts. */
function looking(...seen: (JobRow | Problem)[]) {
  const looks = { count: 0 }
  const look = async () => {
    const next = seen[Math.min(looks.count++, seen.length - 1)] as JobRow | Problem
    await soon(5)
    if (next instanceof Problem) throw next
    return next
  }
  return { looks, look }
}

describe('shared reads', () => {
  test('concurrent reads by equal readers, and those soon after, query once', async () => {
    const watch = new JobWatch()
    const { looks, look } = looking(at(1), at(2))
    const seen = await Promise.all(Array.from({ length: 20 }, () => watch.read('a job', 'an analyst', look)))
    const later = await watch.read('a job', 'an analyst', look)
    expect([...seen, later].map(({ revision }) => revision)).toEqual(Array(21).fill(1))
    expect(looks.count).toBe(1)
  })

  test('another job, and another reader, is read separately', async () => {
    const watch = new JobWatch()
    const { looks, look } = looking(at(1))
    await Promise.all([
      watch.read('a job', 'an analyst', look),
      watch.read('another', 'an analyst', look),
      watch.read('a job', 'an auditor', look),
    ])
    expect(looks.count).toBe(3)
  })

  test('a read expires, and one that failed is not reused', async () => {
    const watch = new JobWatch()
    const { looks, look } = looking(new Problem('overloaded'), at(1), at(2))
    await expect(watch.read('a job', 'an analyst', look)).rejects.toThrow(Problem)
    expect((await watch.read('a job', 'an analyst', look)).revision).toBe(1)
    await expect.poll(async () => (await watch.read('a job', 'an analyst', look)).revision).toBe(2)
    expect(looks.count).toBe(3)
  })
})

describe('the end of a job in this process', () => {
  const NEVER_MS = 2 ** 30

  test('ends every pause for it, and none for another', async () => {
    const watch = new JobWatch()
    const ended: string[] = []
    const pauses = ['one', 'two'].map((name) => watch.pause('a job', NEVER_MS).then(() => ended.push(name)))
    const other = watch.pause('another', 20).then(() => ended.push('other'))
    watch.end('a job')
    await Promise.all(pauses)
    expect(ended).toEqual(['one', 'two'])
    await other
    watch.end('a job')
  })

  test('repeats a read that began before it', async () => {
    const watch = new JobWatch()
    const { looks, look } = looking(at(1), at(2, 'succeeded'))
    const before = watch.read('a job', 'an analyst', look)
    watch.end('a job')
    expect(await before).toEqual(at(2, 'succeeded'))
    expect(await watch.read('a job', 'an analyst', look)).toEqual(at(2, 'succeeded'))
    expect(looks.count).toBe(2)
  })

  test('lets nobody reuse a read that ended before it', async () => {
    const watch = new JobWatch()
    const { look } = looking(at(1), at(2, 'succeeded'))
    expect(await watch.read('a job', 'an analyst', look)).toEqual(at(1))
    watch.end('a job')
    expect(await watch.read('a job', 'an analyst', look)).toEqual(at(2, 'succeeded'))
  })

  test('ends a wait', async () => {
    const watch = new JobWatch()
    const { look } = looking(at(2, 'succeeded'))
    const pause = () => watch.pause('a job', NEVER_MS)
    const waiting = waitForChange({ read: look, pause }, at(1), performance.now() + NEVER_MS, AbortSignal.any([]))
    await soon(1)
    watch.end('a job')
    expect(await waiting).toEqual(at(2, 'succeeded'))
  })
})

test('equal waits end at different times, none late and none much too early', () => {
  const before = performance.now()
  const waits = Array.from({ length: 1000 }, () => deadlineWithJitter(8000))
  const after = performance.now()
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(before + 7000)
  expect(Math.max(...waits)).toBeLessThanOrEqual(after + 8000)
  const inTenths = new Set(waits.map((until) => Math.floor((until - before) / 100)))
  expect(inTenths.size).toBeGreaterThanOrEqual(10)
})

describe('waiting for a change', () => {
  const withPauses = (read: () => Promise<JobRow>) => ({ read, pause: soon })
  const { signal } = new AbortController()
  const inASecond = () => performance.now() + 1000

  test('ends with a newer revision, and ignores older cached reads', async () => {
    const { looks, look } = looking(at(2), at(3), at(4))
    expect((await waitForChange(withPauses(look), at(3), inASecond(), signal)).revision).toBe(4)
    expect(looks.count).toBe(3)
  })

  test('continues while no connection is free, and fails with any other problem', async () => {
    const patient = looking(new Problem('overloaded'), at(4))
    expect((await waitForChange(withPauses(patient.look), at(3), inASecond(), signal)).revision).toBe(4)
    const gone = looking(new Problem('not_found'))
    await expect(waitForChange(withPauses(gone.look), at(3), inASecond(), signal)).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test('does not read when there is nothing to wait for', async () => {
    const { looks, look } = looking(at(9))
    expect((await waitForChange(withPauses(look), at(3, 'succeeded'), inASecond(), signal)).revision).toBe(3)
    expect((await waitForChange(withPauses(look), at(3), performance.now(), signal)).revision).toBe(3)
    expect((await waitForChange(withPauses(look), at(3), inASecond(), AbortSignal.abort())).revision).toBe(3)
    expect(looks.count).toBe(0)
  })
})
