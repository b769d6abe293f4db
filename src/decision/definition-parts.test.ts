/** Definitions are split into parts and rebuilt unchanged, also through the registry. */
import fs from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileType } from '#registry/types/compile-type.ts'
import { DefinitionGenerator } from '#test/support/definition-generator.ts'
import { matrix } from '#test/support/example-matrix.ts'
import { rule } from '#test/support/example-rule.ts'
import { fromPartEntries, toPartEntries } from './definition-parts.ts'
import type { Definition } from './model.ts'

fc.configureGlobal({ seed: 1040 })

const typeOf = (name: string) => {
  const file = path.resolve(import.meta.dirname, `../../db/seed/types/${name}.json`)
  return compileType({ ...JSON.parse(fs.readFileSync(file, 'utf8')), type_version: 1 })
}
const types = { matrix: typeOf('risk-matrix-part'), rule: typeOf('rule-part') }

/** Stored and read again, in the order of the keys. */
function stored(definition: Definition) {
  const rows = toPartEntries(definition).map((entry) => {
    const prepared = types[definition.family].prepare(entry)
    if (!('key' in prepared)) throw new Error(JSON.stringify(prepared))
    return prepared
  })
  expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
  return rows.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ text }) => JSON.parse(text) as Record<string, unknown>)
}

test('creates one entry for each part with its name and position', () => {
  const keys = toPartEntries(matrix).map(({ part, name, position }) => `${part} ${name} ${position}`)
  expect(keys.slice(0, 3)).toEqual(['settings matrix 0', 'input country 0', 'input turnover 1'])
  expect(keys.slice(-3)).toEqual(['factor channel 3', 'trigger pep 0', 'trigger sanctioned-country 1'])
  expect(toPartEntries(rule).map(({ part }) => part)).toEqual(['settings', 'input', 'input', 'input', 'table'])
})

test('rebuilds the same definition', () => {
  for (const definition of [matrix, rule]) {
    expect(fromPartEntries(definition.family, toPartEntries(definition).reverse())).toEqual(definition)
    expect(fromPartEntries(definition.family, stored(definition))).toEqual(definition)
  }
  fc.assert(
    fc.property(fc.gen(), (g) => {
      const maker = new DefinitionGenerator(g)
      for (const definition of [maker.matrix().definition, maker.rule()]) {
        expect(fromPartEntries(definition.family, stored(definition))).toEqual(definition)
      }
    }),
    { numRuns: 100 },
  )
})

test('changes one entry when one factor changes', () => {
  const [first, ...others] = matrix.factors
  const changed = { ...matrix, factors: [{ ...first, title: 'Land' }, ...others] } as Definition
  const before = toPartEntries(matrix).map((entry) => JSON.stringify(entry))
  const differing = toPartEntries(changed).filter((entry) => !before.includes(JSON.stringify(entry)))
  expect(differing.map(({ part, name }) => `${part} ${name}`)).toEqual(['factor country'])
})

test('refuses entries that are not a definition', () => {
  expect(() => fromPartEntries('matrix', [])).toThrow(TypeError)
  expect(() => fromPartEntries('rule', toPartEntries(matrix))).toThrow(TypeError)
  expect(() =>
    fromPartEntries(
      'rule',
      toPartEntries(rule).filter(({ part }) => part !== 'table'),
    ),
  ).toThrow(TypeError)
})
