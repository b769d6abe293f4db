/** Definitions come back from their parts as they were, also by way of the registry. */
import fs from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileType } from '../registry/types/compile.ts'
import { Maker } from './engine-1/test-matrices.ts'
import { matrix } from './engine-1/test-matrix.ts'
import { rule } from './engine-1/test-rule.ts'
import type { Definition } from './model.ts'
import { definitionOf, entriesOf } from './parts.ts'

fc.configureGlobal({ seed: 1040 })

const typeOf = (name: string) => {
  const file = path.resolve(import.meta.dirname, `../../db/seed/types/${name}.json`)
  return compileType({ ...JSON.parse(fs.readFileSync(file, 'utf8')), type_version: 1 })
}
const types = { matrix: typeOf('risk-matrix-part'), rule: typeOf('rule-part') }

/** Stored and read again, in the order of the keys. */
function stored(definition: Definition) {
  const rows = entriesOf(definition).map((entry) => {
    const prepared = types[definition.family].prepare(entry)
    if (!('key' in prepared)) throw new Error(JSON.stringify(prepared))
    return prepared
  })
  expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
  return rows.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ text }) => JSON.parse(text) as Record<string, unknown>)
}

test('one entry for each part, with its name and place', () => {
  const keys = entriesOf(matrix).map(({ part, name, position }) => `${part} ${name} ${position}`)
  expect(keys.slice(0, 3)).toEqual(['settings matrix 0', 'input country 0', 'input turnover 1'])
  expect(keys.slice(-3)).toEqual(['factor channel 3', 'trigger pep 0', 'trigger sanctioned-country 1'])
  expect(entriesOf(rule).map(({ part }) => part)).toEqual(['settings', 'input', 'input', 'input', 'table'])
})

test('there and back', () => {
  for (const definition of [matrix, rule]) {
    expect(definitionOf(definition.family, entriesOf(definition).reverse())).toEqual(definition)
    expect(definitionOf(definition.family, stored(definition))).toEqual(definition)
  }
  fc.assert(
    fc.property(fc.gen(), (g) => {
      const maker = new Maker(g)
      for (const definition of [maker.matrix().definition, maker.rule()]) {
        expect(definitionOf(definition.family, stored(definition))).toEqual(definition)
      }
    }),
    { numRuns: 100 },
  )
})

test('one changed factor is one changed entry', () => {
  const [first, ...others] = matrix.factors
  const changed = { ...matrix, factors: [{ ...first, title: 'Land' }, ...others] } as Definition
  const before = entriesOf(matrix).map((entry) => JSON.stringify(entry))
  const differing = entriesOf(changed).filter((entry) => !before.includes(JSON.stringify(entry)))
  expect(differing.map(({ part, name }) => `${part} ${name}`)).toEqual(['factor country'])
})

test('entries that are no definition are refused', () => {
  expect(() => definitionOf('matrix', [])).toThrow(TypeError)
  expect(() => definitionOf('rule', entriesOf(matrix))).toThrow(TypeError)
  expect(() =>
    definitionOf(
      'rule',
      entriesOf(rule).filter(({ part }) => part !== 'table'),
    ),
  ).toThrow(TypeError)
})
