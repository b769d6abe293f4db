/** A server that takes no writes, as after a switch-over: reads continue, writes get a retryable error, and no restart is needed. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { Problem } from '#kernel/problem.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let superuser: pg.Client
let token: string
beforeAll(async () => {
  w = await startTestApp()
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  token = await w.token()
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const createUser = (email: string) => w.call('POST /users', { token, body: { name: 'x', email, roles: [] } })
const database = () => `"${w.clone.app.database}"`

test('writes get 503 with Retry-After, and succeed in the same process once the server accepts them', async () => {
  expect((await createUser('before@example.com')).status).toBe(201)
  await superuser.query(`alter database ${database()} set default_transaction_read_only = on`)
  await superuser.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = 'app'`,
  )
  // A connection that was lost is noticed first; from then on new ones reach a server that takes no writes.
  await expect.poll(async () => (await w.call('GET /users', { token })).status).toBe(200)
  const refused = await createUser('during@example.com')
  expect(refused.json).toMatchObject({ status: 503, code: 'dependency_unavailable', retryable: true })
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect(refused.json.detail ?? '').not.toContain('outcome is unknown')

  expect((await w.call('GET /users', { token })).status).toBe(200)
  const ready = await w.call('GET /health/ready')
  expect(ready.status).toBe(503)
  expect(ready.json.checks.database).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('takes no writes'),
  })

  // The setting is read when a connection is opened: whoever kept one would go on being refused.
  await superuser.query(`alter database ${database()} reset default_transaction_read_only`)
  await createUser('after@example.com')
  expect((await createUser('again@example.com')).status).toBe(201)
  expect((await w.call('GET /health/ready')).json.checks.database.status).toBe('ok')
})

test('a write inside a read transaction is an internal error', async () => {
  const scope = fullScope(await w.tenant(), 'user:test')
  const error = await w.runtime.database
    .read(scope, (tx) => tx.run('delete from app.revoked_token where tenant_id = $1', [tx.tenant_id]))
    .catch((failure: unknown) => failure)
  expect(error).not.toBeInstanceOf(Problem)
  expect(error).toMatchObject({ code: '25006' })
})
