import fs from 'node:fs'
import path from 'node:path'
import { ProbityProblem } from '@probity/client'
import { expect, test } from 'vitest'
import { formatOperation } from '../format.ts'
import {
  describeOperation,
  describeOperations,
  describeReason,
  formatPluginValue,
  formatReasonPlace,
  getCausePage,
  getDependentPage,
  getPluginProblem,
} from './plugin-texts.ts'

const problem = (code: 'plugin_invalid' | 'plugin_failed' | 'overloaded', members: Record<string, unknown>) =>
  new ProbityProblem(
    { code, status: 503, title: 'Title', detail: 'It divided by zero.', retryable: false },
    { members },
  )

/** Read as text, because the console imports nothing of the server. */
const server = fs.readFileSync(path.join(import.meta.dirname, '../../../../src/plugin/reasons.ts'), 'utf8')
const reasonCodes = [...server.slice(0, server.indexOf('] as const')).matchAll(/^ {2}'([a-z_]+)',$/gm)].map(
  ([, code = '']) => code,
)

test('finds the 26 kinds of reason', () => {
  expect(reasonCodes).toHaveLength(26)
})

test.each(reasonCodes)('says %s in words of its own', (code) => {
  expect(describeReason(code)).not.toBe(code)
  expect(describeReason(code).toLowerCase()).not.toBe(code.replaceAll('_', ' '))
})

test('says in words of the console what each operation does that runs plugins', () => {
  const modules = path.join(import.meta.dirname, '../../../../src/modules')
  const files = fs
    .readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((name) => /routes\.ts$/.test(name))
  const routes = files.flatMap((name) => fs.readFileSync(path.join(modules, name), 'utf8').split('tenantRoute('))
  const ids = routes.flatMap((route) =>
    route.includes('runs_plugins_of:') ? (/ id: '(\w+)'/.exec(route)?.[1] ?? []) : [],
  )
  // Those of matrices and rules are built by factories.
  ids.push('simulateRiskMatrixVersion', 'testRiskMatrixVersion', 'startRiskMatrixBacktest')
  expect(ids.length).toBeGreaterThan(20)
  expect(ids.filter((id) => describeOperation(id) === formatOperation(id))).toEqual([])
})

test('says what is refused in one sentence, and values of a plugin without JSON', () => {
  expect(describeOperations([])).toBe('Ends failed')
  expect(describeOperations(['createEvaluation', 'reevaluateEvaluation'])).toBe('Evaluate a subject, re-evaluate')
  expect(formatPluginValue(['NO_EMPLOYEES', 'SHARED_ADDRESS'])).toBe('NO_EMPLOYEES, SHARED_ADDRESS')
  expect(formatPluginValue({ share_bps: 4000, is_small: true })).toBe('share bps 4000; is small yes')
})

test('names the place of a reason in the source and in the manifest', () => {
  expect(formatReasonPlace({ line: 3 })).toBe('line 3 of the source')
  expect(formatReasonPlace({ pointer: '/inputs/type' })).toBe('/inputs/type of the manifest')
  expect(formatReasonPlace({ line: 2, pointer: '/examples/0' })).toBe(
    'line 2 of the source, /examples/0 of the manifest',
  )
  expect(formatReasonPlace({ pointer: '', line: 0 })).toBeNull()
})

test('reads the plugin and its reasons from a problem', () => {
  const reasons = [{ code: 'disabled', message: 'Under review' }, 'nonsense']
  expect(getPluginProblem(problem('plugin_invalid', { plugin_key: 'signals', version: 2, reasons }))).toEqual({
    plugin_key: 'signals',
    version: 2,
    reasons: [{ code: 'disabled', message: 'Under review' }],
  })
  expect(getPluginProblem(problem('plugin_failed', { plugin_key: 'signals', version: 2, reason: 'threw' }))).toEqual({
    plugin_key: 'signals',
    version: 2,
    reasons: [{ code: 'threw', message: 'It divided by zero.' }],
  })
  expect(getPluginProblem(problem('overloaded', { plugin_key: 'signals' }))).toBeNull()
  expect(getPluginProblem(null)).toBeNull()
})

test('links what runs a plugin and what it was run for', () => {
  expect(getDependentPage({ kind: 'matrix', key: 'customer-risk' })).toBe('/matrices/customer-risk')
  expect(getDependentPage({ kind: 'unheard-of', key: 'a' })).toBeUndefined()
  expect(getCausePage({ kind: 'batch', id: '1' })).toBe('/batches/1')
  expect(getCausePage({ kind: 'evaluation', id: null })).toBeUndefined()
  expect(describeOperation('createEvaluation')).toBe('Evaluate a subject')
})
