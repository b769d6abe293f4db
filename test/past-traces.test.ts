/** What migrations hide, or overwrite, in rows that an earlier release left about restricted objects. */
import path from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { migrate, readMigrations } from '#kernel/database/migrations.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { projectRoot } from '#test/support/database.ts'
import { createEmptyDatabase } from '#test/support/empty-database.ts'

/** A database as it was before a migration, filled without triggers, then migrated. */
async function migrateFrom(
  name: string,
  fill: (client: pg.Client) => Promise<void>,
  body: (client: pg.Client) => Promise<void>,
) {
  const database = await createEmptyDatabase(name)
  const client = new pg.Client(database.postgres)
  await client.connect()
  try {
    await client.query('set session_replication_role = replica')
    await fill(client)
    await client.query('set session_replication_role = origin')
    await migrate(database.migrator, readMigrations(path.join(projectRoot, 'db/migrations')))
    await body(client)
  } finally {
    await client.end()
    await database.drop()
  }
}

const tenant_id = uuidv7()
const addTenant = (client: pg.Client) =>
  client.query(`insert into app.tenant (tenant_id, slug, name) values ($1, 't', 'T')`, [tenant_id])
const addRestriction = (client: pg.Client, restriction_id: string) =>
  client.query(
    `insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, created_by) values ($1, $2, 'x', false, 'user:1')`,
    [tenant_id, restriction_id],
  )
const addCall = (client: pg.Client, call_id: string, restriction_id: string) =>
  client.query(
    `insert into app.provider_call (tenant_id, call_id, call_key, provider_key, provider_origin, provider_version, capability, promise, mode,
       environment, input, input_hash, idempotency_key, restriction_id, created_by)
     values ($1, $2, 'x', 'x', 'own', 1, 'x', 'free', 'fixtures', 'test', '\\x00', repeat('a', 64), $2, $3, 'user:1')`,
    [tenant_id, call_id, restriction_id],
  )

test('comments of second looks no longer name the earlier alert', () => {
  const named = `A second look disagreed with the dismissal of the earlier alert ${uuidv7()}.`
  const own = `See ${uuidv7()}`
  return migrateFrom(
    'overwrite_named_alerts',
    async (client) => {
      await addTenant(client)
      for (const text of [named, own])
        await client.query(
          `insert into app.alert_comment (tenant_id, comment_id, alert_id, text, created_by) values ($1, $2, $2, $3, 'user:1')`,
          [tenant_id, uuidv7(), text],
        )
    },
    async (client) => {
      const { rows } = await client.query('select text from app.alert_comment order by comment_id')
      const texts = rows.map(({ text }) => text)
      expect(texts).toEqual(['A second look disagreed with the dismissal of the earlier alert.', own])
    },
  )
})

test('uses of a credential are hidden with the call that they were for', () => {
  const [restriction_id, call_id] = [uuidv7(), uuidv7()]
  return migrateFrom(
    'restrict_traces_of_calls',
    async (client) => {
      await addTenant(client)
      await addRestriction(client, restriction_id)
      await addCall(client, call_id, restriction_id)
      for (const id of [call_id, uuidv7(), null])
        await client.query(
          `insert into app.credential_access (tenant_id, access_id, credential_id, version, purpose, call_id, accessed_by)
           values ($1, $2, $2, 1, 'token', $3, 'user:1')`,
          [tenant_id, uuidv7(), id],
        )
    },
    async (client) => {
      const { rows } = await client.query('select restriction_id as id from app.credential_access order by access_id')
      expect(rows).toEqual([{ id: restriction_id }, { id: null }, { id: null }])
    },
  )
})
