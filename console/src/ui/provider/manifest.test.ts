import { expect, test } from 'vitest'
import { listContractKeys, parseManifest, toInputFaults } from './manifest.ts'

const order = { contract_key: 'orders', request: { method: 'POST', url: 'https://a.example/orders' } }

test('reads what a capability promises from its declaration', () => {
  const { capabilities, kind } = parseManifest({
    capabilities: {
      a: { ...order, safe: true },
      b: { ...order, idempotency_header: 'Idempotency-Key' },
      c: { ...order, cost: { amount: '0.40', currency: 'EUR' } },
    },
  })
  expect(kind).toBe('http')
  expect(capabilities.map(({ promise }) => promise)).toEqual(['free', 'keyed', 'once'])
  expect(capabilities[2]).toMatchObject({ cost: '0.40 EUR', request: 'POST https://a.example/orders' })
})

test('takes the key of an entry for look-ups in a list', () => {
  const { capabilities } = parseManifest({ kind: 'builtin', capabilities: { look: { list_key: 'countries' } } })
  expect(capabilities[0]).toMatchObject({ promise: 'free', list_key: 'countries', input: { required: ['key'] } })
})

test('reads the tool server or the plugin that answers for a provider', () => {
  const called = parseManifest({ kind: 'mcp', server_key: 'acme-tools', capabilities: { look: { tool: 'lookup' } } })
  expect(called).toMatchObject({ kind: 'mcp', server_key: 'acme-tools', plugin_key: null })
  expect(called.capabilities[0]).toMatchObject({ tool: 'lookup', promise: 'once' })
  expect(parseManifest({ kind: 'plugin', plugin_key: 'soap' })).toMatchObject({ kind: 'plugin', plugin_key: 'soap' })
  expect(parseManifest({ kind: 'http', server_key: 'x', plugin_key: 'y' })).toMatchObject({
    server_key: null,
    plugin_key: null,
  })
})

test('shows a draft of any shape', () => {
  for (const text of [{}, { capabilities: [] }, { capabilities: { a: null }, hosts: 1, auth: 'x', fixtures: {} }]) {
    expect(() => parseManifest(text)).not.toThrow()
  }
})

test('names each contract once', () => {
  expect(listContractKeys(parseManifest({ capabilities: { a: order, b: order, c: {} } }))).toEqual(['orders'])
})

test('errors of an input are found by the member, also where they are about its value', () => {
  const errors = [
    { pointer: '#/with/input/register_number/value', detail: 'Too long.' },
    { pointer: '#/with/capability', detail: 'Unknown.' },
  ]
  expect(toInputFaults(errors, '#/with/input/')).toEqual({ register_number: 'Too long.' })
  expect(toInputFaults([{ pointer: '#/input/number', detail: 'Too long.' }])).toEqual({ number: 'Too long.' })
})
