/** No value of an input changes the host, the path depth, the parameters or the headers of a request, or reaches a credential. */
import { describe, expect, test } from 'vitest'
import { CredentialNotUsable, fillCredentials, toStoredRequest } from './fill-credentials.ts'
import type { Auth, HttpCapability } from './manifest.ts'
import { InputNotRenderable, renderRequest } from './render-request.ts'

const capability: Pick<HttpCapability, 'request' | 'idempotency_header'> = {
  idempotency_header: 'Idempotency-Key',
  request: {
    method: 'POST',
    url: 'https://api.acme.example/v2/companies/{input.value}/officers-{input.value}',
    query: { country: '{input.value}', fixed: 'a b', prefix: 'x-{input.value}', absent: '{input.absent}' },
    headers: {
      Accept: 'application/json',
      'X-Value': '{input.value}',
      'X-Absent': 'a-{input.absent}',
      'X-Tenant': 'k={credential.tenant}',
    },
    body: {
      json: { value: '{input.value}', list: ['{input.value}', 1], text: 'is {input.value}!', none: '{input.absent}' },
    },
  },
}
const auth: Auth = { kind: 'header', name: 'X-Api-Key', value: 'Key {credential.api_key}' }

/** Values that break out of a place where they are inserted without encoding. */
const hostile: readonly string[] = [
  '../admin',
  '..%2fadmin',
  '..\\admin',
  '/',
  '//',
  '//evil.example',
  '/../../..',
  '%2e%2e',
  '%2E%2E%2F',
  '%00',
  '%0d%0a',
  'a/b/c',
  'a\\b',
  '?admin=true',
  '&admin=true',
  '#fragment',
  '#',
  '?',
  '&',
  '=',
  ';a=b',
  '@evil.example',
  'user:pass@evil.example',
  ':8443',
  'https://evil.example/',
  'https:evil.example',
  '.evil.example',
  '+',
  ' ',
  '%',
  '%zz',
  '"',
  "'",
  '","admin":true,"x":"',
  '{input.value}',
  '{credential.api_key}',
  '{{credential.api_key}}',
  '{{access_token}}',
  '$\u007b7*7}',
  '<script>',
  '__proto__',
  '...',
  '.…',
  '①②⑦',
  '\u202e',
  'é',
  '日本',
  '😀',
]
/** Values that no encoding makes safe: they are refused. */
const refused: readonly string[] = [
  '',
  '.',
  '..',
  'a\r\nX-Injected: 1',
  'a\nb',
  'a\rb',
  '\0',
  '\u0085',
  '\u007f',
  '\ud800',
  'a\tb',
]
const isAscii = (value: string) => /^[\x20-\x7e]*$/.test(value)

const withoutHeader = {
  ...capability,
  request: { ...capability.request, headers: { 'X-Tenant': 'k={credential.tenant}' } },
}

describe('hostile values', () => {
  test('at least 40 stay inside their place, and arrive unchanged', () => {
    expect(hostile.length).toBeGreaterThanOrEqual(40)
    for (const value of hostile) {
      const used = isAscii(value) ? capability : withoutHeader
      const rendered = renderRequest({ auth }, used, { value })
      const url = new URL(rendered.url)
      expect(url.href, value).toBe(rendered.url)
      expect([url.protocol, url.host, url.username, url.hash], value).toEqual(['https:', 'api.acme.example', '', ''])
      const segments = url.pathname.split('/')
      expect(segments, value).toHaveLength(5)
      expect(segments.map(decodeURIComponent), value).toEqual(['', 'v2', 'companies', value, `officers-${value}`])
      const parameters = [...url.search.slice(1).split('&')].map((each) => each.split('=').map(decodeURIComponent))
      expect(parameters, value).toEqual([
        ['country', value],
        ['fixed', 'a b'],
        ['prefix', `x-${value}`],
      ])
      expect(JSON.parse(rendered.body as string), value).toEqual({
        value,
        list: [value, 1],
        text: `is ${value}!`,
      })
      const ready = fillCredentials(rendered, { members: { tenant: 'T', api_key: 'SECRET' } })
      const names = isAscii(value) ? ['accept', 'x-value', 'x-tenant'] : ['x-tenant']
      expect(Object.keys(ready.headers), value).toEqual([...names, 'content-type', 'x-api-key'])
      if (isAscii(value)) expect(ready.headers['x-value']).toBe(value)
      expect(JSON.stringify({ ...ready.headers, 'x-api-key': '' }) + ready.url + ready.body, value).not.toContain(
        'SECRET',
      )
      expect(JSON.stringify(toStoredRequest(rendered)), value).not.toContain('SECRET')
    }
  })

  test('those that cannot be encoded are refused by the name of the input, never with the value', () => {
    for (const value of refused) {
      const render = () => renderRequest({}, withoutHeader, { value })
      expect(render, JSON.stringify(value)).toThrow(InputNotRenderable)
      expect(render).toThrow('The input value cannot be used in the path of the request.')
    }
    for (const value of ['é', '日本', 'a\tb', 'a\r\nb']) {
      const request = { method: 'GET', url: 'https://a.example/', headers: { 'x-value': '{input.value}' } } as const
      expect(() => renderRequest({}, { request }, { value }), value).toThrow('cannot be used in a header')
    }
  })

  test('those that make the URL too long are refused by the name of the longest', () => {
    const request = {
      method: 'GET',
      url: 'https://a.example/{input.short}',
      query: { a: '{input.long}', b: '{input.absent}' },
    } as const
    const render = (long: string) => renderRequest({}, { request }, { short: 'x', long })
    expect(render('é'.repeat(1300)).url.length).toBeLessThan(8192)
    expect(() => render('é'.repeat(2000))).toThrow(
      'The input long cannot be used in the URL of the request: the URL would have 12022 characters, and 8192 are allowed.',
    )
  })

  test('a form holds each value as one field', () => {
    const request = {
      method: 'POST',
      url: 'https://a.example/',
      body: { form: { value: '{input.value}', absent: '{input.absent}', fixed: '1' } },
    } as const
    for (const value of hostile) {
      const { body, headers } = renderRequest({}, { request }, { value })
      expect([...new URLSearchParams(body as string)], value).toEqual([
        ['value', value],
        ['fixed', '1'],
      ])
      expect(headers['content-type']).toEqual(['application/x-www-form-urlencoded'])
    }
  })
})

