/** F14: a bit that was flipped in what is stored is noticed by whatever depends on it; the same in great number is `npm run stand:corruption`. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Corruption, corruption } from '../support/corruption.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { randomFrom } from '../support/random.ts'
import { type World, world } from '../support/world.ts'

const FLIPS = 25
const targets = ['upload', 'answer', 'signing key', 'audit record', 'checkpoint', 'cursor']
let w: World
let stored: Corruption
beforeAll(async () => {
  w = await world()
  stored = await corruption(w.clone.postgres, await ExampleTenant.create(w))
})
afterAll(async () => {
  await stored.end()
  await w.close()
})

test('nothing is missed, and nothing is accused that is sound', async () => {
  expect(stored.names).toEqual(targets)
  expect(await stored.unsound()).toEqual([])
})

test.for(targets)('%s: every flipped bit is noticed', async (name) => {
  const random = randomFrom(20_261_115)
  const unnoticed: string[] = []
  for (let i = 0; i < FLIPS; i++) {
    const { noticed, place } = await stored.flip(name, random)
    if (!noticed) unnoticed.push(place)
  }
  expect(unnoticed).toEqual([])
  expect(await stored.unsound()).toEqual([])
})
