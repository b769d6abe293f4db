/** Rows written into one piece of bytes are the lines COPY takes, whatever they hold and however much room there was. */
import { expect, test } from 'vitest'
import { CopyRows, copyLine } from './copy-text.ts'

const hash = 'ab'.repeat(32)
const rows = [
  { key: 'plain', text: '{"a":1}', row: 1, line: 2 },
  { key: 'tab\tand\\slash', text: '{"a":"\\n \\\\"}', row: 2, line: undefined },
  { key: 'größer', text: JSON.stringify({ a: '漢🙂'.repeat(50) }), row: 3, line: 9 },
]

test.each([1, 64, 100_000])('with room for %i bytes at first', (expected_bytes) => {
  const staged = new CopyRows(expected_bytes)
  for (let round = 0; round < 2; round++) {
    for (const { key, text, row, line } of rows) staged.put({ key, text, hash }, row, line)
    const lines = Buffer.from(rows.map((row) => copyLine({ ...row, hash })).join(''))
    expect(staged.length).toBe(lines.length)
    const taken = staged.take()
    expect(Buffer.from(taken).equals(lines)).toBe(true)
    // Handed over to another thread, it takes nothing else along.
    expect([taken.buffer.byteLength, staged.length]).toEqual([lines.length, 0])
  }
})
