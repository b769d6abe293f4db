/** How the columns of a file of subjects are read. */
import { expect, test } from 'vitest'
import { readColumns, sortColumns } from './file-columns.ts'

test('reads the names of the first line, whatever separates them', () => {
  expect(readColumns('\u{feff}name,subject_type\r\nAda,person')).toEqual(['name', 'subject_type'])
  expect(readColumns('name;"a;b";c\n')).toEqual(['name', 'a;b', 'c'])
  expect(readColumns('')).toEqual([])
})

test('tells the record from attributes, with and without their prefix, and names what is missing', () => {
  expect(sortColumns(['name', 'attributes.country', 'channel'])).toEqual({
    record: ['name'],
    attributes: ['country', 'channel'],
    missing: ['subject_type'],
  })
})
