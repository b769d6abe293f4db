/** Explanations in the words of people. */
import { expect, test } from 'vitest'
import { formatReason } from './reason-text.ts'

test('puts intervals, list references and exact numbers into words', () => {
  const layers =
    '2 layers of ownership. By the lists: Layers (1 (matrix-thresholds v1, company|direct)..3 (matrix-thresholds v1, company|layered)].'
  expect(formatReason(layers)).toBe('2 layers of ownership. Limits: Layers more than 1, at most 3.')
  expect(formatReason('Age [18..65]')).toBe('Age 18 to 65')
  expect(formatReason('Country contributes 525.0000: This gives 0 basis points.')).toBe(
    'Country contributes 525: This gives 0 points.',
  )
  expect(formatReason('contributes 12.5000')).toBe('contributes 12.5')
})

test('groups the digits of scores, not of years', () => {
  expect(formatReason('Residence is rated 3000 by jurisdiction-risk. This gives 5000 basis points.')).toBe(
    'Residence is rated 3,000 by jurisdiction-risk. This gives 5,000 points.',
  )
  expect(formatReason('Founded in 2010, rated 10000.')).toBe('Founded in 2010, rated 10,000.')
})

test('names a list by its title', () => {
  const titles = new Map([['jurisdiction-risk', 'Country risk']])
  expect(formatReason('DE is rated 2000 by jurisdiction-risk.', new Map(), titles)).toBe(
    'DE is rated 2,000 by Country risk.',
  )
  expect(formatReason('DE gives 2000 basis points by the list jurisdiction-risk.', new Map(), titles)).toBe(
    'DE gives 2,000 points by the list Country risk.',
  )
  expect(formatReason('jurisdiction-risk rated by hand', new Map(), titles)).toBe('jurisdiction-risk rated by hand')
})

test('adds the name of a key where the key is a word of its own', () => {
  const names = new Map([
    ['JE', 'Jersey'],
    ['68', 'Real estate'],
  ])
  expect(formatReason('Registration in JE is rated 3500', names)).toBe('Registration in Jersey (JE) is rated 3,500')
  expect(formatReason('Industry 68 is rated 6800', names)).toBe('Industry Real estate (68) is rated 6,800')
  expect(formatReason('PROJECT is rated 680', names)).toBe('PROJECT is rated 680')
})
