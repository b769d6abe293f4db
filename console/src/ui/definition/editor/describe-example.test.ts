/** Example inputs are described as a sentence. */
import { expect, test } from 'vitest'
import { describeExample } from './describe-example.ts'

const inputs = [
  { name: 'turnover', title: 'Turnover', unit: 'EUR' },
  { name: 'known', title: 'Years known' },
  { name: 'ties', title: 'Ties' },
]
const example = { known: 0, ties: [], turnover: '75000.00' }

test('names every input by title and unit', () => {
  expect(describeExample(example, inputs)).toBe('Years known is 0, Ties is empty and Turnover is 75000.00 EUR')
})

test('names only the inputs of the columns of a table, in their order', () => {
  expect(describeExample(example, inputs, ['turnover', 'known'])).toBe('Turnover is 75000.00 EUR and Years known is 0')
  expect(describeExample(example, inputs, ['known'])).toBe('Years known is 0')
})

test('names all inputs for a table that reads a score', () => {
  expect(describeExample(example, inputs, ['known', 'factor.a'])).toContain('Ties is empty')
})

test('uses the name of an undeclared input', () => {
  expect(describeExample({ other: true }, inputs)).toBe('other is yes')
})
