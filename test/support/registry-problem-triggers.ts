/** Requests that provoke the problems of the registry and of what is decided on it. */
import pg from 'pg'
import type { ProblemCode } from '#kernel/problem.ts'
import { ensureList, typeBody } from '#modules/reference-data/fixtures.ts'
import { ensurePolicy } from './example-policy.ts'
import { ExampleTenant } from './example-tenant.ts'
import { unprovableRule } from './small-definitions.ts'
import type { TestApp } from './test-app.ts'

/** What is looked at of an answer. */
export interface ProblemReply {
  readonly status: number
  readonly type: unknown
  readonly retry_after: unknown
  readonly body: Record<string, unknown>
}

export type ProblemTriggers = Partial<Record<ProblemCode, () => Promise<ProblemReply>>>

export function createRegistryTriggers(
  getApp: () => TestApp,
  call: (...request: Parameters<TestApp['call']>) => Promise<ProblemReply>,
): ProblemTriggers {
  let tenant: Promise<ExampleTenant> | undefined
  /** A tenant with a list of its own of which two versions exist and the second is in force. */
  const registry = async () => {
    tenant ??= ExampleTenant.create(getApp())
    const t = await tenant
    const list_key = await ensureList(t)
    return { t, list_key, token: await t.token(), path: `/reference-data/datasets/${list_key}` }
  }
  const previewDelta = (list_key: string, token: string, base_version: number) =>
    call('POST /reference-data/adapters/json/preview', {
      token,
      body: { text: '[]', delta: { list_key, base_version } },
    })
  return {
    nothing_in_force: async () => {
      const { token, list_key } = await registry()
      return call(`GET /reference-data/resolve/${list_key}?valid_at=1999-01-01T00:00:00Z`, { token })
    },
    content_unstorable: async () => {
      const { token, path } = await registry()
      return call(`POST ${path}/versions`, { token, body: { data: [{ code: 'a\u0000b' }] } })
    },
    type_violation: async () => {
      const { token, path } = await registry()
      return call(`POST ${path}/versions`, { token, body: { data: [{ code: 7 }] } })
    },
    definition_invalid: async () => {
      const { token } = await registry()
      return call('POST /reference-data/types', {
        token,
        body: { type_key: 'broken', ...typeBody(), schema: { type: 'no' } },
      })
    },
    not_analysable: async () => {
      const { token } = await registry()
      await call('POST /rules', { token, body: { rule_key: 'vast', title: 'Vast', definition: unprovableRule() } })
      return call('POST /rules/vast/versions/draft/publish', { token, body: {} })
    },
    inputs_refused: async () => {
      const { t, token } = await registry()
      const { matrix_key } = await ensurePolicy(t)
      return call('POST /evaluations', { token, body: { matrix_key } })
    },
    schedule_invalid: async () => {
      const { t, token } = await registry()
      const { matrix_key } = await ensurePolicy(t)
      const body = { name: 'Never', matrix_key, filter: {}, cron: '0 0 31 2 *', time_zone: 'UTC' }
      return call('POST /batch-evaluations/schedules', { token, body })
    },
    head_moved: async () => {
      const { token, path } = await registry()
      return call(`POST ${path}/versions`, { token, body: { data: [{ code: 'A', rating: 'low' }], expected_head: 99 } })
    },
    base_not_newest: async () => {
      const { token, list_key } = await registry()
      return previewDelta(list_key, token, 99)
    },
    base_withdrawn: async () => {
      const { t, token, path, list_key } = await registry()
      const { version } = await t.make(`POST ${path}/versions`, { body: { data: [{ code: 'Z', rating: 'low' }] } })
      await t.make(`PATCH ${path}/versions/${version}`, { body: { state: 'withdrawn', reason: 'x' } })
      return previewDelta(list_key, token, version)
    },
    base_incompatible: async () => {
      const { t, token, path, list_key } = await registry()
      const { type_key, version } = await t.make(`POST ${path}/versions`, {
        body: { data: [{ code: 'A', rating: 'low' }] },
      })
      const body = { ...typeBody(), list_rules: { max_items: 1000 } }
      await t.make(`POST /reference-data/types/${type_key}/versions`, { body })
      return previewDelta(list_key, token, version)
    },
    list_key_reserved: async () => {
      const { token } = await registry()
      const body = { list_key: 'countries', type_key: 'country', title: 'Mine' }
      return call('POST /reference-data/datasets', { token, body })
    },
    version_in_force: async () => {
      const { token, path } = await registry()
      return call(`PATCH ${path}/versions/2`, { token, body: { state: 'withdrawn', reason: 'x' } })
    },
    version_never_in_force: async () => {
      const { t, token, path } = await registry()
      const { version } = await t.make(`POST ${path}/versions`, { body: { data: [{ code: 'Z', rating: 'low' }] } })
      return call(`POST ${path}/rollback`, { token, body: { to_version: version, reason: 'x' } })
    },
    gates_closed: async () => {
      const { token, path } = await registry()
      return call(`POST ${path}/versions`, { token, body: { data: [] } })
    },
    type_incompatible: async () => {
      const { t, token, path } = await registry()
      const { type_key } = await t.make(`GET ${path}`)
      const body = { ...typeBody(), key_pointers: ['/rating'] }
      return call(`POST /reference-data/types/${type_key}/versions`, { token, body })
    },
    source_invalid: async () => {
      const { token } = await registry()
      return call('POST /reference-data/adapters/json/preview', { token, body: { text: '[{' } })
    },
    content_corrupt: async () => {
      const { token, path } = await registry()
      const client = new pg.Client(getApp().clone.postgres)
      await client.connect()
      await client.query(
        `set session_replication_role = replica; update app.dataset_entry set data = '{"code":"Z"}' where key = 'A'`,
      )
      await client.end()
      return call(`GET ${path}/versions/1`, { token })
    },
  }
}
