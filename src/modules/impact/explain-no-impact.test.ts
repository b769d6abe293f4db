/** Why an impact run found nothing, from the totals of its result. */
import { expect, test } from 'vitest'
import { explainNoImpact } from './explain-no-impact.ts'

const list = { family: 'list', key: 'countries' } as const
const nothing = {
  definitions: [{ key: 'retail', missing: [] as string[] }],
  population: { subjects: 3 },
  decisions: 3,
  unusable: 0,
  flips: 0,
  score_moves: 0,
  refusals_added: 0,
  refusals_removed: 0,
  required_actions: [],
  factors: [],
}
const explain = (part: Partial<typeof nothing>, run: Parameters<typeof explainNoImpact>[0] = list) =>
  explainNoImpact(run, { ...nothing, ...part })?.reason ?? null

test.each([
  ['not_read', explain({ definitions: [] })],
  ['first_version', explain({ definitions: [] }, { family: 'matrix', key: 'retail' })],
  ['no_decisions', explain({ population: { subjects: 0 }, decisions: 0 })],
  ['unusable', explain({ decisions: 0, unusable: 3 })],
  ['lists_missing', explain({ definitions: [{ key: 'retail', missing: ['bands'] }] })],
  ['no_effect', explain({})],
])('explains %s', (reason, found) => expect(found).toBe(reason))

test('explains nothing where something would change', () => {
  for (const member of ['flips', 'score_moves', 'refusals_added', 'refusals_removed'] as const)
    expect(explain({ [member]: 1 })).toBeNull()
})

test('counts one decision as one', () => {
  expect(explainNoImpact(list, { ...nothing, decisions: 1 })?.detail).toBe(
    '1 decision by retail was repeated. It uses nothing that this change alters.',
  )
})

test('names lists by their titles', () => {
  const titles = new Map([
    ['countries', 'Country ratings'],
    ['bands', 'Risk bands'],
  ])
  expect(explainNoImpact(list, { ...nothing, definitions: [] }, titles)?.detail).toContain('the list Country ratings,')
  const totals = { ...nothing, definitions: [{ key: 'retail', missing: ['bands'] }] }
  expect(explainNoImpact(list, totals, titles)?.detail).toContain('no version of Risk bands is in force')
})

test('names the matrices and what is missing', () => {
  const totals = { ...nothing, definitions: [{ key: 'retail', missing: ['bands'] }] }
  expect(explainNoImpact(list, totals)?.detail).toBe(
    'retail cannot decide today, because no version of bands is in force.',
  )
})
