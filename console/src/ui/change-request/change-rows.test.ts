/** Changed members as rows of words. */
import { expect, test } from 'vitest'
import { toChangeRows } from './change-rows.ts'
import { describeChange, getReason } from './describe-change.ts'

test('an approval policy is compared rule by rule, in words', () => {
  const rule = { action: 'roles', approvers: 1, role: 'tenant_admin', require_impact: false }
  const changes = [
    {
      member: 'rules',
      before: [rule, { ...rule, action: 'activation' }],
      after: [rule, { ...rule, action: 'activation', approvers: 2, require_impact: true }],
    },
  ]
  expect(toChangeRows(changes)).toEqual([
    {
      label: 'Activation',
      before: '1 approver with the role tenant admin',
      after: '2 approvers with the role tenant admin, with an impact analysis',
    },
  ])
})

test('versions and roles are named, hashes and the reason are left out', () => {
  const rows = toChangeRows([
    { member: 'version', before: 1, after: 2 },
    { member: 'roles', before: [], after: ['policy_editor', 'analyst'] },
    { member: 'content_hash', before: 'a', after: 'b' },
    { member: 'reason', before: null, after: 'Quarterly review' },
  ])
  expect(rows).toEqual([
    { label: 'Version in force', before: 'Version 1', after: 'Version 2' },
    { label: 'Roles', before: 'no roles', after: 'policy editor, analyst' },
  ])
})

test('settings that are objects are compared member by member', () => {
  const rows = toChangeRows([
    {
      member: 'entry CH',
      before: { name: 'Switzerland', score_bps: 1000 },
      after: { name: 'Switzerland', score_bps: 2500 },
    },
  ])
  expect(rows).toEqual([{ label: 'Entry CH, score bps', before: '1,000', after: '2,500' }])
})

test('a request is described by what it does, with the name of what it concerns', () => {
  const request = {
    operation: 'activateDatasetVersion',
    params: { list_key: 'ofac-sdn' },
    query: {},
    body: { version: 2 },
    changes: null,
  }
  expect(describeChange(request as never, 'OFAC SDN')).toBe('Put version 2 of OFAC SDN in force')
  expect(describeChange({ ...request, operation: 'doSomething' } as never, 'OFAC SDN')).toBe('Do something: OFAC SDN')
  expect(getReason({ body: { reason: 'New list' }, query: {} })).toBe('New list')
})
