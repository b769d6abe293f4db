/** Renaming follows every reference, and reordering keeps all parts. */
import { expect, test } from 'vitest'
import type { Definition } from '#console/ui/decision/definition-model.ts'
import { findFreeName, moveItem, removeItem, renameFactor, renameInput, setMember } from './draft-edits.ts'

const draft = {
  inputs: [{ name: 'age', title: 'Age', type: 'integer' }],
  factors: [
    { key: 'a', title: 'A', form: 'lookup', inputs: ['age'], reason: 'At {age}, not {aged}.' },
    { key: 'b', title: 'B', form: 'score_map', input: 'age', scores: { age: 1 } },
    {
      key: 'c',
      title: 'C',
      form: 'table',
      table: { hit_policy: 'first', columns: ['age', 'factor.a'], outputs: [{ name: 'age' }], rows: [] },
    },
  ],
  triggers: [{ key: 't', title: 'T', when: [{ of: 'age', test: '> 1' }], reason_code: 'T', reason: '{age}' }],
} as Definition

test('renames an input and all its references only', () => {
  const renamed = renameInput(draft, 0, 'years')
  expect(renamed.inputs?.[0]).toEqual({ name: 'years', title: 'Age', type: 'integer' })
  expect(renamed.factors?.[0]).toMatchObject({ inputs: ['years'], reason: 'At {years}, not {aged}.' })
  expect(renamed.factors?.[1]).toMatchObject({ input: 'years', scores: { age: 1 } })
  expect(renamed.factors?.[2]?.table).toMatchObject({ columns: ['years', 'factor.a'], outputs: [{ name: 'age' }] })
  expect(renamed.triggers?.[0]).toMatchObject({ when: [{ of: 'years', test: '> 1' }], reason: '{years}' })
})

test('renames a factor and the references to its score', () => {
  const renamed = renameFactor(draft, 0, 'first')
  expect(renamed.factors?.map(({ key }) => key)).toEqual(['first', 'b', 'c'])
  expect(renamed.factors?.[2]?.table?.columns).toEqual(['age', 'factor.first'])
})

test('renames one of two inputs with the same name', () => {
  const twice = {
    ...draft,
    inputs: [...(draft.inputs ?? []), { name: 'age', title: 'Other', type: 'integer' as const }],
  }
  const renamed = renameInput(twice, 1, 'other')
  expect(renamed.inputs?.map(({ name }) => name)).toEqual(['age', 'other'])
  expect(renamed.factors).toEqual(draft.factors)
})

test('moves and removes parts, and finds unused names', () => {
  expect(moveItem(['a', 'b', 'c'], 2, -1)).toEqual(['a', 'c', 'b'])
  expect(moveItem(['a', 'b'], 1, 1)).toEqual(['a', 'b'])
  expect(removeItem(['a', 'b'], 0)).toEqual(['b'])
  expect(findFreeName(['x1', 'x3'], 'x')).toBe('x4')
})

test('removes an empty member', () => {
  expect(setMember({ a: 1, b: 'x' as string | undefined }, 'b', '')).toEqual({ a: 1 })
  expect(setMember({ a: 1 as number | undefined }, 'a', 2)).toEqual({ a: 2 })
})
