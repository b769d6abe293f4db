/** `npm run new:module`: what it writes works without edits. Types and format of the template are checked with the project. */
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { readMigrations } from '#kernel/database/migrations.ts'
import type { Module } from '#kernel/module.ts'
import type { Route } from '#kernel/route.ts'
import { addCanary, expectRecorded } from './isolation/recorded-events.ts'
import { getRequestLine } from './isolation/support.ts'
import { projectRoot } from './support/database.ts'
import { ExampleTenant } from './support/example-tenant.ts'
import type { Fixtures, TextsInEvents } from './support/operation-fixture.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'

interface Generator {
  createModule(options: {
    readonly root: string
    readonly plural: string
    readonly singular?: string
    readonly format?: (files: string[]) => void
  }): string[]
}
const generator: string = path.join(projectRoot, 'scripts/new-module.mjs')
const { createModule } = (await import(/* @vite-ignore */ generator)) as Generator

/** Below the project, so that package aliases resolve in what is written there. */
const root = path.join(projectRoot, '.build', `new-module-${process.pid}`)
const listFiles = (): string[] => (fs.readdirSync(root, { recursive: true }) as string[]).toSorted()
const read = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8')

let written: string[]
beforeAll(() => {
  fs.mkdirSync(path.join(root, 'src/app'), { recursive: true })
  fs.cpSync(path.join(projectRoot, 'db/migrations'), path.join(root, 'db/migrations'), { recursive: true })
  const isSource = (file: string): boolean => !file.endsWith('.test.ts')
  fs.cpSync(path.join(projectRoot, 'src/modules'), path.join(root, 'src/modules'), {
    recursive: true,
    filter: isSource,
  })
  fs.copyFileSync(path.join(projectRoot, 'src/app/modules.ts'), path.join(root, 'src/app/modules.ts'))
  written = createModule({ root, plural: 'escrow-entries' })
})
afterAll(() => fs.rmSync(root, { recursive: true, force: true }))

describe('what is written', () => {
  test('has every file of a module, with no word of the template left', () => {
    const folder = 'src/modules/escrow-entries'
    const names = ['fixtures', 'index', 'queries', 'routes.test', 'routes', 'schema'].map(
      (name) => `${folder}/${name}.ts`,
    )
    expect(written.filter((file) => file.startsWith(folder)).toSorted()).toEqual(names)
    for (const file of written) expect(read(file), file).not.toMatch(/sample|widget/i)
    expect(read(`${folder}/routes.ts`)).toContain("summary: 'Create an escrow entry'")
  })

  test('has the next free number of a migration', () => {
    const [last, previous] = readMigrations(path.join(root, 'db/migrations')).toReversed()
    expect(last?.name).toBe('create_escrow_entries')
    expect(Number(last?.version)).toBe(Number(previous?.version) + 1)
    const types = [...(last?.sql ?? '').matchAll(/^ {2}(?!constraint)\w+ +(?=\w)/gm)].map(([before]) => before.length)
    expect(new Set(types).size, 'columns are aligned').toBe(1)
  })

  test('is registered as the last module', () => {
    expect(read('src/app/modules.ts')).toContain("import { escrowEntries } from '#modules/escrow-entries/index.ts'")
    expect(read('src/app/modules.ts')).toMatch(/,\n {2}escrowEntries,\n\]\n$/)
  })

  test.each([
    [{ plural: 'escrow-entries' }, 'exists already'],
    [{ plural: 'EscrowNotes' }, 'kebab-case'],
    [{ plural: 'staff' }, 'Give the singular too'],
    [{ plural: 'users' }, 'has the path /users already'],
    [{ plural: 'imports' }, 'already: choose another name'],
    [{ plural: 'subject-words' }, 'creates the table app.subject_word already'],
    [{ plural: 'case', singular: 'notes' }, 'npm run new:module -- case-notes'],
    [{ plural: 'this' }, '"this" is a reserved word'],
  ])('%o is refused', (names, reason) => {
    const before = listFiles()
    expect(() => createModule({ root, ...names })).toThrow(reason)
    expect(listFiles()).toEqual(before)
  })

  test('is removed again when it cannot be formatted', () => {
    const before = [listFiles(), read('src/app/modules.ts')]
    const format = () => {
      throw new Error('not formatted')
    }
    expect(() => createModule({ root, plural: 'escrow-notes', format })).toThrow('not formatted')
    expect([listFiles(), read('src/app/modules.ts')]).toEqual(before)
  })
})

describe('the module that was written', () => {
  let w: TestApp
  let module: Module
  let fixtures: Fixtures
  let textsInEvents: TextsInEvents
  let own: ExampleTenant
  let other: ExampleTenant

  beforeAll(async () => {
    const load = (file: string) => import(/* @vite-ignore */ path.join(root, 'src/modules/escrow-entries', file))
    module = (await load('index.ts')).escrowEntries
    ;({ fixtures, textsInEvents } = await load('fixtures.ts'))
    w = await startTestApp({ modules: [...modules, module] })
    const client = new pg.Client(w.clone.migrator)
    await client.connect()
    const migration = written.find((file) => file.startsWith('db/migrations/')) as string
    await client.query(`begin; set local role app_owner; ${read(migration)}; commit`)
    await client.end()
    ;[own, other] = await Promise.all([ExampleTenant.create(w), ExampleTenant.create(w)])
  })
  afterAll(() => w.close())

  const prepare = async (route: Route, of: ExampleTenant, by: ExampleTenant) => {
    const example = await fixtures[route.id]?.(of, 'compliance_officer')
    const options = {
      token: await by.token(['compliance_officer']),
      ...(example?.body !== undefined && { body: addCanary(route, example.body) }),
    }
    return () => w.call(getRequestLine(route, example ?? {}), options)
  }
  const call = async (...request: Parameters<typeof prepare>) => (await prepare(...request))()

  test('answers all its operations', async () => {
    expect(module.routes.map(({ id }) => id)).toEqual([
      'listEscrowEntries',
      'createEscrowEntry',
      'getEscrowEntry',
      'updateEscrowEntry',
      'deleteEscrowEntry',
    ])
    for (const route of module.routes) {
      const reply = await call(route, own, own)
      expect([route.id, reply.status, reply.text]).toEqual([route.id, route.reply[0], expect.anything()])
    }
  })

  test('records one event per change, and texts only where its fixtures say so', async () => {
    for (const route of module.routes) {
      await expectRecorded(own, route, textsInEvents.includes(route.id), await prepare(route, own, own))
    }
  })

  test("knows nothing of another tenant's rows", async () => {
    for (const route of module.routes.filter(({ path }) => path.includes(':'))) {
      expect([route.id, (await call(route, other, own)).status]).toEqual([route.id, 404])
    }
  })

  test('writes a canary row into its table', async () => {
    await own.write((tx) => module.canary(tx))
    const sql = `select name from app.escrow_entry where tenant_id = $1 and name like 'canary%'`
    expect(await own.write((tx) => tx.query(sql, [own.tenant_id]))).toHaveLength(1)
  })

  test('is found by search', async () => {
    const token = await own.token(['compliance_officer'])
    const { json } = await w.call('GET /search?q=canary&kinds=escrow-entry', { token })
    expect(json.groups).toMatchObject([{ kind: 'escrow-entry', items: [{ matched: 'prefix' }] }])
  })
})
