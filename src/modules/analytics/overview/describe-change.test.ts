/** Change requests in words. */
import { describe, expect, test } from 'vitest'
import type { VersionedKind } from '#kernel/module.ts'
import { type ChangeFacts, describeChange, getVersionedTarget, type VersionFacts } from './describe-change.ts'
import { describePolicyChange } from './describe-policy-change.ts'

const bands = ['low', 'medium', 'high', 'prohibited']
const version: VersionFacts = {
  title: 'OFAC SDN',
  from_version: 1,
  entry_count: 15_000,
  added: 161,
  removed: 0,
  changed: 6,
  at_most: 167,
}
const activation = {
  action: 'activation',
  operation: 'activateDatasetVersion',
  params: { list_key: 'ofac-sdn' },
  body: { version: 2, reason: 'weekly' },
}
const kinds: readonly VersionedKind[] = [
  { family: 'list', param: 'list_key', word: 'list' },
  { family: 'matrix', param: 'matrix_key', word: 'matrix' },
  { family: 'rule', param: 'rule_key', word: 'rule' },
]
function describeWith(facts: Partial<ChangeFacts>, changes: object = {}): string {
  const request = { ...activation, ...changes }
  const target = getVersionedTarget(kinds, request)
  return describeChange(request, target, { bands, ...facts }, 'The summary of the operation')
}
const toImpact = (...transitions: [from: string | null, to: string | null, decisions: number][]) => ({
  transitions: transitions.map(([from, to, decisions]) => ({ family: 'matrix', from, to, decisions })),
  decisions: 500,
  readers: 1,
  is_sample: false,
})

describe('a change of version', () => {
  test('names versions, differences and the customers that would move', () => {
    const impact = toImpact(['low', 'low', 480], ['medium', 'high', 10], ['low', 'high', 4], ['high', 'low', 1])
    expect(describeWith({ version, impact })).toBe(
      'OFAC SDN: version 1 → 2, 161 added, 6 changed, 14 customers would rise to high, 1 customer would fall to low',
    )
  })

  test('says what is not known or does not change', () => {
    expect(describeWith({ version: { ...version, added: 0, changed: 0 } })).toBe(
      'OFAC SDN: version 1 → 2, same content',
    )
    expect(describeWith({ version: { ...version, added: null, removed: null, changed: null } })).toBe(
      'OFAC SDN: version 1 → 2, at most 167 entries differ',
    )
    const first = { ...version, from_version: null, added: null, removed: null, changed: null, at_most: null }
    expect(describeWith({ version: first })).toBe('OFAC SDN: version 2, 15,000 entries')
    expect(describeWith({})).toBe('ofac-sdn: version 2')
    expect(describeWith({ version, impact: toImpact(['low', 'low', 500]) })).toContain(
      'no customer would move (500 decisions measured)',
    )
    expect(describeWith({ version, impact: { ...toImpact(), decisions: 0 } })).toContain('there is none yet')
    expect(describeWith({ version, impact: { ...toImpact(), readers: 0 } })).toContain(
      'no matrix or rule in force reads it',
    )
  })

  test('says that a band is unknown, or that nothing can be decided any more', () => {
    expect(describeWith({ impact: toImpact(['a', 'b', 2]) })).toContain('2 customers would move from a to b')
    expect(describeWith({ impact: toImpact(['low', null, 1]) })).toContain('1 customer would no longer be decidable')
    const rule = {
      transitions: [{ family: 'rule', from: 'no hit', to: 'hit', decisions: 3 }],
      decisions: 9,
      readers: 1,
      is_sample: true,
    }
    expect(describeWith({ impact: rule })).toContain(
      '3 customers would be newly found by the rule of 9 sampled decisions',
    )
  })

  test('tells a rollback, a pin and settings apart', () => {
    const back = { action: 'rollback', operation: 'rollBackRiskMatrix', params: { matrix_key: 'customer' } }
    expect(
      describeWith(
        { version: { ...version, title: 'Customers', from_version: 3 } },
        { ...back, body: { to_version: 2 } },
      ),
    ).toBe('Customers: roll back version 3 → 2, parts: 161 added, 6 changed')
    expect(describeWith({ version }, { operation: 'pinDataset' })).toContain('OFAC SDN: pin version 1 → 2')
    expect(describeWith({ version }, { operation: 'updateDataset', body: { title: 'New' } })).toBe(
      'OFAC SDN: change the settings',
    )
  })
})

test('describes changes of people and ratings', () => {
  const roles = {
    action: 'roles',
    operation: 'updateUserRoles',
    params: { user_id: 'x' },
    body: { roles: ['analyst', 'policy_editor'] },
  }
  expect(describeWith({ name: 'Ada' }, roles)).toBe('Ada: roles analyst and policy editor')
  const override = {
    action: 'risk-override',
    operation: 'createRiskOverride',
    params: { subject_id: 'x' },
    body: { band: 'high' },
  }
  expect(describeWith({ name: 'Analytical Engines' }, override)).toBe('Analytical Engines: override the rating, high')
})

test('uses the summary of the operation for a change without a sentence of its own', () => {
  expect(describeWith({}, { action: 'other', operation: 'other', params: {}, body: null })).toBe(
    'The summary of the operation',
  )
})

test('describes what was put in force', () => {
  const change = { title: 'Countries', kind: 'activate', version: 2, previous_version: 1 }
  expect(describePolicyChange(change)).toBe('Countries: version 1 → 2 put in force')
  expect(describePolicyChange({ ...change, kind: 'unpin', version: null })).toBe('Countries: pin ended')
})

test('a change of tool servers and the tool policy names the tool or server', () => {
  const pin = { action: 'tool-pins', operation: 'pinServerTool', body: { definition_hash: 'x' } }
  expect(describeWith({}, { ...pin, params: { server_key: 'acme', tool_name: 'lookup' } })).toBe(
    'Tool lookup of the server acme: pin its definition',
  )
  const server = { action: 'tool-servers', operation: 'createToolServer', params: {}, body: { server_key: 'acme' } }
  expect(describeWith({}, server)).toBe('Tool server acme: the summary of the operation')
  const policy = { action: 'tool-policy', operation: 'updateToolPolicy', params: {}, body: { rules: [] } }
  expect(describeWith({}, policy)).toBe('Tool policy: change what AI assistants may do')
})
