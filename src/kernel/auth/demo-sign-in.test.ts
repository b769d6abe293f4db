import { expect, test } from 'vitest'
import { type DemoSettings, type DemoTenant, findDemoSignIn, isLoopbackHost } from './demo-sign-in.ts'

const tenants: readonly DemoTenant[] = [
  {
    tenant_id: 't',
    slug: 'demo',
    name: 'Demo',
    users: [
      { user_id: 'a', name: 'Ada', roles: ['analyst'] },
      { user_id: 's', name: 'Sven', roles: ['service'] },
    ],
  },
]
const local: DemoSettings = { demo: true, demo_remote: false, host: 'localhost', public_url: null, trusted_proxies: 0 }

test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.1.2.3', '::1', '[::1]'])('%s is this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(true)
})

test.each([
  '0.0.0.0',
  '::',
  '',
  'localhost.example',
  '127.0.0.1.example',
  '10.0.0.1',
  'xlocalhost',
  '1127.0.0.1',
  '127.999.1.1',
])('"%s" is not only this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(false)
})

test('offers the people of the demo tenants, without service accounts', () => {
  const offered = findDemoSignIn(local, tenants)
  expect(offered?.allows_remote).toBe(false)
  expect(offered?.tenants.flatMap(({ users }) => users.map(({ name }) => name))).toEqual(['Ada'])
})

test.each<[string, Partial<DemoSettings>]>([
  ['demo mode is off', { demo: false }],
  ['demo mode is off, although other machines are allowed', { demo: false, demo_remote: true }],
  ['the process serves no requests', { host: null, demo_remote: true }],
  ['the server listens on every address', { host: '0.0.0.0' }],
  ['the server listens on an address of the network', { host: '10.1.2.3' }],
  ['a proxy is trusted', { trusted_proxies: 1 }],
  ['clients reach it under another name', { public_url: 'https://demo.example.com' }],
])('offers nobody when %s', (_, change) => {
  expect(findDemoSignIn({ ...local, ...change }, tenants)).toBeNull()
})

test.each<[string, Partial<DemoSettings>]>([
  ['a public address of this machine', { public_url: 'http://localhost:8000' }],
  ['every address where other machines are allowed', { host: '0.0.0.0', demo_remote: true }],
  ['a proxy where other machines are allowed', { trusted_proxies: 1, demo_remote: true }],
])('offers people at %s', (_, change) => {
  expect(findDemoSignIn({ ...local, ...change }, tenants)).not.toBeNull()
})
