/** Work that must not be waited for inside a transaction is done between two runs of it, while nothing of the first remains. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { mapWithPrecompute, NeedsPrecompute } from './precompute.ts'
import { fullScope } from './scope.ts'
import type { Scope, Tx } from './tx.ts'

let w: TestApp
let scope: Scope
beforeAll(async () => {
  w = await startTestApp()
  scope = fullScope(await w.tenant(), 'operator:test')
})
afterAll(() => w.close())

const rename = (tx: Tx, name: string) =>
  tx.run('update app.tenant set name = $2 where tenant_id = $1', [tx.tenant_id, name])
const nameOf = async (): Promise<string> =>
  (
    (await w.runtime.database.one(scope, (tx) =>
      tx.find<{ name: string }>('select name from app.tenant where tenant_id = $1', [tx.tenant_id]),
    )) as { name: string }
  ).name

test('a write is undone, the work done without a connection, and the write made once', async () => {
  const before = await nameOf()
  const seen: unknown[] = []
  let runs = 0
  const work = async () => seen.push(w.runtime.database.semaphore.inUse, await nameOf())
  const changed = await w.runtime.database.write(scope, async (tx) => {
    const count = await rename(tx, `run ${++runs}`)
    if (runs === 1) throw new NeedsPrecompute(work)
    return count
  })
  expect([changed, runs, seen, await nameOf()]).toEqual([1, 2, [0, before], 'run 2'])
})

test('a read is repeated alike', async () => {
  let done = false
  const answer = await w.runtime.database.read(scope, async () => {
    if (!done) {
      throw new NeedsPrecompute(async () => {
        done = true
      })
    }
    return 'seen'
  })
  expect(answer).toBe('seen')
})

test('work that fails ends the transaction with its error', async () => {
  const before = await nameOf()
  const failing = w.runtime.database.write(scope, async (tx) => {
    await rename(tx, 'never')
    throw new NeedsPrecompute(() => Promise.reject(new Error('no thread')))
  })
  await expect(failing).rejects.toThrow('no thread')
  expect(await nameOf()).toBe(before)
})

test('who always wants more is sent away in the end', async () => {
  let done = 0
  const endless = w.runtime.database.read(scope, () => {
    throw new NeedsPrecompute(async () => {
      done++
    })
  })
  await expect(endless).rejects.toMatchObject({ code: 'overloaded' })
  expect(done).toBe(7)
})

test('several that want work are asked to the last, and all of it is done at once', async () => {
  const done = new Set<number>()
  let runs = 0
  const answers = await w.runtime.database.read(scope, () => {
    runs++
    return mapWithPrecompute([1, 2, 3], async (item) => {
      if (done.has(item)) return item * 10
      throw new NeedsPrecompute(async () => done.add(item))
    })
  })
  expect([answers, runs]).toEqual([[10, 20, 30], 2])
  const failing = mapWithPrecompute([1], () => Promise.reject(new Error('other')))
  await expect(failing).rejects.toThrow('other')
})
