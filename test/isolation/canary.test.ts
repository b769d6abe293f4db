/**
 * Suite 4: every free text, JSON and byte column of one tenant is filled with a token of its own; another tenant then calls
 * every operation, and neither an answer nor a log line may hold any of them.
 */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { modules } from '#app/modules.ts'
import { everyone } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { createLog } from '#kernel/log.ts'
import type { Module } from '#kernel/module.ts'
import type { Route } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import type { Example } from '../support/operation-fixture.ts'
import { announceSampling, sample } from '../support/sampling.ts'
import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'
import { blindReads, excludedColumns, excludedTables, unfilledColumns } from './canary-exceptions.ts'
import {
  connect,
  getExample,
  readTables,
  routes,
  selectIsolated,
  send,
  sendAs,
  type Table,
  tenantRoutes,
} from './support.ts'

const TOKEN = `cnry${randomBytes(5).toString('hex')}`

let w: TestApp
let superuser: pg.Client
let tables: Table[]
let owner: ExampleTenant
let other: ExampleTenant
const ownersExamples = new Map<Route, Example>()
const refusals = new Map<string, string>()
const filled: string[] = []

/**
 * How a column takes the token `$2`, made different in each row `n`; the first way that the column accepts. Narrow types
 * wait, because replies declare their shape.
 */
const fillings: Readonly<Record<string, { readonly narrow: boolean; readonly values: readonly string[] }>> = {
  text: { narrow: false, values: [`$2 || '-' || n`, `json_build_object('canary', $2 || '-' || n)::text`] },
  bytea: { narrow: false, values: [`convert_to($2 || '-' || n, 'UTF8')`] },
  'text[]': { narrow: true, values: [`array[$2 || '-' || n]`] },
  jsonb: { narrow: true, values: [`jsonb_build_array(jsonb_build_object('canary', $2 || '-' || n))`] },
}

/** Constraint violation, or a cast inside a constraint. */
const REFUSALS = ['23514', '22P02']

async function fillColumn(table: Table, name: string, values: readonly string[], token: string): Promise<void> {
  for (const value of values) {
    await superuser.query('savepoint filling')
    try {
      const { rowCount } = await superuser.query(
        `update app.${table.name} t set "${name}" = ${value}
           from (select ctid as place, row_number() over () as n from app.${table.name} where tenant_id = $1) row
          where t.ctid = row.place`,
        [owner.tenant_id, token],
      )
      if (rowCount) filled.push(`${table.name}.${name}`)
      refusals.delete(`${table.name}.${name}`)
      return
    } catch (error) {
      const { code = '', constraint = code } = error as { code?: string; constraint?: string }
      if (!REFUSALS.includes(code)) throw error
      if (!refusals.has(`${table.name}.${name}`)) refusals.set(`${table.name}.${name}`, constraint)
      await superuser.query('rollback to savepoint filling')
    }
  }
}

async function fill(narrow: boolean): Promise<void> {
  await superuser.query('begin')
  // As a restored dump would be: no triggers, no foreign keys; constraints still hold.
  await superuser.query('set local session_replication_role = replica')
  for (const table of tables) {
    for (const [index, { name, type }] of table.columns.entries()) {
      const filling = fillings[type]
      if (filling?.narrow === narrow && !unfilledColumns.includes(name))
        await fillColumn(table, name, filling.values, `${TOKEN}-${index}`)
    }
  }
  await superuser.query('commit')
}

/** Mistakes a handler could make: PostgreSQL quotes the row in one error and the value in the other. */
const faulty: Module = {
  name: 'faulty',
  segments: ['faults'],
  tier: 'views',
  summary: 'Fails on purpose.',
  jobs: [],
  canary: async () => {},
  routes: [
    `update app.user_account set origin = 'none' where tenant_id = $1`,
    'select name::bigint from app.user_account where tenant_id = $1',
  ].map((sql, number) =>
    tenantRoute(`POST /faults/${number}`, {
      id: `makeFault${number}`,
      summary: 'Fails in the database',
      roles: everyone,
      tx: 'write',
      reply: [204, null],
    }).handle(async ({ tx }) => {
      await tx.run(sql, [tx.tenant_id])
      return undefined
    }),
  ),
}

/** The real log, into a file, as a process writes it. */
const logFile = path.join(os.tmpdir(), `canary-${TOKEN}.log`)
const log = createLog({ level: 'trace', destination: logFile, name: 'canary' })
async function readLog(): Promise<string> {
  // Written behind our back, but in order: once the marker is there, so is everything before it.
  const marker = uuidv7()
  log.info(marker)
  const arrived = () => {
    const text = fs.readFileSync(logFile, 'utf8')
    return text.includes(marker) && text
  }
  return vi.waitUntil(arrived, { timeout: 60_000, interval: 5 })
}

async function emptyLog(): Promise<void> {
  await readLog()
  fs.truncateSync(logFile)
}

beforeAll(async () => {
  w = await startTestApp({ log, modules: [...modules, faulty] })
  superuser = await connect(w.clone.postgres)
  tables = selectIsolated(await readTables(superuser))
  ;[owner, other] = await Promise.all([ExampleTenant.create(w), ExampleTenant.create(w)])
  await owner.insertCanaryRows()
  for (const route of tenantRoutes) ownersExamples.set(route, await getExample(route, owner))
  await fill(false)
})
afterAll(async () => {
  await superuser.end()
  await w.close()
  fs.rmSync(logFile, { force: true })
})

