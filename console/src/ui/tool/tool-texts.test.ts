import { expect, test } from 'vitest'
import {
  describeRunProblem,
  formatDecisions,
  formatRule,
  getServerKey,
  getToolOrigin,
  groupByDecision,
  isStranded,
  nameApprovalState,
  toProviderPath,
} from './tool-texts.ts'

test('says for which roles a tool is allowed, off, forbidden or needs a person, the strictest first', () => {
  const said = [
    { role: 'analyst', decision: 'allow' },
    { role: 'compliance_officer', decision: 'off' },
    { role: 'service', decision: 'allow' },
  ] as const
  expect(groupByDecision([...said])).toEqual([
    { decision: 'off', roles: ['compliance_officer'] },
    { decision: 'allow', roles: ['analyst', 'service'] },
  ])
  expect(formatDecisions([...said])).toBe('off for compliance officer\nallowed for analyst, service')
})

test('words a rule', () => {
  expect(formatRule({ tool: '*', roles: [], decision: 'forbid' })).toBe(
    'Every other tool that is on by default: forbidden',
  )
  expect(formatRule({ tool: '*', roles: [], decision: 'forbid' }, true)).toBe(
    'Every tool that is on by default: forbidden',
  )
  expect(formatRule({ tool: 'start_batch', roles: ['policy_editor', 'service'], decision: 'person' })).toBe(
    'start_batch: a person approves for policy editor, service',
  )
})

test('tells the credential of a tool server from that of a provider', () => {
  expect(getServerKey('mcp/acme-tools')).toBe('acme-tools')
  expect(getServerKey('company-registry')).toBeNull()
  expect(toProviderPath('mcp/acme-tools')).toBe('/tools/servers/acme-tools')
  expect(toProviderPath('company-registry')).toBe('/providers/company-registry')
})

test('reads from an audit event that an assistant caused it', () => {
  expect(getToolOrigin({ via: 'mcp', tool: 'search_lists', client: 'Desk assistant 1.4' })).toEqual({
    tool: 'search_lists',
    client: 'Desk assistant 1.4',
  })
  expect(getToolOrigin({ via: 'mcp' })).toEqual({ tool: null, client: null })
  expect(getToolOrigin({ diff: [] })).toBeNull()
})

test('tells an approved call that runs from one that did not run, with the reason', () => {
  const approval = { state: 'approved', running: false, run_problem: 'plugin_invalid', ran_at: null } as const
  expect([nameApprovalState(approval), isStranded(approval)]).toEqual(['approved, not run', true])
  expect(describeRunProblem(approval)).toBe('A plugin that it needs could not run.')
  const again = { ...approval, running: true }
  expect([nameApprovalState(again), isStranded(again)]).toEqual(['approved, running', false])
})
