/** Migrations hide rows that were stored before their table could belong to a restriction. */
import path from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { migrate, readMigrations } from '#kernel/database/migrations.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { projectRoot } from './support/database.ts'
import { createEmptyDatabase } from './support/empty-database.ts'

/** Rows of one tenant with two restrictions, of which the second is in force, before `migration` and what follows it. */
async function withPastRows(
  migration: string,
  body: (past: {
    tenant_id: string
    restrictions: readonly [string, string]
    run(sql: string, values: readonly unknown[]): Promise<pg.QueryResult>
    migrateAll(): Promise<void>
  }) => Promise<void>,
) {
  const database = await createEmptyDatabase(migration)
  const client = new pg.Client(database.postgres)
  await client.connect()
  try {
    const tenant_id = uuidv7()
    const restrictions = [uuidv7(), uuidv7()] as const
    const run = (sql: string, values: readonly unknown[]) => client.query(sql, [...values])
    await client.query('set session_replication_role = replica')
    await run(`insert into app.tenant (tenant_id, slug, name) values ($1, 't', 'T')`, [tenant_id])
    for (const id of restrictions)
      await run(
        `insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, created_by) values ($1, $2, 'x', false, 'user:1')`,
        [tenant_id, id],
      )
    await run('insert into app.restriction_force (tenant_id, restriction_id) values ($1, $2)', [
      tenant_id,
      restrictions[1],
    ])
    const migrateAll = async () => {
      await client.query('set session_replication_role = origin')
      await migrate(database.migrator, readMigrations(path.join(projectRoot, 'db/migrations')))
    }
    await body({ tenant_id, restrictions, run, migrateAll })
  } finally {
    await client.end()
    await database.drop()
  }
}

test('approvals of tool calls belong to what their run worked on, else to what their arguments name', async () => {
  await withPastRows('hide_tool_approvals', async ({ tenant_id, restrictions, run, migrateAll }) => {
    const alerts = restrictions.map((restriction_id) => ({ alert_id: uuidv7(), restriction_id }))
    for (const { alert_id, restriction_id } of alerts)
      await run(
        `insert into app.alert (tenant_id, alert_id, source, dedup_key, dedup_scope, round, title, facts, fingerprint, facts_salt, explanation,
           priority, state, restriction_id, created_by)
         values ($1, $2, 'x', $2::uuid::text, $3, 1, 'x', '{}', repeat('a', 64), repeat('a', 32), '{}', 'low', 'new', $3, 'user:1')`,
        [tenant_id, alert_id, restriction_id],
      )
    const [first, second] = alerts.map(({ alert_id }) => alert_id)
    const store = async (given: object, outcome: object, of_run: string | null) => {
      const approval_id = uuidv7()
      await run(
        `insert into app.mcp_approval (tenant_id, approval_id, tool, operation, arguments, arguments_hash, requested_by, requested_roles, expires_at,
           state, decided_at, decided_by, outcome)
         values ($1, $2, 'x', 'x', $3, repeat('a', 32), 'user:1', '{}', now() + interval '1 day', 'succeeded', now(), 'user:2', $4)`,
        [tenant_id, approval_id, JSON.stringify(given), JSON.stringify(outcome)],
      )
      for (const restriction_id of [null, of_run])
        await run(
          `insert into app.mcp_call (tenant_id, call_id, principal, tool, arguments_hash, approval_id, request_id, duration_ms, restriction_id)
           values ($1, $2, 'user:1', 'x', repeat('a', 32), $3, $4, 0, $5)`,
          [tenant_id, uuidv7(), approval_id, uuidv7(), restriction_id],
        )
    }
    const [not_in_force, in_force] = restrictions
    await store({ alert_ids: [first, second] }, {}, null)
    await store({ subject_id: uuidv7() }, {}, not_in_force)
    await store({}, { items: [{ alert_id: first }] }, null)
    await migrateAll()
    const { rows } = await run(
      `select a.restriction_id, a.named_restriction_ids as named, (select array_agg(distinct c.restriction_id) from app.mcp_call c where c.approval_id = a.approval_id) as calls
         from app.mcp_approval a where a.tenant_id = $1 order by a.approval_id`,
      [tenant_id],
    )
    expect(rows).toEqual([
      { restriction_id: in_force, named: [in_force, not_in_force], calls: [in_force] },
      { restriction_id: not_in_force, named: [], calls: [not_in_force] },
      { restriction_id: null, named: [not_in_force], calls: [null] },
    ])
  })
})

