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
