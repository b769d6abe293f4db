/** The steps of admission as the payload tester shows them. */
import { expect, test } from 'vitest'
import { toAdmissionSteps } from './admission-steps.ts'
import type { Contract } from './contract-model.ts'

const contract: Contract = {
  facts: [{ name: 'country', at: '/country', type: 'enum', one_of: { list_key: 'countries' } }],
  freshness: { max_age_s: 60, measured_from: 'as_of' },
  checks: [{ key: 'dates-ordered', when: [], else: 'quarantine' }],
}
const violation = (code: string, keyword: string) => ({ code, keyword, pointer: '/a', expected: 'x', record_index: 0 })
const states = (violations: ReturnType<typeof violation>[], codes: string[] = []) =>
  Object.fromEntries(
    toAdmissionSteps(
      { violations, notes: codes.map((code) => ({ code, pointer: '/a', record_index: 0 })) },
      contract,
      false,
    ).map(({ name, state }) => [name, state]),
  )

test('steps pass, and those that the contract does not demand are skipped', () => {
  expect(states([])).toEqual({
    size: 'passed',
    format: 'passed',
    records: 'passed',
    schema: 'passed',
    lists: 'passed',
    provenance: 'skipped',
    freshness: 'passed',
    checks: 'passed',
  })
})

test('violations and notes belong to the step that found them', () => {
  const found = states(
    [violation('enum', 'enum'), violation('not_on_list', 'one_of'), violation('check_failed', 'dates-ordered')],
    ['age_unknown'],
  )
  expect(found).toMatchObject({ schema: 'failed', lists: 'failed', checks: 'failed', freshness: 'noted' })
})

test('nothing is reached after a payload that cannot be read', () => {
  const found = states([violation('json', 'json')])
  expect([found['size'], found['format'], found['records'], found['checks']]).toEqual([
    'passed',
    'failed',
    'not_reached',
    'not_reached',
  ])
})
