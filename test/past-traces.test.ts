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

test('violations of contracts are counted for each restriction of their payloads', () => {
  const restriction_id = uuidv7()
  const [open, hidden, unbroken] = [uuidv7(), uuidv7(), uuidv7()]
  const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`
  return migrateFrom(
    'restrict_traces_of_calls',
    async (client) => {
      await addTenant(client)
      await addRestriction(client, restriction_id)
      const addAdmission = (
        payload_id: string,
        second: number,
        pointers: string[],
        more: { of?: string; replaces?: string } = {},
      ) =>
        client.query(
          `insert into app.payload_admission (tenant_id, admission_id, payload_id, contract_key, contract_origin, contract_version, contract_hash,
             result, incomplete, record_count, violations, more_violations, notes, provenance, list_receipt, restriction_id, created_at,
             replaces_admission_id, created_by)
           values ($1, $2, $3, 'x', 'own', 1, repeat('a', 64), 'quarantined', false, 1, $4, 0, '[]', '{}', '[]', $5, $6, $7, 'user:1')`,
          [
            ...[tenant_id, uuidv7(), payload_id],
            JSON.stringify(
              pointers.map((pointer) => ({ code: 'x', pointer, keyword: 'enum', expected: 'x', record_index: null })),
            ),
            ...[more.of ?? null, at(second), more.replaces ?? null],
          ],
        )
      await addAdmission(open, 1, ['/items/0/a', '/items/12/a', '/b'])
      await addAdmission(hidden, 2, ['/items/3/a'], { of: restriction_id })
      // It was checked again.
      await addAdmission(hidden, 3, ['/items/3/a'], { of: restriction_id, replaces: uuidv7() })
      for (const [pointer, violations, samples] of [
        ['/items/*/a', 2, [hidden, open]],
        ['/b', 7, [unbroken]],
      ])
        await client.query(
          `insert into app.violation_group (tenant_id, contract_key, contract_version, pointer, keyword, violations, samples)
           values ($1, 'x', 1, $2, 'enum', $3, $4)`,
          [tenant_id, pointer, violations, samples],
        )
    },
    async (client) => {
      const { rows } = await client.query(
        `select pointer, restriction_id, payload_id, violations::int, samples, first_seen, last_seen from app.violation_group
          order by pointer, violations, restriction_id nulls first`,
      )
      const counted = (second: number) => ({
        first_seen: new Date(at(second)),
        last_seen: new Date(at(second)),
      })
      expect(rows).toEqual([
        {
          ...{ pointer: '/b', restriction_id: null, payload_id: unbroken, violations: 7 },
          samples: [unbroken],
          first_seen: expect.any(Date),
          last_seen: expect.any(Date),
        },
        {
          pointer: '/items/*/a',
          restriction_id: null,
          payload_id: open,
          violations: 1,
          samples: [open],
          ...counted(1),
        },
        {
          pointer: '/items/*/a',
          restriction_id,
          payload_id: hidden,
          violations: 1,
          samples: [hidden],
          ...counted(2),
        },
      ])
    },
  )
})

test('answers that are kept are hidden with everything that they name', () => {
  const [restriction_id, other, object_id] = [uuidv7(), uuidv7(), uuidv7()]
  const answer = (operation: string, id: string) => [
    tenant_id,
    operation,
    JSON.stringify({ items: [{ object_id: id }] }),
  ]
  return migrateFrom(
    'hide_answers_of_many_objects',
    async (client) => {
      await addTenant(client)
      for (const id of [restriction_id, other]) await addRestriction(client, id)
      await client.query(
        `insert into app.work_item (tenant_id, object_kind, object_id, queue_key, priority, restriction_id)
         values ($1, 'alert', $2, 'x', 'low', $3)`,
        [tenant_id, object_id, restriction_id],
      )
      for (const values of [
        answer('reassignWork', object_id),
        answer('updateAlerts', uuidv7()),
        answer('createUser', object_id),
      ])
        await client.query(
          `insert into app.idempotency (tenant_id, principal, operation, key, fingerprint, status, body, expires_at)
           values ($1, 'user:1', $2, 'x', 'x', 200, $3, now() + interval '1 day')`,
          values,
        )
    },
    async (client) => {
      const { rows } = await client.query(
        'select operation, object_named_restriction_ids as named from app.idempotency order by 1',
      )
      expect(rows).toEqual([
        { operation: 'createUser', named: [] },
        { operation: 'reassignWork', named: [restriction_id] },
        { operation: 'updateAlerts', named: [] },
      ])
    },
  )
})
