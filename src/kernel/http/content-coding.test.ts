/** What browsers, tools and the standard's own examples ask for, and what they get. */
import { expect, test } from 'vitest'
import { type Coding, chooseCoding } from './content-coding.ts'

const all: readonly Coding[] = ['br', 'gzip', 'identity']

test.each<[string | undefined, Coding | undefined]>([
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['deflate, zstd', 'identity'],
  ['GZIP', 'gzip'],
  ['*', 'br'],
  ['br;q=0.5, gzip', 'gzip'],
  ['br ; q=0.8 ,gzip;q=0.8', 'br'],
  ['br;q=0.001', 'br'],
  ['identity, br;q=0.5', 'identity'],
  ['identity;q=0.5, *;q=0.5', 'br'],
  ['br;q=0', 'identity'],
  ['br;q=0, *', 'gzip'],
  ['gzip;q=0, *', 'br'],
  ['br;q=0.0, gzip;q=0.000, *', 'identity'],
  ['*;q=0, gzip;q=0.3', 'gzip'],
  ['*;q=0, identity', 'identity'],
  ['gzip, identity;q=0', 'gzip'],
  ['identity;q=0', undefined],
  ['*;q=0', undefined],
  ['deflate, *;q=0', undefined],
  ['br;q=2, gzip', 'gzip'],
  ['br;q=, gzip;q=0.5;level=9', 'identity'],
  [',,;q=1,', 'identity'],
])('%j is answered with %s', (header, coding) => {
  expect(chooseCoding(header, all)).toBe(coding)
})

test('what is not offered is not chosen', () => {
  expect(chooseCoding('br, gzip', ['gzip', 'identity'])).toBe('gzip')
  expect(chooseCoding('br, gzip', ['identity'])).toBe('identity')
  expect(chooseCoding('br, gzip, identity;q=0', ['identity'])).toBeUndefined()
})
