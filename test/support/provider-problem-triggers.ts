/** Requests that provoke the problems of providers. No request leaves the machine: the address is never public. */
import { uuidv7 } from '#kernel/uuid.ts'
import { registryManifest } from '#modules/providers/fixtures.ts'
import { ExampleTenant } from './example-tenant.ts'
import type { ProblemReply, ProblemTriggers } from './registry-problem-triggers.ts'
import type { TestApp } from './test-app.ts'

export function createProviderTriggers(
  getApp: () => TestApp,
  call: (...request: Parameters<TestApp['call']>) => Promise<ProblemReply>,
): ProblemTriggers {
  const connect = async (change: object, withCredential = true) => {
    const t = await ExampleTenant.create(getApp())
    const provider_key = `registry-${uuidv7().slice(-12)}`
    const manifest = registryManifest()
    const lookup = manifest.capabilities['company.lookup']
    const request = { ...lookup.request, url: 'https://192.0.2.1/companies/{input.number}' }
    const capability = { ...lookup, request, cost: { amount: '0.40', currency: 'EUR' } }
    const capabilities = { 'company.lookup': capability }
    const definition = { ...manifest, hosts: ['192.0.2.1'], capabilities, ...change }
    await t.make('POST /providers', { body: { provider_key, title: 'Registry', definition } })
    await t.make(`POST /providers/${provider_key}/versions/draft/publish`, { body: {} })
    await t.make(`POST /providers/${provider_key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
    if (withCredential) {
      const { credential_id } = await t.make('POST /provider-credentials', { body: { provider_key, label: 'Main' } })
      const path = `POST /provider-credentials/${credential_id}/versions`
      await t.make(path, { body: { members: { api_key: 'x' } } })
      await t.make(`${path}/1/activations`, { body: { reason: 'First' } })
    }
    const token = await t.token()
    return { token, test: () => call(`POST /providers/${provider_key}/test`, { token, body: {} }) }
  }
  return {
    provider_credential_missing: async () => (await connect({}, false)).test(),
    budget_reached: async () => {
      const spend_per_month = { amount: '0.10', currency: 'EUR' }
      return (await connect({ budget: { spend_per_month } })).test()
    },
    provider_limit_reached: async () => {
      const { test } = await connect({ limits: { per_second: 0.01, burst: 1 } })
      await test()
      return test()
    },
  }
}
