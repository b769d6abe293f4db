/**
 * The fixtures of every module, read from src/modules/<name>/fixtures.ts: how a tenant calls each operation so that it
 * succeeds, and whose events hold a text. A route without an entry, or an entry without a route, fails test/isolation/endpoints.test.ts.
 */
import { modules } from '#app/modules.ts'
import type { Fixture, Fixtures, TextsInEvents } from './operation-fixture.ts'

interface ModuleFixtures {
  readonly fixtures: Fixtures
  readonly textsInEvents?: TextsInEvents
}

const readFixtures = (module: string): Promise<ModuleFixtures> => import(`../../src/modules/${module}/fixtures.ts`)

async function readAllFixtures() {
  const all = new Map<string, Fixture>()
  const texts = new Set<string>()
  for (const { name } of modules.filter(({ routes }) => routes.length > 0)) {
    const { fixtures, textsInEvents = [] } = await readFixtures(name)
    for (const [id, fixture] of Object.entries(fixtures)) {
      if (all.has(id)) throw new Error(`${name}: another module has a fixture for ${id}`)
      all.set(id, fixture)
    }
    for (const id of textsInEvents) {
      if (!(id in fixtures)) throw new Error(`${name}: textsInEvents names ${id}, which has no fixture there`)
      texts.add(id)
    }
  }
  return { fixtures: Object.fromEntries(all), textsInEvents: texts as ReadonlySet<string> }
}

export const { fixtures, textsInEvents }: { fixtures: Fixtures; textsInEvents: ReadonlySet<string> } =
  await readAllFixtures()
