/** F7: a database that is slow, blocked, cut off or silent gives a documented answer, and the next request is served rightly. */
import net from 'node:net'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { type FaultyProcess, startFaultyProcess } from '../support/faulty-database.ts'
import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'
import { countMarks, createTestModule } from '../support/test-module.ts'

const LIMIT_MS = 400
const rehearsal = createTestModule()
let w: TestApp
let tenant: ExampleTenant
let impatient: FaultyProcess
let superuser: pg.Client
beforeAll(async () => {
  w = await startTestApp({ modules: [...modules, rehearsal.module] })
  tenant = await ExampleTenant.create(w)
  impatient = await startFaultyProcess(w, {
    modules: [...modules, rehearsal.module],
    statement_timeout_ms: LIMIT_MS,
    pool_size: 2,
  })
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
})
afterAll(async () => {
  await superuser.end()
  await impatient.close()
  await w.close()
})

function expectComeBack(reply: Reply, code: 'overloaded' | 'dependency_unavailable'): void {
  expect([reply.status, reply.json.code, reply.json.retryable]).toEqual([503, code, true])
  expect(reply.headers['retry-after']).toMatch(/^[1-9]\d*$/)
  expect(reply.text).not.toMatch(/timeout|canceling|statement|terminat/i)
}

/** More requests than there are connections: a spoiled one would be met. */
async function expectAllWell(process: FaultyProcess): Promise<void> {
  const token = await tenant.token()
  const replies = await Promise.all(Array.from({ length: 6 }, () => process.call('GET /tenant', { token })))
  expect(replies.map(({ status, json }) => [status, json.tenant_id])).toEqual(Array(6).fill([200, tenant.tenant_id]))
  const made = await process.call('POST /users', {
    token,
    body: { name: 'Ada', email: `${uuidv7()}@example.com`, roles: [] },
  })
  expect(made.status).toBe(201)
}

test('a statement that exceeds the timeout is cancelled without effect', async () => {
  const user_id = await tenant.newUser()
  await superuser.query('begin')
  await superuser.query('select 1 from app.user_account where user_id = $1 for update', [user_id])
  const change = { token: await tenant.token(), body: { team: 'late' } }
  const blocked = await Promise.all([
    impatient.call(`PATCH /users/${user_id}`, change),
    impatient.call(`PATCH /users/${user_id}`, change),
  ])
  for (const reply of blocked) expectComeBack(reply, 'overloaded')
  await superuser.query('rollback')
  const { json } = await impatient.call(`GET /users/${user_id}`, { token: change.token })
  expect([json.team, json.revision]).toEqual([null, 1])
  await expectAllWell(impatient)
  expect((await impatient.call(`PATCH /users/${user_id}`, change)).json.team).toBe('late')
})

test('an idle transaction is ended by the database without effect', async () => {
  const token = await tenant.token()
  const gate = rehearsal.hold('idle')
  const writing = impatient.call('POST /rehearsal/marks', { token, body: { name: 'idle' } })
  await gate.arrived
  const ended = async () =>
    (
      await superuser.query(
        `select 1 from pg_stat_activity where datname = current_database() and usename = 'app' and state = 'idle in transaction'`,
      )
    ).rowCount === 0
  while (!(await ended())) await new Promise((resolve) => setTimeout(resolve, 20))
  gate.release()
  expectComeBack(await writing, 'dependency_unavailable')
  expect(await tenant.write((tx) => countMarks(tx, 'idle'))).toBe(0)
  await expectAllWell(impatient)
})

test('connections that break while idle or busy are replaced', async () => {
  const token = await tenant.token()
  await expectAllWell(impatient)
  const gate = rehearsal.hold('cut')
  const writing = impatient.call('POST /rehearsal/marks', { token, body: { name: 'cut' } })
  await gate.arrived
  await superuser.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and usename = 'app'`,
  )
  gate.release()
  expectComeBack(await writing, 'dependency_unavailable')
  expect(await tenant.write((tx) => countMarks(tx, 'cut'))).toBe(0)
  await expectAllWell(impatient)
})

/** Between a process and PostgreSQL: forwards everything until it is switched to drop all traffic, as a broken network does. */
async function silencer(config: pg.ClientConfig) {
  const target = path.join(config.host as string, `.s.PGSQL.${config.port}`)
  const sockets = new Set<net.Socket>()
  let silent = false
  const server = net.createServer((near) => {
    const far = net.connect(target)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    near.on('data', (bytes) => silent || far.write(bytes)).on('close', () => far.destroy())
    far.on('data', (bytes) => silent || near.write(bytes)).on('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  return {
    connection: { ...config, host: '127.0.0.1', port },
    silence: (on: boolean) => {
      silent = on
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

describe('a database that does not answer', () => {
  test('is given up after a timeout and asked again on another connection', async () => {
    const line = await silencer(w.clone.app)
    const connections = { app: line.connection, worker: line.connection }
    const process = await startFaultyProcess(w, {
      connections,
      statement_timeout_ms: LIMIT_MS,
      pool_size: 2,
      wait_ms: 400,
    })
    await expectAllWell(process)
    line.silence(true)
    const token = await tenant.token()
    expectComeBack(await process.call('GET /tenant', { token }), 'dependency_unavailable')
    // New connections are not answered either; the process itself is.
    const next = await process.call('GET /tenant', { token })
    expect([next.status, next.headers['retry-after']]).toEqual([503, expect.stringMatching(/^[1-9]/)])
    expect((await process.call('GET /health')).status).toBe(200)
    line.silence(false)
    await expectAllWell(process)
    line.close()
    await process.close()
  })
})
