/**
 * The fixtures of every module, read from src/modules/<name>/fixtures.ts: how a tenant calls each operation so that it
 * succeeds. A route without an entry, or an entry without a route, fails test/isolation/endpoints.test.ts.
 */
import { modules } from '#app/modules.ts'
import type { Fixture, Fixtures } from './operation-fixture.ts'

async function readFixtures(module: string): Promise<Fixtures> {
  const loaded = (await import(`../../src/modules/${module}/fixtures.ts`)) as { readonly fixtures: Fixtures }
  return loaded.fixtures
}

async function readAllFixtures(): Promise<Fixtures> {
  const all = new Map<string, Fixture>()
  for (const { name } of modules.filter(({ routes }) => routes.length > 0)) {
    for (const [id, fixture] of Object.entries(await readFixtures(name))) {
      if (all.has(id)) throw new Error(`${name}: another module has a fixture for ${id}`)
      all.set(id, fixture)
    }
  }
  return Object.fromEntries(all)
}

export const fixtures: Fixtures = await readAllFixtures()