test('runs of a plugin belong to the restriction of the provider call', async () => {
  await withPastRows('hide_plugin_runs', async ({ tenant_id, restrictions: [restriction_id], run, migrateAll }) => {
    const calls = [restriction_id, null].map((of_call) => ({ call_id: uuidv7(), of_call }))
    for (const { call_id, of_call } of calls)
      await run(
        `insert into app.provider_call (tenant_id, call_id, call_key, provider_key, provider_origin, provider_version, capability, promise, mode,
           environment, restriction_id, input, input_hash, idempotency_key, created_by)
         values ($1, $2, $2::uuid::text, 'x', 'own', 1, 'x', 'free', 'live', 'live', $3, '', repeat('a', 64), $2, 'user:1')`,
        [tenant_id, call_id, of_call],
      )
    const [restricted, open] = calls.map(({ call_id }) => call_id)
    for (const [kind, id] of [
      ['provider_call', restricted],
      ['provider_call', open],
      ['evaluation', restricted],
    ])
      await run(
        `insert into app.plugin_invocation (tenant_id, invocation_id, plugin_key, origin, version, content_hash, sandbox_hash, cause_kind, cause_id,
           items, failed, fuel_total, fuel_max, failures, invoked_by)
         values ($1, $2, 'x', 'own', 1, repeat('a', 64), repeat('a', 64), $3, $4, 1, 0, 1, 1, '[]', 'user:1')`,
        [tenant_id, uuidv7(), kind, id],
      )
    await migrateAll()
    const { rows } = await run(
      'select restriction_id from app.plugin_invocation where tenant_id = $1 order by invocation_id',
      [tenant_id],
    )
    expect(rows.map((row) => row.restriction_id)).toEqual([restriction_id, null, null])
  })
})

test('evidence belongs to the restriction of its document or call too', async () => {
  await withPastRows('hide_evidence_of_hidden_objects', async ({ tenant_id, restrictions, run, migrateAll }) => {
    const [of_owner, of_object] = restrictions
    const documents = [of_object, null].map((restriction_id) => ({ document_id: uuidv7(), restriction_id }))
    for (const { document_id, restriction_id } of documents)
      await run(
        `insert into app.document (tenant_id, document_id, title, file_name, media_type, size_bytes, state, restriction_id, created_by, updated_by)
         values ($1, $2, 'x', 'x.txt', 'text/plain', 6, 'failed', $3, 'user:1', 'user:1')`,
        [tenant_id, document_id, restriction_id],
      )
    const [restricted, open] = documents.map(({ document_id }) => document_id)
    for (const [restriction_id, object_id] of [
      [of_owner, restricted],
      [of_object, restricted],
      [null, restricted],
      [of_owner, open],
    ])
      await run(
        `insert into app.evidence_item (tenant_id, evidence_id, restriction_id, owner_kind, owner_id, kind, object_id, content_hash, obtained_at, added_by,
           erased_at)
         values ($1, $2, $3, 'alert', $2, 'document', $4, repeat('a', 64), now(), 'user:1', now())`,
        [tenant_id, uuidv7(), restriction_id, object_id],
      )
    await migrateAll()
    const { rows } = await run(
      'select restriction_id, also_restriction_id from app.evidence_item where tenant_id = $1 order by evidence_id',
      [tenant_id],
    )
    expect(rows).toEqual([
      { restriction_id: of_owner, also_restriction_id: of_object },
      { restriction_id: of_object, also_restriction_id: null },
      { restriction_id: of_object, also_restriction_id: null },
      { restriction_id: of_owner, also_restriction_id: null },
    ])
  })
})
