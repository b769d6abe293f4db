import fs from 'node:fs'
import { ProbityProblem } from '@probity/client'
import { expect, test } from 'vitest'
import { formatOperation } from '../format.ts'
import {
  type CredentialGap,
  describeBlocked,
  describeCallState,
  describeFault,
  describeTest,
  formatMember,
  getBudgetColor,
  getMissingCredentials,
  parseCallFailure,
  sumCosts,
  toGapTarget,
  toPercentUsed,
} from './provider-texts.ts'

const gap: CredentialGap = {
  provider_key: 'company-registry',
  credential_key: 'company-registry',
  environment: 'live',
  reason: 'absent',
  credential_id: null,
  label: null,
  members: ['api_key'],
  capabilities: ['company.lookup'],
  blocked_since: '2026-01-01T00:00:00Z',
}

const createProblem = (missing: unknown) =>
  new ProbityProblem(
    { status: 424, code: 'provider_credential_missing', title: 'Missing', detail: '', retryable: false },
    { members: { missing } },
  )

test('what needs a provider is described in words, never by the name of its operation', () => {
  const files = fs.readdirSync('src/modules', { recursive: true, encoding: 'utf8' })
  const routes = files
    .filter((file) => file.endsWith('routes.ts'))
    .flatMap((file) => fs.readFileSync(`src/modules/${file}`, 'utf8').split(/tenantRoute\(/))
  const operations = routes.flatMap((text) =>
    text.includes("needs: 'provider'") ? (/id: '(\w+)'/.exec(text)?.slice(1) ?? []) : [],
  )
  expect(operations.length).toBeGreaterThan(8)
  expect(operations.filter((id) => describeBlocked(id) === formatOperation(id).toLowerCase())).toEqual([])
})

test('reads every credential that a problem names, and nothing else', () => {
  expect(getMissingCredentials(createProblem([gap, { ...gap, reason: 'expired' }]))).toHaveLength(2)
  expect(getMissingCredentials(createProblem([null, 'x', { reason: 'unheard-of' }]))).toEqual([])
  expect(getMissingCredentials(createProblem(undefined))).toEqual([])
  expect(getMissingCredentials(null)).toEqual([])
})

test('says that a person entered the answer, not that the provider answered', () => {
  expect(describeCallState('quarantined', 'person')).toMatch(/^A person entered the answer, and it breaks/)
  expect(describeCallState('answered', 'person')).toBe('A person entered the answer.')
  expect(describeCallState('quarantined', 'provider')).toMatch(/^The provider answered, but/)
  expect(describeCallState('outcome_unknown', null)).toMatch(/^The request may have reached the provider/)
})

test('says that a test in another mode than live did not call the provider', () => {
  expect(describeTest('answered', 'live')).toBe('The provider answered')
  for (const mode of ['recorded', 'fixtures'] as const) {
    for (const outcome of ['answered', 'quarantined', 'failed'] as const) {
      expect(describeTest(outcome, mode)).toMatch(/; the provider was not called$/)
    }
  }
})

test('leads to the credential, or to the form for a new one', () => {
  expect(toGapTarget(gap)).toEqual({
    to: '/provider-credentials',
    search: { new: 'company-registry', environment: 'live' },
  })
  expect(toGapTarget({ ...gap, credential_id: 'c1' })).toEqual({ to: '/provider-credentials/c1', search: {} })
})

test('leads to the credential of the tool server that a provider uses', () => {
  const ofServer = { ...gap, provider_key: 'acme-registry', credential_key: 'mcp/acme-tools' }
  expect(toGapTarget(ofServer).search).toEqual({ new: 'mcp/acme-tools', environment: 'live' })
})

test('shows a budget as a share that never exceeds the limit', () => {
  expect(toPercentUsed(5, 20)).toBe(25)
  expect(toPercentUsed('30.00', '20.00')).toBe(100)
  expect(toPercentUsed(5, null)).toBeNull()
  expect([79, 80, 100].map(getBudgetColor)).toEqual(['teal', 'orange', 'red'])
})

test('adds costs by currency without rounding errors', () => {
  expect(sumCosts(['0.10 EUR', '0.20 EUR', null])).toBe('0.30 EUR')
  expect(sumCosts(['1.00 EUR', '2.50 USD'])).toBe('1.00 EUR, 2.50 USD')
  expect(sumCosts([null])).toBeNull()
})

test('words faults and members', () => {
  expect(describeFault('dns_failed')).toBe('The name of the host was not found.')
  expect(describeFault('new_word')).toBe('New word.')
  expect(describeFault('token_dns_failed')).toContain('token endpoint: The name of the host was not found.')
  expect(formatMember('api_key')).toBe('API key')
  expect(formatMember('client_id')).toBe('Client ID')
})

test('reads from the sentence of a job which call failed and why', () => {
  const sentence = 'The call of extract.order at larkfield-register ended without an answer: connect_failed.'
  expect(parseCallFailure(sentence)).toEqual({
    capability: 'extract.order',
    provider_key: 'larkfield-register',
    fault: 'connect_failed',
  })
  expect(parseCallFailure(sentence.replace(/\.$/, ' at page 2.'))).toMatchObject({ fault: 'connect_failed' })
  expect(parseCallFailure('The file is empty.')).toBeNull()
})
