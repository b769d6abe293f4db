/** Writing an overlay: few calls to the database, changes entry by entry, and a reply equal to a later read. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { type FaultyProcess, startFaultyProcess } from '#test/support/faulty-database.ts'
import { type Rating, SharedList } from '#test/support/shared-list.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
let watched: FaultyProcess
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
  watched = await startFaultyProcess(w)
})
afterAll(async () => {
  await watched.close()
  await w.close()
})

const base: Rating[] = [
  { country: 'DE', rating: 'low', score: 10 },
  { country: 'FR', rating: 'medium', score: 50, note: 'reviewed' },
  { country: 'NG', rating: 'high' },
]
const path = ({ list_key }: SharedList) => `/reference-data/datasets/${list_key}/overlay`
const stricter = { key: 'DE', op: 'merge', value: { rating: 'high' } }
const noted = { key: 'FR', op: 'merge', value: { score: 60, note: 'ours' } }
const added = { key: 'IT', op: 'put', value: { rating: 'low', country: 'IT' } }
const removed = { key: 'NG', op: 'remove' }

test('the reply equals a later read, whatever the order of the entries', async () => {
  const list = await SharedList.create(w, 'free', base)
  const put = (...entries: object[]) => t.make(`PUT ${path(list)}`, { body: { entries, reason: 'house view' } })
  const same = { key: 'FR', op: 'merge', value: { score: 50 } }
  for (const entries of [[removed, added, noted, stricter], [same], [added, stricter]]) {
    const answer = await put(...entries)
    expect(JSON.stringify(answer)).toBe(JSON.stringify(await t.make(`GET ${path(list)}`)))
    expect(answer.overlay.entries).toHaveLength(entries.length)
  }
})

test('a version reports what it adds, changes and removes, and keeps the rest', async () => {
  const list = await SharedList.create(w, 'free', base)
  const put = (...entries: object[]) => t.make(`PUT ${path(list)}`, { body: { entries, reason: 'house view' } })
  await put(stricter, noted, added)
  await put(stricter, { ...noted, value: { score: 70 } }, removed)
  const { rows, versions } = await t.write(async (tx) => ({
    rows: await tx.query(
      `select key, v_from, v_to < 1000 as closed from app.dataset_entry join app.dataset using (tenant_id, dataset_id)
        where tenant_id = $1 and list_key = $2 order by key, v_from`,
      [tx.tenant_id, list.list_key],
    ),
    versions: await tx.query(
      `select difference from app.dataset_version join app.dataset using (tenant_id, dataset_id)
        where tenant_id = $1 and list_key = $2 order by version`,
      [tx.tenant_id, list.list_key],
    ),
  }))
  expect(rows).toEqual([
    { key: 'DE', v_from: 1, closed: false },
    { key: 'FR', v_from: 1, closed: true },
    { key: 'FR', v_from: 2, closed: false },
    { key: 'IT', v_from: 1, closed: true },
    { key: 'NG', v_from: 2, closed: false },
  ])
  expect(versions).toEqual([
    { difference: { added: 3, changed: 0, removed: 0 } },
    { difference: { added: 1, changed: 1, removed: 1 } },
  ])
})

test('takes at most 18 calls to the database for a list without readers', async () => {
  const list = await SharedList.create(w, 'free', base)
  const token = await t.token()
  const calls: number[] = []
  // Background statements of the process may come in between, so the minimum of several runs counts.
  for (const entries of [[stricter], [noted], [added], [stricter, noted]]) {
    watched.plan.arm(undefined, 0, true)
    const { status } = await watched.call(`PUT ${path(list)}`, { token, body: { entries, reason: 'house view' } })
    watched.plan.disarm()
    expect(status).toBe(200)
    calls.push(watched.plan.callCount)
  }
  expect(Math.min(...calls)).toBeLessThanOrEqual(18)
})
