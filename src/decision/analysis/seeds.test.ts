/** The seeded matrices and rules are complete for the seeded lists and decide every allowed input. */
import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { parsePointer, valueAt } from '#registry/content/json-pointer.ts'
import { buildList, buildLists } from '#test/support/bound-lists.ts'
import { bindOrThrow } from '#test/support/example-matrix.ts'
import { engine1 } from '../engine-1/engine.ts'
import { joinKeyParts } from '../engine-1/entry-key.ts'
import type { Definition, Inputs } from '../model.ts'
import { analyseDefinition } from './analyse.ts'
import { findBreakPoints } from './break-points.ts'

const seeds = path.resolve(import.meta.dirname, '../../../db/seed')
type Entry = Record<string, unknown>
const read = <T>(...at: string[]): T => JSON.parse(fs.readFileSync(path.join(seeds, ...at), 'utf8')) as T
const filesIn = (folder: string): string[] =>
  fs.readdirSync(path.join(seeds, folder)).filter((file) => file.endsWith('.json'))

interface SeedList {
  readonly list_key: string
  readonly type_key: string
  readonly versions: readonly { readonly entries: readonly Entry[] }[]
}
const lists = buildLists(
  ...filesIn('lists').map((file) => {
    const { list_key, type_key, versions } = read<SeedList>('lists', file)
    const { key_pointers } = read<{ key_pointers: readonly string[] }>('types', `${type_key}.json`)
    const keyOf = (entry: Entry) =>
      joinKeyParts(key_pointers.map((pointer) => String(valueAt(entry, parsePointer(pointer)))))
    return buildList(
      list_key,
      Object.fromEntries((versions.at(-1)?.entries ?? []).map((entry) => [keyOf(entry), entry])),
    )
  }),
)

interface SeedDefinition {
  readonly versions: readonly { readonly definition: object }[]
}
const definitions = (['matrix', 'rule'] as const).flatMap((family) => {
  const folder = family === 'matrix' ? 'matrices' : 'rules'
  return filesIn(folder).map((file): [string, Definition] => {
    const { definition } = read<SeedDefinition>(folder, file).versions.at(-1) as { definition: object }
    return [file, { family, ...definition } as Definition]
  })
})

test('finds seeded definitions', () => {
  expect(definitions.length).toBeGreaterThan(3)
})

test.each(definitions)('%s has no finding and decides at all its break points', (_file, definition) => {
  const compiled = engine1.compile(definition)
  expect(analyseDefinition(compiled, lists)).toEqual([])
  const decider = bindOrThrow(definition, lists)
  const values = definition.inputs.map(({ name }) => findBreakPoints(compiled, lists, name))
  // Every value of every input, each time with other values of the other inputs.
  const rounds = Math.max(...values.map(({ length }) => length))
  for (let round = 0; round < rounds * 3; round++) {
    const inputs: Inputs = Object.fromEntries(
      definition.inputs.map(({ name }, n) => [name, values[n]?.[(round * (n + 1) + n) % values[n].length]]),
    )
    const decision = decider.decide(inputs)
    if (!decision.ok) expect({ inputs, findings: decision.findings }).toBeNull()
  }
})
