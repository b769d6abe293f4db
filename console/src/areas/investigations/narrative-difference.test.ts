import { expect, test } from 'vitest'
import { diffParagraphs } from './narrative-difference.ts'

const fact = (text: string, ...cites: string[]) => ({ kind: 'fact' as const, text, cites })
const conclusion = (text: string) => ({ kind: 'assessment' as const, text, cites: [] })

test('shows paragraphs that were kept, changed by a word, removed and added', () => {
  const before = [fact('The salary is 2,400 EUR.', 'e1'), fact('He owns a shop.', 'e2'), conclusion('No suspicion.')]
  const after = [fact('The salary is 2,600 EUR.', 'e1'), conclusion('No suspicion.'), conclusion('Review in a year.')]
  expect(
    diffParagraphs(before, after).map(({ kind, pieces }) => [kind, pieces.map((one) => one.text).join('|')]),
  ).toEqual([
    ['removed', 'He owns a shop.'],
    ['changed', 'The salary is 2,|400|600| EUR.'],
    ['same', 'No suspicion.'],
    ['added', 'Review in a year.'],
  ])
  // Other evidence for the same words is a change as well.
  expect(diffParagraphs([fact('Paid.', 'e1')], [fact('Paid.', 'e2')]).map(({ kind }) => kind)).toEqual(['changed'])
})
