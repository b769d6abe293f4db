/**
 * Suite 6: isolation is broken on purpose, in transactions that are rolled back, and the catalogue query (suite 1) or
 * the probes (suite 5) must detect it every time. One transaction breaks all tables in one way; each must be named.
 */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findIsolationFaults, type IsolationFault } from '#kernel/database/isolation.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { announceSampling, sample } from '../support/sampling.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { findBreaches, type ProbeTenants, readVictimRows } from './probes.ts'
import { type SchemaMutant, schemaMutants, validSchemas } from './schema-mutants.ts'
import { connect, LATEST_SCHEMA, type Row, readTables, selectIsolated, type Table, withRollback } from './support.ts'
import { tableMutants } from './table-mutants.ts'

let w: TestApp
let owner: pg.Client
let tables: Table[]
let rows: ReadonlyMap<string, Row>
let tenants: ProbeTenants
let made = 0
let noticed = 0

beforeAll(async () => {
  w = await startTestApp()
  owner = await connect(w.clone.postgres)
  const [victim, attacker] = await Promise.all([ExampleTenant.create(w), ExampleTenant.create(w)])
  await victim.insertCanaryRows()
  await attacker.insertCanaryRows()
  tenants = { victim: victim.tenant_id, attacker: attacker.tenant_id, newcomer: await w.makeTenant() }
  tables = selectIsolated(await readTables(owner))
  rows = await readVictimRows(owner, tables, tenants.victim)
})
afterAll(async () => {
  await owner.end()
  await w.close()
})

interface Observed {
  readonly faults: readonly IsolationFault[]
  readonly breaches: readonly string[]
}

/** What the catalogue and the probes say about the database as it is inside this transaction, both as app. */
async function observe(mutant: { effect?: string }): Promise<Observed> {
  // With the search path of the role: names are printed as app sees them.
  await owner.query('set local search_path = pg_catalog; set local role app')
  const faults = await findIsolationFaults(async (text) => (await owner.query(text)).rows, LATEST_SCHEMA)
  const { breaches } = await findBreaches(owner, mutant.effect ? tables : [], rows, tenants)
  return { faults, breaches }
}

/** Faults and breaches both begin with the name of the table they are about. */
const tablesIn = (texts: readonly string[]): Set<string> =>
  new Set(texts.map((text) => text.split(/[.: ]/)[0] as string))

function breakSchema(mutant: SchemaMutant): Promise<Observed> {
  return withRollback(owner, async () => {
    for (const text of mutant.break(tenants.victim)) await owner.query(text)
    return observe(mutant)
  })
}

const ofTables = sample(tableMutants, Math.ceil(tableMutants.length / 2), 'mutants of tables')
const ofSchema = sample(schemaMutants, Math.ceil(schemaMutants.length / 2), 'mutants of the schema')
announceSampling('half of the ways in which tables and schema are broken')

describe('each table', () => {
  test.for(ofTables)('$name', async (mutant) => {
    const broken: string[] = []
    const { faults, breaches } = await withRollback(owner, async () => {
      for (const table of tables) {
        const statements = mutant.break(table)
        for (const text of statements) await owner.query(text)
        if (statements.length > 0) broken.push(table.name)
      }
      return observe(mutant)
    })
    const named = tablesIn(faults.filter(({ rule }) => rule === mutant.rule).map(({ object }) => object))
    const breached = tablesIn(breaches)
    const escaped = broken.filter((name) => !(mutant.effect === 'silent' ? breached : named).has(name))
    made += broken.length
    noticed += broken.length - escaped.length
    expect(escaped).toEqual([])
    expect(broken.length, 'applies somewhere').toBeGreaterThan(0)
    if (mutant.effect === 'leaks') expect(broken.filter((name) => !breached.has(name))).toEqual([])
    if (mutant.effect === 'holds') expect(breaches).toEqual([])
  })
})

describe('the schema', () => {
  test.for(ofSchema)('$name', async (mutant) => {
    made++
    const { faults, breaches } = await breakSchema(mutant)
    if (mutant.effect !== 'silent') expect(faults.map(({ rule }) => rule)).toContain(mutant.rule)
    if (mutant.effect) expect(breaches.length).toBeGreaterThan(0)
    noticed++
  })

  test.for(validSchemas)('reports no fault: $name', async (mutant) => {
    expect((await breakSchema(mutant)).faults).toEqual([])
  })
})

test('every mutant is detected', () => {
  console.log(`${made} mutants of tenant isolation, ${noticed} detected`)
  expect(made).toBeGreaterThan(200)
  expect(noticed).toBe(made)
})
