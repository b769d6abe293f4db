/** Counting approvers reads few rows, however many users a tenant has. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { countApprovers } from '#kernel/request/queries.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { countOtherAdministrators, countOthersWithRole } from './queries.ts'

const USERS = 4000
let w: TestApp
let tenant_id: string
let superuser: pg.Client

beforeAll(async () => {
  w = await startTestApp()
  tenant_id = await w.makeTenant()
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  await superuser.query(`select set_config('app.actor', 'operator:test', false)`)
  await superuser.query(
    `insert into app.user_account (tenant_id, user_id, issuer, subject, email, name, roles, origin, state, created_by)
     select $1, gen_random_uuid(), 'probity', 'user:' || n, n || '@example.com', 'A', '{viewer}', 'built_in', 'active', 'operator:test'
       from generate_series(1, $2::int) n`,
    [tenant_id, USERS],
  )
  await superuser.query('analyze app.user_account')
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const counts = {
  countOtherAdministrators: (tx: Tx) => countOtherAdministrators(tx, crypto.randomUUID()),
  countOthersWithRole: (tx: Tx) => countOthersWithRole(tx, 'compliance_officer'),
  countApprovers: (tx: Tx) => countApprovers(tx, 'compliance_officer'),
}

test.each(Object.entries(counts))('%s reads none of the users without such a role', async (_, count) => {
  const plans: string[] = []
  await w.kernel.transactions.write(fullScope(tenant_id, 'operator:test'), async (tx) => {
    const explain = async (text: string, values: readonly unknown[] = []) => {
      const rows = await tx.query<{ 'QUERY PLAN': string }>(`explain (analyze, timing off) ${text}`, values)
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      return []
    }
    await count({ ...tx, query: explain, find: async (text, values) => (await explain(text, values))[0] } as typeof tx)
  })
  expect(plans.join('\n')).toContain('user_account_approver_idx')
  expect(plans.join('\n')).not.toContain('Seq Scan on user_account')
})
