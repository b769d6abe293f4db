import { expect, test } from 'vitest'
import { diffLines, foldLines } from './line-diff.ts'

const signs = { same: ' ', removed: '-', added: '+' } as const
const write = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, line, text }) => `${signs[kind]}${line} ${text}`)

test('names removed and added lines with their numbers', () => {
  expect(write('a\nb\nc', 'a\nx\ny\nc')).toEqual([' 1 a', '-2 b', '+2 x', '+3 y', ' 4 c'])
  expect(write('a', 'a\nb')).toEqual([' 1 a', '+2 b'])
  expect(write('', 'a')).toEqual(['-1 ', '+1 a'])
  expect(write('same\n', 'same\n')).toEqual([' 1 same', ' 2 '])
})

test('compares long texts with a small change', () => {
  const lines = Array.from({ length: 5000 }, (_, place) => `line ${place}`)
  const changed = lines.with(2500, 'another')
  const found = diffLines(lines.join('\n'), changed.join('\n')).filter(({ kind }) => kind !== 'same')
  expect(found).toEqual([
    { kind: 'removed', text: 'line 2500', line: 2501 },
    { kind: 'added', text: 'another', line: 2501 },
  ])
})

test('leaves out what is far from a change', () => {
  const lines = diffLines('1\n2\n3\n4\n5\n6', '1\n2\n3\nx\n5\n6')
  const blocks = foldLines(lines, 1).map((block) =>
    'left_out' in block ? block.left_out : block.lines.map(({ text }) => text).join(''),
  )
  expect(blocks).toEqual([2, '34x5', 1])
  expect(foldLines(diffLines('a', 'a'), 1)).toEqual([{ left_out: 1 }])
})