const answer = (reply: Reply): string => `${JSON.stringify(reply.headers)}\n${reply.text}`
const exampleOfOwner = (route: Route): Example => ownersExamples.get(route) as Example

describe('the canary of a tenant', () => {
  test('is in every read that the owner makes of its own rows', async () => {
    const reads = tenantRoutes.filter(
      ({ method, tx, path }) => method === 'GET' && (tx === 'one' || tx === 'read' || path.includes(':')),
    )
    expect(reads.length).toBeGreaterThan(10)
    const blind: string[] = []
    for (const route of reads) {
      const reply = await send(owner, route, exampleOfOwner(route)).catch(() => undefined)
      if (!reply || !answer(reply).includes(TOKEN)) blind.push(route.id)
      if (reply && !(route.id in blindReads)) expect.soft([route.id, reply.status]).toEqual([route.id, 200])
    }
    expect(blind.sort()).toEqual(Object.keys(blindReads).sort())
  })

  test('fills every column that can hold text; the exceptions are listed', async () => {
    await fill(true)
    const { rows } = await superuser.query<{ refusal: string }>(
      `select format('%s.%s %s', c.relname, a.attname, k.conname) as refusal
         from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_attribute a on a.attrelid = c.oid and a.attnum = any (k.conkey)
        where k.contype = 'c' and c.relnamespace = 'app'::regnamespace`,
    )
    const possible = new Set(rows.map(({ refusal }) => refusal))
    // Of several constraints of a column, the order of the rows decides which one refuses.
    const listed = ([column, constraint]: [string, string]): [string, string] => {
      const expected = (excludedColumns as Readonly<Record<string, string>>)[column] ?? ''
      const isEither = possible.has(`${column} ${expected}`) && possible.has(`${column} ${constraint}`)
      return [column, isEither ? expected : constraint]
    }
    expect(Object.fromEntries([...refusals].map(listed))).toEqual(excludedColumns)
    const empty: string[] = []
    for (const { name } of tables) {
      const { rowCount } = await superuser.query(`select 1 from app.${name} where tenant_id = $1`, [owner.tenant_id])
      if (rowCount === 0) empty.push(name)
    }
    expect(empty).toEqual(Object.keys(excludedTables))
    expect(filled.length).toBeGreaterThan(60)
  })
})

/** Every read, and some of the changes: each of them needs objects of its own. */
const changes = routes.filter(({ method }) => method !== 'GET')
const calledChanges = sample(changes, Math.ceil(changes.length / 8), 'changes of another tenant')
const calledByOther = routes.filter((route) => route.method === 'GET' || calledChanges.includes(route))
announceSampling('an eighth of the changes that another tenant makes')

describe('another tenant', () => {
  const leaks: string[] = []
  /** The token, or the owner's id: only the owner may ever receive either. */
  const look = (where: string, text: string) => {
    for (const needle of [TOKEN, owner.tenant_id]) if (text.includes(needle)) leaks.push(`${where}: ${needle}`)
  }

  test('gets it in no answer of any operation', async () => {
    await emptyLog()
    for (const route of calledByOther) {
      const example = await getExample(route, other)
      const reply =
        route.access === 'public' ? await sendAs(w, undefined, route, example) : await send(other, route, example)
      expect([route.id, reply.status]).toEqual([route.id, route.reply[0]])
      look(route.id, answer(reply))
    }
    expect(leaks).toEqual([])
  })

  test("gets it in no answer to the owner's identifiers", async () => {
    for (const route of tenantRoutes) {
      const reply = await send(other, route, { ...exampleOfOwner(route), principal: other.caller })
      if (route.problems.includes('not_found') && exampleOfOwner(route).params && !exampleOfOwner(route).shared)
        expect([route.id, reply.status]).toEqual([route.id, 404])
      look(route.id, answer(reply))
    }
    expect(leaks).toEqual([])
  })

  test('gets it from no job that a worker runs', async () => {
    const runner = w.runtime.createRunner(1)
    runner.start()
    const job_id = await other.newJob()
    const token = await other.token()
    let state = 'queued'
    for (let i = 0; i < 10 && ['queued', 'running'].includes(state); i++) {
      const reply = await w.call(`GET /jobs/${job_id}?wait=5`, { token })
      look('job', answer(reply))
      state = reply.json.state
    }
    await runner.stop(5000)
    expect(state).toBe('succeeded')
    expect(leaks).toEqual([])
  })

  test('writes nothing of it to the log', async () => {
    const text = await readLog()
    expect(text.split('\n').length).toBeGreaterThan(calledByOther.length)
    look('log', text)
    expect(leaks).toEqual([])
  })
})

describe('the owner', () => {
  test('writes nothing of its data to the log with any operation', async () => {
    await emptyLog()
    for (const route of tenantRoutes) await send(owner, route, exampleOfOwner(route)).catch(() => {})
    const text = await readLog()
    expect(text.split('\n').length).toBeGreaterThan(tenantRoutes.length)
    expect(text.split('\n').filter((line) => line.includes(TOKEN))).toEqual([])
  })

  test('gets nothing of it in the answer to a failure, and neither does the log', async () => {
    await emptyLog()
    for (const route of faulty.routes) {
      const reply = await send(owner, route, {})
      expect(reply.status).toBe(500)
      expect(answer(reply)).not.toContain(TOKEN)
    }
    const text = await readLog()
    expect(text).toContain('internal error')
    expect(text.split('\n').filter((line) => line.includes(TOKEN))).toEqual([])
  })
})
