/** Replay computes a decision from what the database holds: values in the caches of the process do not reach it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BoundDefinition } from '#decision/model.ts'
import type { CacheSlots } from '#kernel/cache/caches.ts'
import {
  type Bindable,
  boundDefinitions,
  compiledDefinitions,
  getBindingKey,
  restoreResolution,
} from '#modules/risk-matrices/binding/bind-definition.ts'
import { newPolicy } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { readEvaluation } from './records/read-record.ts'

let w: TestApp
let t: ExampleTenant
let matrix_key: string
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
  ;({ matrix_key } = await newPolicy(t))
})
afterAll(() => w.close())

const evaluate = () => t.make('POST /evaluations', { body: { matrix_key, inputs: { country: 'IR', pep: true } } })
const replay = (evaluation_id: string) => t.make(`POST /evaluations/${evaluation_id}/replay`)

const getResolution = (evaluation_id: string): Promise<Bindable & { engine: number; definition: object }> =>
  t.write(async (tx) => {
    const { manifest, row } = await readEvaluation(w.kernel, tx, evaluation_id)
    return restoreResolution(w.kernel, tx, manifest, { engine: row.engine, plugins: 'pinned' })
  })

test('ignores a wrong value in the cache of bound definitions, which a new evaluation uses', async () => {
  const made = await evaluate()
  const key = getBindingKey(await getResolution(made.evaluation_id), t.tenant_id)
  const cache = w.kernel.caches.get(boundDefinitions)
  const stored = cache.get(key) as { bound: BoundDefinition; lists: never }
  const poisoned: BoundDefinition = {
    ...stored.bound,
    decide: (inputs) => stored.bound.decide({ ...inputs, country: 'CH' }),
  }
  cache.set(key, { ...stored, bound: poisoned })
  const wrong = await evaluate()
  expect(wrong.score_bps).not.toBe(made.score_bps)
  expect(await replay(made.evaluation_id)).toMatchObject({ verdict: 'identical' })
  expect(await replay(wrong.evaluation_id)).toMatchObject({ verdict: 'different' })
  cache.delete(key)
  expect((await evaluate()).score_bps).toBe(made.score_bps)
})

test('looks up no cache of lists, definitions or bindings', async () => {
  const { evaluation_id } = await evaluate()
  const getCounts = () =>
    (w.kernel.caches as CacheSlots)
      .listStatistics()
      .filter(({ name }) => !['verified_tokens', 'tenant_statuses', 'tenant_keys'].includes(name))
      .map(({ name, hits, misses, entries }) => ({ name, hits, misses, entries }))
  const before = getCounts()
  expect(before.map(({ name }) => name)).toEqual(
    expect.arrayContaining([boundDefinitions.name, compiledDefinitions.name, 'list_contents', 'definition_pointers']),
  )
  expect(await replay(evaluation_id)).toMatchObject({ verdict: 'identical' })
  expect(getCounts()).toEqual(before)
  await evaluate()
  expect(getCounts()).not.toEqual(before)
})
