/** `tenant create` on a real database: all of a tenant or nothing that anybody could use, wherever it is broken off. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type World, world } from '../../../test/support/world.ts'
import { insertTenant } from '../queries.ts'
import { makeTenant } from './tenant.ts'

let w: World
let superuser: pg.Client
beforeAll(async () => {
  w = await world()
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const create = (slug: string, id?: string) => {
  const { seedContext: seeding, steward } = w
  return makeTenant({ seeding, guarded: { app: seeding.app, steward } }, { slug, name: 'Bank', id })
}

const tables = ['approval_policy', 'retention_policy', 'job_schedule', 'api_key', 'audit_event']
async function held(slug: string) {
  const { rows } = await superuser.query('select tenant_id, state from app.tenant where slug = $1', [slug])
  const [tenant] = rows
  const counts: Record<string, number> = {}
  for (const table of tenant ? tables : []) {
    const found = await superuser.query(`select 1 from app.${table} where tenant_id = $1`, [tenant.tenant_id])
    counts[table] = found.rows.length
  }
  return { tenant_id: tenant?.tenant_id, state: tenant?.state, counts }
}
const nothing = Object.fromEntries(tables.map((table) => [table, 0]))
const everything = { approval_policy: 1, retention_policy: 1, job_schedule: 2, api_key: 1, audit_event: 2 }

/** As if the process ended in the middle: PostgreSQL refuses what the command does to this table. */
async function refusing(table: string, body: () => Promise<void>): Promise<void> {
  await superuser.query(`revoke insert on app.${table} from app`)
  try {
    await body()
  } finally {
    await superuser.query(`grant insert on app.${table} to app`)
  }
}

const tokenFor = (api_key: string) => w.call('POST /auth/token', { body: { api_key } })

describe('tenant create', () => {
  test('makes all of it, and its key is good', async () => {
    const { tenant_id, api_key } = await create('whole')
    expect(await held('whole')).toEqual({ tenant_id, state: 'active', counts: everything })
    expect((await tokenFor(api_key)).status).toBe(200)
    await expect(create('whole')).rejects.toThrow('"whole" exists already')
    await expect(create('other', tenant_id)).rejects.toThrow('exists already ("whole")')
    expect((await held('whole')).counts).toEqual(everything)
  })

  test.each(tables)('broken off at %s leaves nothing of it, and goes on when it is given again', async (table) => {
    const slug = `broken-${table.replace('_', '-')}`
    await refusing(table, async () => expect(create(slug)).rejects.toThrow())
    const left = await held(slug)
    expect(left).toMatchObject({ state: 'suspended', counts: nothing })
    const { tenant_id, api_key } = await create(slug)
    expect(tenant_id).toBe(left.tenant_id)
    expect(await held(slug)).toEqual({ tenant_id, state: 'active', counts: everything })
    expect((await tokenFor(api_key)).status).toBe(200)
  })

  test('another id than that of what was left is refused, its own is taken', async () => {
    await refusing('api_key', async () => expect(create('by-id')).rejects.toThrow())
    const { tenant_id } = await held('by-id')
    await expect(create('by-id', '00000000-0000-7000-8000-00000000abcd')).rejects.toThrow('exists already')
    expect((await create('by-id', tenant_id)).tenant_id).toBe(tenant_id)
  })

  test('of two at once one makes it, and the other says so', async () => {
    await refusing('api_key', async () => expect(create('twice')).rejects.toThrow())
    const both = await Promise.allSettled([create('twice'), create('twice')])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await held('twice')).toMatchObject({ state: 'active', counts: everything })
  })

  test('a tenant that is there and active is never gone on with, however empty', async () => {
    const tenant = { tenant_id: '00000000-0000-7000-8000-00000000abce', slug: 'empty', name: 'Empty' }
    await w.steward.write({ tenant_id: tenant.tenant_id, actor: 'operator:test' }, (tx) =>
      insertTenant(tx, { ...tenant, demo: false, state: 'active' }),
    )
    await expect(create('empty')).rejects.toThrow('exists already')
    expect((await held('empty')).counts).toEqual(nothing)
  })
})
