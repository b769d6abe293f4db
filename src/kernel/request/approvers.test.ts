import { describe, expect, test } from 'vitest'
import { findUnmetRules } from './approvers.ts'
import type { PrincipalRow } from './queries.ts'

const person = (name: string, roles: string[], is_active = true): PrincipalRow => ({
  principal: `user:${name}`,
  roles,
  created_by: 'operator:cli',
  is_active,
})
const key = (name: string, roles: string[], created_by: string): PrincipalRow => ({
  principal: `key:${name}`,
  roles,
  created_by,
  is_active: true,
})
const makers: Readonly<Record<string, readonly string[]>> = {
  roles: ['tenant_admin'],
  activation: ['compliance_officer', 'policy_editor'],
}
const rule = (action: string, approvers: number, role: string) => ({ action, approvers, role })
const unmet = (rules: ReturnType<typeof rule>[], principals: PrincipalRow[]) =>
  findUnmetRules(rules, principals, (action) => new Set(makers[action])).map(({ needed, available }) => [
    needed,
    available,
  ])

describe('a rule', () => {
  const [ada, bob, cleo] = ['ada', 'bob', 'cleo'].map((name) => person(name, ['tenant_admin'])) as [
    PrincipalRow,
    PrincipalRow,
    PrincipalRow,
  ]

  test('needs as many others as must approve, because its author does not', () => {
    expect(unmet([rule('roles', 2, 'tenant_admin')], [ada, bob])).toEqual([[2, 1]])
    expect(unmet([rule('roles', 2, 'tenant_admin')], [ada, bob, cleo])).toEqual([])
    expect(unmet([rule('roles', 0, 'tenant_admin')], [])).toEqual([])
  })

  test('is met when somebody may ask who would not approve anyway', () => {
    const officer = person('olga', ['compliance_officer'])
    expect(unmet([rule('activation', 1, 'compliance_officer')], [officer])).toEqual([[1, 0]])
    const editor = person('ed', ['policy_editor'])
    expect(unmet([rule('activation', 1, 'compliance_officer')], [officer, editor])).toEqual([])
    const both = person('ed', ['policy_editor', 'compliance_officer'])
    expect(unmet([rule('activation', 2, 'compliance_officer')], [officer, both])).toEqual([[2, 1]])
  })

  test('counts active people only, and no keys', () => {
    const gone = person('gone', ['tenant_admin'], false)
    const robot = key('robot', ['tenant_admin'], 'user:ada')
    expect(unmet([rule('roles', 1, 'tenant_admin')], [ada, gone])).toEqual([[1, 0]])
    expect(unmet([rule('roles', 1, 'tenant_admin')], [ada, robot])).toEqual([[1, 0]])
  })

  test('takes what a key asks for as asked for by who created it, through however many keys', () => {
    const first = key('first', ['tenant_admin'], 'user:ada')
    const second = key('second', ['tenant_admin'], 'key:first')
    expect(unmet([rule('roles', 1, 'tenant_admin')], [ada, first, second])).toEqual([[1, 0]])
    const foreign = key('foreign', ['tenant_admin'], 'operator:cli')
    expect(unmet([rule('roles', 1, 'tenant_admin')], [ada, foreign])).toEqual([])
    const circle = [key('one', ['tenant_admin'], 'key:two'), key('two', ['tenant_admin'], 'key:one')]
    expect(unmet([rule('roles', 2, 'tenant_admin')], [ada, ...circle])).toEqual([[2, 1]])
  })

  test('of which nobody could ask yet is judged by those who could approve', () => {
    expect(unmet([rule('activation', 1, 'tenant_admin')], [ada])).toEqual([])
    expect(unmet([rule('activation', 1, 'tenant_admin')], [])).toEqual([[1, 0]])
  })
})
