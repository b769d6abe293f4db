import { describe, expect, test } from 'vitest'
import { Problem } from '../problem.ts'
import { CoalescedReads, deadlineWithJitter, waitForChange } from './long-poll.ts'
import type { JobRow } from './queries.ts'

const at = (revision: number, state: JobRow['state'] = 'running') => ({ state, revision }) as JobRow
const soon = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

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

describe('coalesced reads', () => {
  test('concurrent reads of one key, and those soon after, query once', async () => {
    const shared = new CoalescedReads()
    const { looks, look } = looking(at(1), at(2))
    const seen = await Promise.all(Array.from({ length: 20 }, () => shared.read('a job', look)))
    expect([...seen, await shared.read('a job', look)].map(({ revision }) => revision)).toEqual(Array(21).fill(1))
    expect(looks.count).toBe(1)
  })

  test('another key is read separately', async () => {
    const shared = new CoalescedReads()
    const { looks, look } = looking(at(1))
    await Promise.all([shared.read('a job', look), shared.read('another', look)])
    expect(looks.count).toBe(2)
  })

  test('an entry expires, and a failed read is not reused', async () => {
    const shared = new CoalescedReads()
    const { looks, look } = looking(new Problem('overloaded'), at(1), at(2))
    await expect(shared.read('a job', look)).rejects.toThrow(Problem)
    expect((await shared.read('a job', look)).revision).toBe(1)
    await expect.poll(async () => (await shared.read('a job', look)).revision).toBe(2)
    expect(looks.count).toBe(3)
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
  const { signal } = new AbortController()
  const inASecond = () => performance.now() + 1000

  test('ends with a newer revision, and ignores older cached reads', async () => {
    const { looks, look } = looking(at(2), at(3), at(4))
    expect((await waitForChange(look, at(3), inASecond(), signal)).revision).toBe(4)
    expect(looks.count).toBe(3)
  })

  test('continues while no connection is free, and fails with any other problem', async () => {
    const patient = looking(new Problem('overloaded'), at(4))
    expect((await waitForChange(patient.look, at(3), inASecond(), signal)).revision).toBe(4)
    const gone = looking(new Problem('not_found'))
    await expect(waitForChange(gone.look, at(3), inASecond(), signal)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('does not read when there is nothing to wait for', async () => {
    const { looks, look } = looking(at(9))
    expect((await waitForChange(look, at(3, 'succeeded'), inASecond(), signal)).revision).toBe(3)
    expect((await waitForChange(look, at(3), performance.now(), signal)).revision).toBe(3)
    expect((await waitForChange(look, at(3), inASecond(), AbortSignal.abort())).revision).toBe(3)
    expect(looks.count).toBe(0)
  })
})
