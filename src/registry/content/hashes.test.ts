/** The hash of an entry is the hash of its domain and text, whatever the length of the text and however it was concatenated. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { entryHash } from './hashes.ts'

const plainly = (text: string): string => createHash('sha256').update(`probity.entry.1\n${text}`).digest('hex')

test.each(['', 'a', 'ü', '漢', '🙂', '\ud800'])('of %j in any number', (sign) => {
  for (const count of [1, 2, 5456, 5457, 8000, 16_368, 16_384, 40_000]) {
    expect([count, entryHash(sign.repeat(count))]).toEqual([count, plainly(sign.repeat(count))])
  }
})

test('of a short text after a long one', () => {
  const parts = ['{"name":', '"x"', '}']
  entryHash('y'.repeat(5000))
  expect(entryHash(parts.join(''))).toBe(plainly('{"name":"x"}'))
})
