import { ProbityProblem, type ProblemCode } from '@probity/client'
import { expect, test } from 'vitest'
import {
  classifyError,
  errorTitles,
  faultsByField,
  formatLocation,
  getAdvice,
  isTransient,
  repeatsErrors,
  requiredRoles,
} from './problem-texts.ts'
import { getToolProblem } from './tool/tool-texts.ts'

type Fault = ProbityProblem['errors'][number]

const problem = (code: ProblemCode, status: number, members: Record<string, unknown> = {}, errors?: Fault[]) =>
  new ProbityProblem(
    { code, status, title: 'Title', detail: 'Do this.', retryable: false, ...(errors && { errors }) },
    { members },
  )

test.each([
  ['token_expired', 401, 'signed_out'],
  ['role_required', 403, 'forbidden'],
  ['not_found', 404, 'missing'],
  ['cursor_not_found', 404, 'missing'],
  ['revision_stale', 409, 'stale'],
  ['precondition_failed', 412, 'stale'],
  ['last_administrator', 409, 'conflict'],
  ['validation_failed', 422, 'refused'],
  ['provider_credential_missing', 424, 'credential'],
  ['plugin_invalid', 503, 'plugin'],
  ['plugin_failed', 503, 'plugin'],
  ['rate_limited', 429, 'limited'],
  ['dependency_unavailable', 503, 'busy'],
  ['internal', 500, 'fault'],
  ['unreadable_answer', 502, 'fault'],
] as const)('%s is %s: %s', (code, status, kind) => {
  expect(classifyError(problem(code, status), true)).toBe(kind)
  expect(errorTitles[kind]).not.toBe('')
  expect(getAdvice(kind, problem(code, status))).not.toBe('')
})

test('distinguishes an unreachable server from an offline browser and a broken page', () => {
  expect(classifyError(problem('unreachable', 0), true)).toBe('unreachable')
  expect(classifyError(problem('unreachable', 0), false)).toBe('offline')
  expect(classifyError(new TypeError('x is not a function'), true)).toBe('broken')
  expect(classifyError(new TypeError('failed to load a module'), false)).toBe('offline')
})

test('classifies an invalid identifier in the address as missing', () => {
  const faulty = (place: Fault['in']) =>
    problem('validation_failed', 422, {}, [{ in: place, pointer: '#/user_id', detail: 'must match' }])
  expect(classifyError(faulty('path'), true)).toBe('missing')
  expect(classifyError(faulty('query'), true)).toBe('refused')
})

test('tells a tool that is in quarantine from a plugin', () => {
  const refused = problem('plugin_invalid', 503, { kind: 'tool', server_key: 'acme-tools', tool: 'lookup_company' })
  expect(classifyError(refused, true)).toBe('tool')
  expect(getToolProblem(refused)).toEqual({ server_key: 'acme-tools', tool: 'lookup_company' })
  expect(isTransient('tool')).toBe(false)
})

test('says which plugin cannot run, and that nothing was decided without it', () => {
  const reasons = [{ code: 'disabled', message: 'Under review' }]
  const refused = problem('plugin_invalid', 503, { plugin_key: 'shell-signals', version: 2, reasons })
  expect(getAdvice('plugin', refused)).toBe(
    'The plugin shell-signals, version 2, cannot run. Nothing was decided or stored without it, and no other version was used. The reason:',
  )
  expect(isTransient('plugin')).toBe(false)
})

test('reads required roles and field errors from the problem', () => {
  expect(requiredRoles(problem('role_required', 403, { required_roles: ['auditor', 7] }))).toEqual(['auditor'])
  expect(requiredRoles(null)).toEqual([])
  const errors: Fault[] = [
    { in: 'body', pointer: '#/email', detail: 'is not an address' },
    { in: 'query', pointer: '#/limit', detail: 'too large' },
  ]
  expect(faultsByField(problem('validation_failed', 422, {}, errors))).toEqual({ email: 'is not an address' })
})

test('a detail that only repeats the errors is known', () => {
  const errors = [{ detail: 'The step is open.' }, { detail: 'The task is open.' }] as Fault[]
  expect(repeatsErrors({ detail: 'The step is open. The task is open.', errors })).toBe(true)
  expect(repeatsErrors({ detail: 'Two things are missing.', errors })).toBe(false)
  expect(repeatsErrors({ detail: 'The step is open.', errors: [] })).toBe(false)
})

test.each([
  ['#/email', 'Email'],
  ['#/upload_id', 'File'],
  ['#/rules/0/required_role', 'Rules 1, required role'],
  ['#/inputs/residence_country', 'Inputs, residence country'],
  ['#', ''],
])('names the place %s in words', (pointer, words) => {
  expect(formatLocation(pointer)).toBe(words)
})
