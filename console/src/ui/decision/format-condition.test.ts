/** Conditions are formatted with their list references as words. */
import { expect, test } from 'vitest'
import { formatCondition } from './format-condition.ts'

test.each([
  ['>= list(limits, cash|retail).count', '>= count of cash|retail in limits'],
  ['< minor(list(limits, "cash (retail)").amount_minor)', '< amount minor of cash (retail) in limits'],
  ['[list(a, b).x..list(a, c).y)', '[x of b in a..y of c in a)'],
  ['in list(countries)', 'in list(countries)'],
  ['"a", "b"', '"a", "b"'],
])('%s', (written, words) => {
  expect(formatCondition(written)).toBe(words)
})
