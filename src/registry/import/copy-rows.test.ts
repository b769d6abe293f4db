/** Rows written into one buffer are valid rows of COPY, whatever their content and the initial size of the buffer. */
import { expect, test } from 'vitest'
import { entryHash } from '../content/hashes.ts'
import { CopyRows, copyRow } from './copy-rows.ts'

const rows = [
  { key: 'plain', text: '{"a":1}', row: 1, line: 2 },
  { key: 'tab\tand\\slash', text: '{"a":"\\n \\\\"}', row: 2, line: undefined },
  { key: 'größer', text: JSON.stringify({ a: '漢🙂'.repeat(50) }), row: 3, line: 9 },
  { key: 'far', text: '{}', row: 2 ** 33 + 5, line: 2 ** 40 + 2 ** 31 },
]

test.each([1, 64, 100_000])('with an initial buffer of %i bytes', (expected_bytes) => {
  const staged = new CopyRows(expected_bytes)
  for (let round = 1; round <= 2; round++) {
    for (const { key, text, row, line } of rows) {
      expect(Buffer.from(staged.put(key, text, row, line), 'latin1').toString('hex')).toBe(entryHash(text))
    }
    const one_by_one = Buffer.concat(rows.map((row) => copyRow({ ...row, hash: entryHash(row.text) })))
    expect(staged.length).toBe(one_by_one.length)
    const taken = staged.take()
    expect(Buffer.from(taken).equals(one_by_one)).toBe(true)
    // Transferred to another thread, the buffer contains nothing else.
    expect([taken.buffer.byteLength, staged.length]).toEqual([one_by_one.length, 0])
    expect(staged.data_bytes).toBe(round * Buffer.byteLength(rows.map(({ text }) => text).join('')))
  }
})
