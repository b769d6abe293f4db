/** What a migration makes of the tenants an installation already has. */
import path from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { findIsolationFaults } from '#kernel/database/isolation.ts'
import { latestVersion, migrate, readMigrations } from '#kernel/database/migrations.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { projectRoot } from './support/database.ts'
import { createEmptyDatabase } from './support/empty-database.ts'

test('the migration marks tenants that can approve as set up, and no others', async () => {
  const migrations = readMigrations(path.join(projectRoot, 'db/migrations'))
  const target = await createEmptyDatabase('guard_activations')
  const client = new pg.Client(target.postgres)
  try {
    await client.connect()
    await client.query(`select set_config('app.actor', 'operator:test', false)`)
    const add = async (slug: string, roles: number, admins: number, revision: number) => {
      const tenant_id = uuidv7()
      await client.query(`insert into app.tenant (tenant_id, slug, name) values ($1, $2, $2)`, [tenant_id, slug])
      const rules = roles > 0 ? [{ action: 'roles', approvers: roles, role: 'tenant_admin' }] : []
      await client.query(
        `insert into app.approval_policy (tenant_id, rules, revision, updated_by) values ($1, $2, $3, 'operator:test')`,
        [tenant_id, JSON.stringify(rules), revision],
      )
      for (let n = 0; n < admins; n++) {
        const user_id = uuidv7()
        await client.query(
          `insert into app.user_account (tenant_id, user_id, issuer, subject, name, roles, origin, state, created_by)
           values ($1, $2, 'probity', $3, 'x', '{tenant_admin}', 'built_in', $4, 'operator:test')`,
          [tenant_id, user_id, `user:${user_id}`, n === 0 ? 'active' : 'inactive'],
        )
      }
    }
    await add('begins', 1, 1, 1)
    await add('two-administrators', 1, 2, 1)
    await add('stricter-than-its-people', 2, 2, 2)
    await add('strict-by-default', 2, 2, 1)
    await add('without-rules', 0, 2, 3)
    await migrate(target.migrator, migrations)
    const { rows } = await client.query(
      `select slug from app.tenant join app.approval_policy using (tenant_id) where set_up_at is not null order by slug`,
    )
    expect(rows.map(({ slug }) => slug)).toEqual(['stricter-than-its-people', 'two-administrators'])
    const known = latestVersion(migrations)
    expect(await findIsolationFaults(async (text) => (await client.query(text)).rows, known)).toEqual([])
  } finally {
    await client.end()
    await target.drop()
  }
})
