import fs from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabaseFolder } from '#test/support/database-folder.ts'
import { type EmbeddedServer, startEmbedded } from './launcher.ts'
import type { Connection } from './postgres-process.ts'
import { rolesSql } from './roles.ts'

const folder = createDatabaseFolder('probity-test-')
let embedded: EmbeddedServer

async function ask(connection: Connection, ...sql: string[]): Promise<unknown[]> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    let rows: unknown[][] = []
    for (const text of sql) {
      // A text of several statements has several results.
      const results = [await client.query<unknown[]>({ text, rowMode: 'array' })].flat()
      rows = results.at(-1)?.rows ?? []
    }
    return rows.flat()
  } finally {
    await client.end()
  }
}

const superuser = (...sql: string[]) => ask(embedded.url('postgres'), ...sql)

beforeAll(async () => {
  embedded = await startEmbedded({ dataDir: folder, durable: false })
}, 60_000)

afterAll(async () => {
  await embedded?.stop()
  fs.rmSync(folder, { recursive: true, force: true })
})

describe('the roles', () => {
  it('can be made again and again', async () => {
    await superuser(rolesSql({ database: 'probity' }), rolesSql({ database: 'probity' }))
  })

  it('serve without owning, bypassing or switching', async () => {
    for (const role of ['app', 'worker', 'steward'] as const) {
      await expect(ask(embedded.url(role), 'set role app_owner')).rejects.toThrow(/permission denied/)
      await expect(ask(embedded.url(role), 'create schema mine')).rejects.toThrow(/permission denied/)
      await expect(ask(embedded.url(role), 'create table public.mine ()')).rejects.toThrow(/permission denied/)
    }
    await ask(embedded.url('app'), 'create temporary table staged ()')
    await expect(ask(embedded.url('worker'), 'create temporary table staged ()')).rejects.toThrow(/permission denied/)
  })

  it('let the migrator become the owner, but only when it says so', async () => {
    await expect(ask(embedded.url('migrator'), 'create schema mine')).rejects.toThrow(/permission denied/)
    await ask(embedded.url('migrator'), 'set role app_owner', 'create schema mine', 'drop schema mine')
  })

  it('close the database to everybody else', async () => {
    await superuser("create role other_role login password 'known'")
    const otherRole = { ...embedded.url('app'), user: 'other_role', password: 'known' } as unknown as Connection
    await expect(ask(otherRole, 'select 1')).rejects.toThrow(/permission denied for database/)
  })

  it('are refused when one of them has gained a right', async () => {
    await superuser('alter role worker bypassrls')
    await expect(superuser(rolesSql({ database: 'probity' }))).rejects.toThrow(/must not have: worker/)
    await superuser('alter role worker nobypassrls', 'grant app_owner to app')
    await expect(superuser(rolesSql({ database: 'probity' }))).rejects.toThrow(/not be members of another role: app/)
    await superuser('revoke app_owner from app')
  })

  it('print without passwords as instructions, and quote whatever they are given', async () => {
    const printed = rolesSql({ database: 'probity' })
    expect(printed).toContain('--   \\password steward')
    expect(printed).not.toMatch(/^alter role \w+ password/m)

    await superuser(`create database "it's"`)
    const odd = { ...embedded.url('postgres'), database: "it's" }
    await ask(odd, rolesSql({ database: "it's", passwords: { app: "o'clock\\" } }))
    expect(await ask({ ...embedded.url('app'), database: "it's", password: "o'clock\\" }, 'select 1')).toEqual([1])
  })
})
