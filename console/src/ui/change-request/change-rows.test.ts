/** Changed members as rows of words. */
import { expect, test } from 'vitest'
import { toChangeRows, toRequestRows } from './change-rows.ts'
import { describeChange, findOpenActivation, getReason, getVersionChange } from './describe-change.ts'

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

test('a tool policy is compared tool by tool, in words', () => {
  const after = [
    { tool: '*', roles: [], decision: 'person' },
    { tool: 'start_batch', roles: ['service'], decision: 'forbid' },
  ]
  const before = [{ tool: 'start_batch', roles: ['service'], decision: 'forbid' }]
  expect(toChangeRows([{ member: 'rules', before, after }])).toEqual([
    { label: 'Every other tool that is on by default', before: 'no rule', after: 'a person approves' },
  ])
})

test('a tool that is turned on was off, and is allowed to the roles that the policy names', () => {
  const rules = [{ tool: 'open_investigation', roles: ['analyst'], decision: 'allow' }]
  const changes = [
    {
      member: 'decisions',
      before: { open_investigation: { analyst: 'off' } },
      after: { open_investigation: { analyst: 'allow' } },
    },
    { member: 'rules', before: [], after: [...rules, { tool: '*', roles: [], decision: 'forbid' }] },
  ]
  expect(toChangeRows(changes)).toEqual([
    { label: 'open_investigation', before: 'off for analyst', after: 'allowed for analyst' },
    { label: 'Every other tool that is on by default', before: 'no rule', after: 'forbidden' },
  ])
})

test('the definition of a tool shows characters that cannot be seen', () => {
  const changes = [{ member: 'description', before: 'Gives an entry.', after: 'Gives \u202ean entry.' }]
  const request = { operation: 'pinServerTool', body: {}, query: {}, changes, state: 'open', decided_at: null } as const
  expect(toRequestRows(request)).toEqual([
    { label: 'Description', before: 'Gives an entry.', after: 'Gives \\u{202e}an entry.' },
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
  expect(rows).toEqual([{ label: 'Entry CH, score', before: '10 %', after: '25 %' }])
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

const activation = {
  operation: 'activateDatasetVersion',
  body: { version: 2 },
  query: {},
  changes: [
    { member: 'effective_from', before: null, after: '2026-11-17T04:03:34.000000Z' },
    { member: 'version', before: 1, after: 2 },
  ],
  state: 'open' as const,
  decided_at: null,
}
const findStart = (request: Parameters<typeof toRequestRows>[0]) =>
  toRequestRows(request).find(({ label }) => label === 'In force from')?.after

test('a version without a start is in force from its approval, whatever the dry run said', () => {
  expect(findStart(activation)).toBe('when it is approved')
  const approved = { ...activation, state: 'approved' as const, decided_at: '2026-11-17T04:17:18.000000Z' }
  expect(findStart(approved)).toMatch(/:17$/)
  expect(findStart({ ...activation, state: 'rejected', decided_at: approved.decided_at })).toBeUndefined()
})

test('the start says what is in force until then', () => {
  const findBefore = (version: number | null) =>
    toRequestRows({
      ...activation,
      changes: [
        { member: 'effective_from', before: null, after: null },
        { member: 'version', before: version, after: 2 },
      ],
    }).find(({ label }) => label === 'In force from')?.before
  expect(findBefore(1)).toBe('in force already')
  expect(findBefore(null)).toBe('nothing in force')
})

test('the start names the shared version that the first version of the tenant replaces, of the same number too', () => {
  const start = { member: 'effective_from', before: null, after: null }
  const findBefore = (...changes: { member: string; before: unknown; after: unknown }[]) =>
    toRequestRows({ ...activation, body: { version: 1 }, changes: [start, ...changes] }).find(
      ({ label }) => label === 'In force from',
    )?.before
  const owner = { member: 'origin', before: 'shared', after: 'own' }
  expect(findBefore(owner)).toBe('shared version 1 in force')
  expect(findBefore(owner, { member: 'version', before: 3, after: 1 })).toBe('shared version 3 in force')
})

test('a start that the request names is kept', () => {
  const effective_from = '2090-01-01T00:00:00.000000Z'
  const changes = [{ member: 'effective_from', before: null, after: effective_from }]
  expect(findStart({ ...activation, body: { version: 2, effective_from }, changes })).toMatch(/2090/)
})

test('the versions of a decided request are those stored with it', () => {
  const own = (version: number) => ({ version, origin: 'own' })
  expect(getVersionChange(activation)).toEqual({ from: own(1), to: own(2) })
  const owner = { member: 'origin', before: 'shared', after: 'own' }
  const version = { member: 'version', before: 3, after: 2 }
  expect(getVersionChange({ ...activation, changes: [owner, version] })?.from).toEqual({ version: 3, origin: 'shared' })
  expect(getVersionChange({ ...activation, changes: [owner] })?.from).toEqual({ version: 2, origin: 'shared' })
  expect(getVersionChange({ ...activation, changes: [{ ...version, before: null }] })?.from).toBeNull()
  expect(getVersionChange({ operation: 'deleteOverlay', body: null, changes: null })).toBeNull()
})

test('an open request is found by the version it would put in force', () => {
  const request = { ...activation, params: { list_key: 'bands' } }
  const target = { param: 'list_key', key: 'bands', version: 2 } as const
  expect(findOpenActivation([request], target)).toBe(request)
  for (const other of [{ version: 3 }, { key: 'others' }, { param: 'rule_key' as const }])
    expect(findOpenActivation([request], { ...target, ...other })).toBeNull()
})

test('the activation of a credential says what becomes of the version before', () => {
  const active = { member: 'active_version', before: 3, after: 4 }
  expect(toChangeRows([active, { member: 'overlap_s', before: null, after: 0 }])).toEqual([
    { label: 'Active version', before: 'Version 3', after: 'Version 4' },
    { label: 'Version before', before: 'in use', after: 'ends at once' },
  ])
  const rows = toChangeRows([active, { member: 'overlap_s', before: null, after: 86_400 }])
  expect(rows[1]?.after).toMatch(/^stays usable for 1 day/)
  expect(
    toChangeRows([
      { ...active, before: null },
      { member: 'overlap_s', before: null, after: 0 },
    ]),
  ).toHaveLength(1)
})
