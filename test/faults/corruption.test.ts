/** F14: a bit that was flipped in what is stored is noticed by whatever depends on it; the same in great number is `npm run acceptance -- corruption`. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Corruption, createCorruption } from '../support/corruption.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { createRandom } from '../support/random.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const FLIPS = 25
const targets = ['upload', 'answer', 'signing key', 'audit record', 'checkpoint', 'cursor']
let w: TestApp
let stored: Corruption
beforeAll(async () => {
  w = await startTestApp()
  stored = await createCorruption(w.clone.postgres, await ExampleTenant.create(w))
})
afterAll(async () => {
  await stored.end()
  await w.close()
})

test('detects every flipped bit and reports no fault where nothing was flipped', async () => {
  expect(stored.names).toEqual(targets)
  expect(await stored.unsound()).toEqual([])
})

test.for(targets)('%s: every flipped bit is noticed', async (name) => {
  const random = createRandom(20_261_115)
  const unnoticed: string[] = []
  for (let i = 0; i < FLIPS; i++) {
    const { noticed: isDetected, place } = await stored.flip(name, random)
    if (!isDetected) unnoticed.push(place)
  }
  expect(unnoticed).toEqual([])
  expect(await stored.unsound()).toEqual([])
})
