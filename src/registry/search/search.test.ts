/** Words are folded, and a query over segments finds the same entries as a full scan. */
import { expect, test } from 'vitest'
import { collectEntryWords, matchesWords, parseQueryWords, splitWords } from './search-words.ts'
import { collectPrefix, EntrySet, SegmentBuilder } from './segment.ts'

test('folds case, accents, width and punctuation', () => {
  expect(splitWords('MÜLLER-Lüdenscheidt, Ａ１ "Côte d’Azur"')).toEqual([
    'muller',
    'ludenscheidt',
    'a1',
    'cote',
    'd',
    'azur',
  ])
  expect(splitWords('Иванов 王小明 ﬁnance')).toEqual(['иванов', '王小明', 'finance'])
  expect(splitWords(' -- ')).toEqual([])
})

test('collects words of all texts and numbers of an entry, not of member names', () => {
  const entry = { id: 'X-1', score: 42, aliases: [{ name: 'Deep Blue' }], none: null, yes: true }
  expect([...collectEntryWords(entry)]).toEqual(['x', '1', '42', 'deep', 'blue'])
  expect(matchesWords(entry, parseQueryWords('BLU de'))).toBe(true)
  expect(matchesWords(entry, parseQueryWords('aliases'))).toBe(false)
})

test('drops a query word that is a prefix of another', () => {
  expect(parseQueryWords('mo mohammed Mo ali')).toEqual(['mohammed', 'ali'])
  expect(parseQueryWords('…')).toEqual([])
})

/** The same numbers each time. */
function* numbers(seed: number): Generator<number> {
  let state = seed
  for (;;) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    yield state
  }
}

test('finds the same entries as a full scan, for words and prefixes', () => {
  const next = numbers(7)
  const take = (below: number): number => (next.next().value as number) % below
  const vocabulary = Array.from({ length: 400 }, (_, n) => `${'aábcλ王1'.charAt(n % 7)}${n.toString(36)}`)
  const entries = Array.from({ length: 5000 }, (_, n) => {
    const words = Array.from({ length: 1 + take(6) }, () => vocabulary[take(400)] as string)
    return new Set([...words.flatMap(splitWords), ...(n % 2 === 0 ? ['every'] : [])])
  })
  const builder = new SegmentBuilder()
  for (const words of entries) builder.add(words)
  const blocks = [...builder.blocks()]
  expect(blocks.length).toBeGreaterThan(2)
  const firsts = blocks.map(({ first_word }) => Buffer.from(first_word))
  expect(firsts).toEqual([...firsts].sort(Buffer.compare))
  for (const prefix of ['every', 'ev', 'a', 'b1', 'λ', '王', '1', 'c3a', 'nothing']) {
    const found = new EntrySet(entries.length)
    for (const { bytes } of blocks) collectPrefix(bytes, prefix, found)
    const expected = entries.flatMap((words, n) => ([...words].some((word) => word.startsWith(prefix)) ? [n] : []))
    expect([...found.from(0)]).toEqual(expected)
    expect([...found.from(777)]).toEqual(expected.filter((n) => n >= 777))
  }
})

test('intersects sets of entries', () => {
  const [one, other] = [new EntrySet(100), new EntrySet(100)]
  for (const n of [0, 31, 32, 63, 64, 99]) one.add(n)
  for (const n of [31, 64, 98, 99]) other.add(n)
  one.intersect(other)
  expect([...one.from(0)]).toEqual([31, 64, 99])
  expect([...one.from(65)]).toEqual([99])
})

test('refuses a truncated block', () => {
  const builder = new SegmentBuilder()
  builder.add(['word'])
  const cut = [...builder.blocks()].map(({ bytes }) => bytes.subarray(0, 5))
  expect(() => collectPrefix(Buffer.concat(cut), 'w', new EntrySet(1))).toThrow(RangeError)
})
