import { expect, test } from 'vitest'
import {
  formatRule,
  getServerKey,
  getToolOrigin,
  groupByDecision,
  type ToolRule,
  toProviderPath,
} from './tool-texts.ts'

const tool = { tool: 'start_batch', roles: ['analyst' as const, 'service' as const] }

test('says for which roles a tool is allowed, forbidden or needs a person', () => {
  expect(groupByDecision([], tool)).toEqual([{ decision: 'allow', roles: ['analyst', 'service'] }])
  const rules: ToolRule[] = [
    { tool: '*', roles: [], decision: 'forbid' },
    { tool: 'start_batch', roles: ['analyst'], decision: 'allow' },
  ]
  expect(groupByDecision(rules, tool)).toEqual([
    { decision: 'forbid', roles: ['service'] },
    { decision: 'allow', roles: ['analyst'] },
  ])
})

test('takes the strictest of several rules for one tool', () => {
  const rules: ToolRule[] = [
    { tool: 'start_batch', roles: [], decision: 'allow' },
    { tool: 'start_batch', roles: ['service'], decision: 'person' },
  ]
  expect(groupByDecision(rules, tool)).toEqual([
    { decision: 'person', roles: ['service'] },
    { decision: 'allow', roles: ['analyst'] },
  ])
})

test('words a rule', () => {
  expect(formatRule({ tool: '*', roles: [], decision: 'forbid' })).toBe('Every other tool: forbidden')
  expect(formatRule({ tool: '*', roles: [], decision: 'forbid' }, true)).toBe('Every tool: forbidden')
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
