import type { IncomingHttpHeaders } from 'node:http'
import { expect, test } from 'vitest'
import { Problem } from '../problem.ts'
import { assertDemoCaller } from './demo-caller.ts'

const PUBLIC_URL = 'https://demo.example.com'

function refusalOf(headers: IncomingHttpHeaders, allows_remote = false, public_url: string | null = null): string {
  try {
    assertDemoCaller(headers, { allows_remote }, public_url)
    return 'none'
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
}

test.each<[string, IncomingHttpHeaders]>([
  ['a program on this machine', { host: 'localhost:8000' }],
  ['a program that uses the address', { host: '127.0.0.1' }],
  ['a program that uses IPv6', { host: '[::1]:8000' }],
  [
    'a page of this server',
    { host: 'localhost:8000', origin: 'http://localhost:8000', 'sec-fetch-site': 'same-origin' },
  ],
  ['an address typed into the browser', { host: 'localhost:8000', 'sec-fetch-site': 'none' }],
])('accepts %s', (_, headers) => {
  expect(refusalOf(headers)).toBe('none')
})

test.each<[string, IncomingHttpHeaders]>([
  ['a name that an attacker lets resolve to this machine', { host: 'attacker.example:8000' }],
  ['a name that only begins like this machine', { host: 'localhost.attacker.example' }],
  ['an address that is none', { host: '127.999.1.1:8000' }],
  ['no host at all', {}],
  ['a page of another site', { host: 'localhost:8000', origin: 'https://attacker.example' }],
  ['a page on another port of this machine', { host: 'localhost:8000', origin: 'http://localhost:3000' }],
  ['a page without an origin of its own', { host: 'localhost:8000', origin: 'null' }],
  ['a request that the browser marks as cross-site', { host: 'localhost:8000', 'sec-fetch-site': 'cross-site' }],
  ['a request that the browser marks as same-site', { host: 'localhost:8000', 'sec-fetch-site': 'same-site' }],
  ['a request that a proxy forwarded', { host: 'localhost:8000', 'x-forwarded-for': '203.0.113.9' }],
  ['a request that a proxy forwarded, in the standard header', { host: 'localhost', forwarded: 'for=203.0.113.9' }],
  ['a request that passed a gateway', { host: 'localhost', via: '1.1 gateway' }],
])('refuses %s', (_, headers) => {
  expect(refusalOf(headers)).toBe('not_found')
})

test.each([
  ...['for', 'host', 'proto', 'port', 'server', 'prefix', 'client-cert', 'scheme', 'ssl'].map(
    (it) => `x-forwarded-${it}`,
  ),
  ...[
    'x-real-ip',
    'x-client-ip',
    'x-cluster-client-ip',
    'x-original-host',
    'x-original-forwarded-for',
    'x-proxyuser-ip',
  ],
  ...[
    'cf-connecting-ip',
    'cf-ray',
    'cdn-loop',
    'true-client-ip',
    'fastly-client-ip',
    'client-ip',
    'x-envoy-external-address',
  ],
  ...['fly-client-ip', 'do-connecting-ip', 'incap-client-ip', 'x-sucuri-clientip', 'x-nginx-proxy', 'x-scheme'],
  ...['ngrok-trace-id', 'x-via', 'x-request-start', 'tailscale-user-login', 'remote-addr', 'any-client-ip'],
  ...['x-amzn-trace-id', 'x-azure-clientip', 'x-rewrite-url', 'wl-proxy-client-ip', 'x-host'],
])('refuses a request with the proxy header %s', (name) => {
  expect(refusalOf({ host: 'localhost:8000', [name]: 'anything' })).toBe('not_found')
  expect(refusalOf({ host: 'demo.example.com', [name]: 'anything' }, true)).toBe('none')
})

test('accepts headers of browsers, scripts and tracing that no proxy adds', () => {
  const headers = {
    'x-request-id': 'a',
    traceparent: '00-a-b-00',
    'x-requested-with': 'fetch',
    'cache-control': 'no-cache',
  }
  expect(refusalOf({ host: 'localhost:8000', ...headers })).toBe('none')
})

test.each<[string, IncomingHttpHeaders, string]>([
  ['accepts another machine', { host: 'demo.example.com' }, 'none'],
  ['accepts a proxy', { host: 'internal:8000', 'x-forwarded-for': '203.0.113.9' }, 'none'],
  ['accepts a page under the public address', { host: 'internal:8000', origin: PUBLIC_URL }, 'none'],
  ['refuses a page of another site', { host: 'demo.example.com', origin: 'https://attacker.example' }, 'not_found'],
  [
    'refuses what the browser marks as cross-site',
    { host: 'demo.example.com', 'sec-fetch-site': 'cross-site' },
    'not_found',
  ],
])('where other machines are allowed: %s', (_, headers, refusal) => {
  expect(refusalOf(headers, true, PUBLIC_URL)).toBe(refusal)
})
