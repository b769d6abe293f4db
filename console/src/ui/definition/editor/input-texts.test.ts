/** Descriptions of inputs, and the conversion to another type. */
import { expect, test } from 'vitest'
import type { Input } from '#console/ui/decision/definition-model.ts'
import { changeType, describeInput, firstDefault } from './input-texts.ts'

const age: Input = { name: 'age', title: 'Age', type: 'integer', unit: 'years', minimum: 18, maximum: 99 }

test('describes an input in a few words', () => {
  expect(describeInput(age)).toBe('whole number, in years, 18 to 99')
  expect(describeInput({ name: 'c', title: 'C', type: 'list', one_of: { list_key: 'countries' }, default: [] })).toBe(
    'several values, from countries, optional',
  )
})

test('drops limits that the new type does not have', () => {
  expect(changeType(age, 'decimal')).toEqual({ name: 'age', title: 'Age', type: 'decimal', unit: 'years' })
  expect(changeType(age, 'enum')).toEqual({ name: 'age', title: 'Age', type: 'enum', values: [] })
})

test('starts with a default within the limits', () => {
  expect(firstDefault(age)).toBe(18)
  expect(firstDefault(changeType(age, 'list'))).toEqual([])
})
