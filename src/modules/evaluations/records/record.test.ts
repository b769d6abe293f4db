/** The text that the MAC of a stored decision covers. It must never change, or stored decisions would no longer verify. */
import { expect, test } from 'vitest'
import { toMacInput } from './record.ts'

test('the text of a record is the same in every release', () => {
  const row = {
    evaluation_id: 'e',
    family: 'matrix',
    definition_key: 'k',
    definition_version: 1,
    subject_id: null,
    valid_at: 'v',
    receipt_id: 'r',
    receipt_hash: 'h',
    engine: 1,
    band: 'low',
    score_bps: 2,
    hit: null,
    reason_codes: ['a'],
    required_actions: [],
    document_hash: 'd',
    decided_at: 't',
    created_by: 'c',
  } as const
  expect(toMacInput('tenant', { ...row, reason_codes: [...row.reason_codes], required_actions: [] })).toBe(
    '["probity-evaluation","tenant","e","matrix","k",1,null,"v","r","h",1,"low",2,null,["a"],[],"d","t","c"]',
  )
})