describe('a request', () => {
  test('keeps the type of numbers and truth values in JSON, and leaves out what is absent', () => {
    const request = {
      method: 'POST',
      url: 'https://a.example',
      body: { json: { n: '{input.n}', b: '{input.b}', deep: [{ none: '{input.none}' }], fixed: null } },
    } as const
    const { body, url } = renderRequest({}, { request }, { n: 5, b: false })
    expect(JSON.parse(body as string)).toEqual({ n: 5, b: false, deep: [{}], fixed: null })
    expect(url).toBe('https://a.example/')
  })

  test('carries the idempotency key where the capability names a header for it', () => {
    const { headers } = renderRequest({}, capability, { value: 'v' }, { idempotency_key: 'k-1' })
    expect(headers['idempotency-key']).toEqual(['k-1'])
    const { idempotency_header: _, ...plain } = capability
    const without = renderRequest({}, plain, { value: 'v' }, { idempotency_key: 'k-1' })
    expect(Object.keys(without.headers)).not.toContain('idempotency-key')
  })

  test('reads own members of the input only', () => {
    const request = { method: 'GET', url: 'https://a.example/', query: { a: '{input.constructor}' } } as const
    expect(renderRequest({}, { request }, {}).url).toBe('https://a.example/')
  })
})

describe('credentials', () => {
  const request = { method: 'GET', url: 'https://a.example/' } as const
  const render = (auth: Auth) => renderRequest({ auth }, { request }, {})

  test('are filled in by the kind of authentication, and placeholders in the ledger', () => {
    const members = new Map([
      ['username', Buffer.from('ada')],
      ['password', Buffer.from('p:ß')],
      ['api_key', Buffer.from('k')],
      ['certificate', Buffer.from('CERT')],
      ['private_key', Buffer.from('KEY')],
    ])
    const basic = render({ kind: 'basic' })
    expect(fillCredentials(basic, { members }).headers['authorization']).toBe(
      `Basic ${Buffer.from('ada:p:ß').toString('base64')}`,
    )
    expect(toStoredRequest(basic).headers).toEqual({
      authorization: 'Basic {{credential.username}}:{{credential.password}}',
    })
    const header = render(auth)
    expect(fillCredentials(header, { members }).headers).toEqual({ 'x-api-key': 'Key k' })
    expect(toStoredRequest(header).headers).toEqual({ 'x-api-key': 'Key {{credential.api_key}}' })
    const bearer = render({ kind: 'oauth2_client_credentials', token_url: 'https://a.example/token' })
    expect(fillCredentials(bearer, { access_token: 't' }).headers).toEqual({ authorization: 'Bearer t' })
    expect(toStoredRequest(bearer).headers).toEqual({ authorization: 'Bearer {{access_token}}' })
    expect(fillCredentials(render({ kind: 'mtls' }), { members })).toMatchObject({
      headers: {},
      client_certificate: { cert: 'CERT', key: 'KEY' },
    })
    expect(fillCredentials(render({ kind: 'none' }), {}).headers).toEqual({})
  })

  test('that are missing or cannot be sent are named without their value', () => {
    const fill = (kind: Auth, members: Record<string, string>) => () => fillCredentials(render(kind), { members })
    expect(fill(auth, {})).toThrow('The member api_key of the credential is missing.')
    expect(fill(auth, { api_key: 'a\r\nX: 1' })).toThrow(CredentialNotUsable)
    expect(fill(auth, { api_key: 'a\r\nX: 1' })).not.toThrow('X: 1')
    expect(fill({ kind: 'basic' }, { username: 'a:b', password: 'c' })).toThrow('holds a colon')
    expect(fill({ kind: 'oauth2_client_credentials', token_url: 'https://a.example/' }, {})).toThrow('access_token')
  })
})
