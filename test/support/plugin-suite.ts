/** What the suites of plugins share: an app whose operator allows hosts, and the operations on plugins in short. */
import pg from 'pg'
import { expect } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { PLUGIN_CHECK } from '#modules/plugins/check-job.ts'
import { companyPayload, companyRecord } from './company-registry.ts'
import { createExamplePlugin, createSimplePlugin } from './example-plugin.ts'
import { ExampleTenant } from './example-tenant.ts'
import { type Reply, startTestApp } from './test-app.ts'

/** The list that the example plugin looks up. */
export const LIST = 'jurisdiction-risk'

export const codesOf = ({ json }: Reply): string[] => json.reasons.map(({ code }: { code: string }) => code)

export function expectInvalid(reply: Reply, plugin_key: string, codes: readonly string[]): void {
  expect([reply.status, reply.json.code, codesOf(reply)]).toEqual([503, 'plugin_invalid', codes])
  expect(reply.json).toMatchObject({ plugin_key, version: 1, retryable: false })
  expect(reply.headers['retry-after']).toBeUndefined()
  expect(reply.json.detail).toContain(plugin_key)
}

export async function startPluginSuite() {
  const w = await startTestApp({
    plugin_policy: { hosts: ['*.registry.example'], publishers: new Map(), requires_signature: false },
  })
  const t = await ExampleTenant.create(w)
  const owner = new pg.Client(w.clone.postgres)
  await owner.connect()
  let number = 0
  const newKey = () => `plugin-${++number}`
  const call = async (at: string, body?: unknown): Promise<Reply> =>
    w.call(at, { token: await t.token(), ...(body !== undefined && { body }) })
  const upload = (plugin_key: string, content: object) => call('POST /plugins', { plugin_key, package: content })
  const activate = (plugin_key: string, version: number) =>
    call(`POST /plugins/${plugin_key}/activations`, { version, reason: 'Reviewed' })
  const grant = (plugin_key: string, lists: readonly string[], hosts: readonly string[] = []) =>
    call(`PUT /plugins/${plugin_key}/grants`, { lists, hosts, reason: 'Reviewed' })
  return {
    w,
    t,
    newKey,
    call,
    upload,
    activate,
    grant,
    scope: () => fullScope(t.tenant_id, 'operator:test'),
    uploadVersion: (plugin_key: string, content: object) =>
      call(`POST /plugins/${plugin_key}/versions`, { package: content }),
    run: (plugin_key: string, version: number | string = 1, input: unknown = { country: 'AE', directors: 1 }) =>
      call(`POST /plugins/${plugin_key}/versions/${version}/run`, { input }),
    /** An active plugin that needs no grant. */
    createActive: async (): Promise<string> => {
      const plugin_key = newKey()
      await upload(plugin_key, createSimplePlugin(plugin_key))
      expect((await activate(plugin_key, 1)).status).toBe(201)
      return plugin_key
    },
    /** An active plugin that looks up a list. */
    createListReader: async (): Promise<string> => {
      const plugin_key = newKey()
      await upload(plugin_key, createExamplePlugin(plugin_key))
      await grant(plugin_key, [LIST])
      expect((await activate(plugin_key, 1)).status).toBe(201)
      return plugin_key
    },
    runCheck: async (): Promise<void> => {
      const job = await t.write((tx) => w.kernel.jobs.enqueue(tx, { kind: PLUGIN_CHECK, payload: {} }))
      expect(await t.runToEnd(job)).toMatchObject({ state: 'succeeded' })
    },
    /** Runs SQL as the owner of the tables with triggers disabled, as tampering in the database would. */
    asOwner: async (sql: string, values: readonly unknown[]): Promise<void> => {
      await owner.query('set session_replication_role = replica')
      const { rowCount } = await owner.query(sql, [...values])
      await owner.query('set session_replication_role = origin')
      expect(rowCount).toBeGreaterThan(0)
    },
    owner,
    close: async () => {
      await owner.end()
      await w.close()
    },
  }
}

export type PluginSuite = Awaited<ReturnType<typeof startPluginSuite>>

/** A provider whose payloads a contract judges. */
export function createProviderPlugin(plugin_key: string, contract_key: string) {
  const payloads = ['active', 'dissolved', 'dormant'].map((status, index) =>
    companyPayload([companyRecord(index + 1, { status })]),
  )
  return {
    manifest: {
      plugin_key,
      version: '1.0.0',
      kind: 'provider',
      api: 1,
      entry: 'main.js',
      title: 'Registry look-up',
      inputs: { type: 'object', required: ['number'], properties: { number: { type: 'string' } } },
      contract_key,
      permissions: { hosts: ['api.registry.example'] },
      examples: payloads.map((output, index) => ({
        name: `company ${index + 1}`,
        input: { number: String(index) },
        request: { method: 'GET', url: `https://api.registry.example/${index}` },
        response: { status: 200, headers: {}, body: output },
        output,
      })),
    },
    files: {
      'main.js': `export const request = ({ number }) => ({ method: 'GET', url: 'https://api.registry.example/' + number })
export const parse = (response) => response.body
`,
    },
  }
}
