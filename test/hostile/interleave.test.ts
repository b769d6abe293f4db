/** The quick form of `npm run acceptance -- tenant-interleaving`: two thousand requests of ten tenants on two connections to the database. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COUNT_STRAY_USERS_SQL, runInterleavedRequests } from '../acceptance/fuzz/interleaved-requests.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const SEED = 20_261_115

let w: TestApp
beforeAll(async () => {
  w = await startTestApp({ pool_size: 2 })
})
afterAll(() => w.close())

async function seedTenant() {
  const tenant = await ExampleTenant.create(w)
  const { tenant_id } = tenant
  const marker = `zq${tenant_id.slice(-8)}`
  const token = await w.token({ tenant_id, name: marker })
  const user_ids: string[] = []
  for (let n = 0; n < 3; n++) {
    const body = { name: `${marker} ${n}`, email: `${n}@${marker}.example`, team: marker, roles: ['viewer'] }
    user_ids.push((await w.call('POST /users', { token, body })).json.user_id)
  }
  return { tenant_id, marker, user_ids, tokens: [token] }
}

test('no tenant gets a byte of another while requests are aborted', async () => {
  const tenants = []
  for (let n = 0; n < 10; n++) tenants.push(await seedTenant())
  const result = await runInterleavedRequests({
    base: await w.listen(),
    seed: SEED,
    requests: 2000,
    tenants,
    at_once: 16,
  })
  expect(result.findings).toEqual([])
  expect(result.faults).toBe(0)
  expect(result.broken_off).toBeGreaterThan(50)
  expect(result.own_markers).toBeGreaterThan(1000)
  const admin = new pg.Client(w.clone.postgres)
  await admin.connect()
  const { rows } = await admin.query(COUNT_STRAY_USERS_SQL)
  await admin.end()
  expect(rows).toEqual([{ strayed: 0 }])
})
