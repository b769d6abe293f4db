import { expect, test } from 'vitest'
import { parsePasted, parseToken } from './token.ts'

const encode = (value: unknown) => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value))))
const base64url = (value: unknown) => encode(value).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
const token = (payload: unknown) => `${base64url({ alg: 'ES256' })}.${base64url(payload)}.c2ln`

test('reads tenant, subject, roles and expiry', () => {
  const payload = { tenant_id: 'a-tenant', sub: 'Zoë ≥ ÿÿÿ?', roles: ['viewer', 'analyst'], exp: 1_800_000_000 }
  expect(parseToken(token(payload))).toEqual({
    claims: {
      tenant_id: 'a-tenant',
      subject: 'Zoë ≥ ÿÿÿ?',
      roles: ['viewer', 'analyst'],
      expires_at: new Date('2027-01-15T08:00:00Z'),
    },
  })
})

test('accepts a token without the usual claims', () => {
  expect(parseToken(token({ roles: 'viewer' }))).toEqual({
    claims: { tenant_id: null, subject: null, roles: [], expires_at: null },
  })
})

test.each([
  ['one part', 'abc', /three parts.*has 1/],
  ['five parts', 'a.b.c.d.e', /three parts.*has 5/],
  ['a payload that is not base64', 'a.*.c', /cannot be read/],
  ['a payload that is not JSON', `a.${btoa('{')}.c`, /cannot be read/],
  ['a payload that is not UTF-8', `a.${btoa('"\xff"')}.c`, /cannot be read/],
  ['a payload that is no object', token(null), /cannot be read/],
])('reports the error of %s', (_name, text, fault) => {
  expect(parseToken(text)).toEqual({ fault: expect.stringMatching(fault) })
})

test('accepts surrounding spaces and the word Bearer', () => {
  const plain = token({ sub: 'x' })
  expect(parsePasted(`  Bearer ${plain}\n`)).toEqual({ token: plain })
  expect(parsePasted('   ')).toEqual({ fault: expect.stringContaining('Paste a token') })
  expect(parsePasted('nonsense')).toEqual({ fault: expect.stringContaining('three parts') })
})

test('distinguishes an API key from a token', () => {
  expect(parsePasted(' pk_demo ')).toEqual({ api_key: 'pk_demo' })
})
