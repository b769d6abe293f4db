/** The demo data: complete after interruptions and concurrent starts, the same counts everywhere, and the outcomes of docs/demo.md. */
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ApprovalRequired, DemoCaller } from '#app/demo/demo-caller.ts'
import { type DemoDataResult, seedDemoData } from '#app/demo/demo-data.ts'
import { readDemoFiles } from '#app/demo/demo-files.ts'
import { buildPortfolio } from '#app/demo/portfolio.ts'
import { demoTenants, seed } from '#app/seed.ts'
import type { Role } from '#kernel/auth/roles.ts'
import type { JobRunner } from '#kernel/job/runner.ts'
import { projectRoot } from './support/database.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'

const [demo, empty] = demoTenants as [(typeof demoTenants)[0], (typeof demoTenants)[0]]
let app: TestApp
let runner: JobRunner
let reader: pg.Client
let url: string
let results: DemoDataResult[]

const count = async (table: string, where = 'true'): Promise<number> => {
  const { rows } = await reader.query(`select count(*)::int as n from app.${table} where tenant_id = $1 and ${where}`, [
    demo.tenant_id,
  ])
  return rows[0].n
}

const countOpenTransactions = async (): Promise<number> => {
  const { rows } = await reader.query(
    `select count(*)::int as n from pg_stat_activity
      where datname = current_database() and usename = 'app' and state <> 'idle'`,
  )
  return rows[0].n
}

const addData = (signal: AbortSignal) =>
  seedDemoData({
    url,
    issuer: app.kernel.issuer,
    steward: app.steward,
    connection: app.clone.steward,
    project_root: projectRoot,
    signal,
    log: app.kernel.log,
  })

const callAs = async (role: Role, route: string, body?: unknown) => {
  const user = demo.users.find(({ roles }) => roles.includes(role)) as (typeof demo.users)[0]
  const token = await app.token({ tenant_id: demo.tenant_id, principal: `user:${user.user_id}`, roles: [role] })
  return app.call(route, { token, ...(body !== undefined && { body }) })
}

const countAll = async () => ({
  subjects: await count('subject'),
  decisions: await count('evaluation'),
  batches: await count('batch_evaluation'),
  items: await count('batch_item'),
  ratings: await count('rating', `cause in ('evaluation', 'batch')`),
  overrides: await count('rating', `cause = 'override'`),
  ended: await count('rating', `cause = 'override-ended'`),
  versions: await count('dataset_version'),
  activations: await count('activation'),
  proposals: await count('change_request'),
  impact_runs: await count('impact_run'),
  schedules: await count('batch_schedule'),
  bulk_files: await count('subject_bulk'),
})

/** An administrator sets an approval policy before the data is complete: every later start stops and adds nothing. */
async function refuseAddingUnderForeignPolicy() {
  const rules = ['activation', 'risk-override'].map((action) => ({ action, role: 'compliance_officer', approvers: 1 }))
  expect((await callAs('tenant_admin', 'PUT /api/tenant/approval-policy', { rules })).status).toBe(200)
  const before = await countAll()
  for (let start = 1; start <= 2; start++) {
    await expect(addData(new AbortController().signal)).rejects.toThrow(
      /approval policy of the tenant demo was changed/,
    )
  }
  expect(await countAll()).toEqual(before)
  await app.setApprovalRules(demo.tenant_id, [])
}

beforeAll(async () => {
  app = await startTestApp()
  await seed(app.seedContext, { demo: true })
  reader = new pg.Client(app.clone.postgres)
  await reader.connect()
  runner = app.runtime.createRunner(4, { poll_ms: 50 })
  runner.start()
  url = await app.listen()
  // Interrupted while customers are rated one by one: some requests have been answered, others have not.
  const interruption = new AbortController()
  const interrupted = addData(interruption.signal)
  interrupted.catch(() => {})
  await vi.waitUntil(async () => (await count('evaluation')) >= 20, { timeout: 60_000, interval: 20 })
  interruption.abort()
  await expect(interrupted).rejects.toThrow()
  // A process that is killed takes its open requests with it; here the server lives on and finishes them.
  await vi.waitUntil(async () => (await countOpenTransactions()) === 0, { timeout: 60_000, interval: 20 })
  await refuseAddingUnderForeignPolicy()
  const { signal } = new AbortController()
  results = await Promise.all([addData(signal), addData(signal)])
}, 120_000)

afterAll(async () => {
  await runner?.stop(10_000)
  await reader?.end()
  await app?.close()
})

test('an interrupted run and two processes at once leave the data of one run', async () => {
  expect(results.toSorted()).toEqual(['added', 'kept'])
  const counts = await countAll()
  expect(counts).toEqual({
    subjects: 500,
    decisions: 176,
    batches: 10,
    items: 889,
    ratings: 1063,
    overrides: 9,
    ended: 1,
    versions: 9,
    activations: 7,
    proposals: 2,
    impact_runs: 2,
    schedules: 1,
    bulk_files: 1,
  })
  expect(await addData(new AbortController().signal)).toBe('kept')
  expect(await countAll()).toEqual(counts)
})

test('the second demo tenant stays empty', async () => {
  const { rows } = await reader.query('select 1 from app.subject where tenant_id = $1', [empty.tenant_id])
  expect(rows).toEqual([])
})

test('the bands, and the numbers of ratings of a customer, are as stated', async () => {
  const { rows: bands } = await reader.query(
    `select coalesce(case when r.override_until > now() then r.override_band end, r.rated_band) as band, count(*)::int as n
       from app.subject s left join app.subject_risk r using (tenant_id, subject_id) where s.tenant_id = $1 group by 1`,
    [demo.tenant_id],
  )
  expect(Object.fromEntries(bands.map(({ band, n }) => [band, n]))).toEqual({
    low: 347,
    medium: 91,
    high: 50,
    prohibited: 9,
    null: 3,
  })
  const { rows: points } = await reader.query(
    `select n, count(*)::int as subjects from (select count(*)::int as n from app.rating where tenant_id = $1
        and cause in ('evaluation', 'batch') group by subject_id) x group by n order by n`,
    [demo.tenant_id],
  )
  expect(points.map(({ n }) => n)).toEqual([1, 2, 3, 4])
  expect(points.reduce((sum, { subjects }) => sum + subjects, 0)).toBe(497)
})

test('decisions hold over the past year and were recorded by people of the tenant', async () => {
  const { rows } = await reader.query(
    `select min(valid_at) > now() - interval '370 days' as young, max(valid_at) <= now() as past,
            max(valid_at) - min(valid_at) > interval '300 days' as year, min(recorded_at) > now() - interval '1 hour' as recorded,
            bool_and(actor like 'user:%' or actor like 'job:%') as named
       from app.rating where tenant_id = $1 and cause in ('evaluation', 'batch')`,
    [demo.tenant_id],
  )
  expect(rows).toEqual([{ young: true, past: true, year: true, recorded: true, named: true }])
  const { rows: others } = await reader.query(
    `select distinct actor from app.audit_event where tenant_id = $1 and actor like 'user:%' and not (actor = any($2))`,
    [demo.tenant_id, demo.users.map(({ user_id }) => `user:${user_id}`)],
  )
  expect(others).toEqual([])
})

test('one list is stale, one change waits with its impact, and another was approved by an officer', async () => {
  const { json: lists } = await callAs('viewer', 'GET /api/reference-data/datasets?origin=own')
  const stale = lists.items.filter((list: { stale_since: string | null }) => list.stale_since !== null)
  expect(stale.map((list: { list_key: string }) => list.list_key)).toEqual(['legacy-product-risk'])
  const { json: changes } = await callAs('compliance_officer', 'GET /api/change-requests')
  const [open, approved] = ['open', 'approved'].map((wanted) =>
    changes.items.find(({ state }: { state: string }) => state === wanted),
  )
  expect(approved).toMatchObject({ params: { list_key: 'internal-watchlist' }, require_impact: true })
  expect(open).toMatchObject({ params: { list_key: 'risk-bands' }, require_impact: true })
  const { json: impact } = await callAs('compliance_officer', `GET /api/change-requests/${open.cr_id}/impact`)
  expect(impact).toMatchObject({ state: 'succeeded', stale: false })
  expect(impact.result.flips).toBeGreaterThan(20)
  const { json: matrix } = await callAs('policy_editor', 'GET /api/risk-matrices/private-banking-risk')
  expect(matrix.draft).not.toBeNull()
})

interface StatedOutcome {
  readonly external_id: string
  readonly matrix_key: string
  readonly status: number
  readonly band: string | null
  readonly score_bps: number | null
  readonly required_actions: readonly string[]
  readonly reason_codes: readonly string[]
  readonly in_force: string
}

function readStatedOutcomes(): StatedOutcome[] {
  const page = fs.readFileSync(path.join(projectRoot, 'docs/demo.md'), 'utf8')
  const split = (cell: string) => (cell === '–' ? [] : cell.split(', '))
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `MAGIC-'))
    .map((line) => {
      const [id, matrix, status, band, score, actions, codes, in_force] = line
        .replaceAll('`', '')
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()) as [string, string, string, string, string, string, string, string]
      return {
        external_id: id,
        matrix_key: matrix,
        status: Number(status),
        band: band === '–' ? null : band,
        score_bps: score === '–' ? null : Number(score),
        required_actions: split(actions),
        reason_codes: split(codes),
        in_force,
      }
    })
}

const stated = readStatedOutcomes()

test('docs/demo.md states an outcome for every subject with a fixed one', () => {
  const { magic } = readDemoFiles(projectRoot)
  expect(stated.map(({ external_id }) => external_id)).toEqual(magic.subjects.map(({ external_id }) => external_id))
})

test.each(stated)('$external_id gets the outcome that docs/demo.md states', async (row) => {
  const found = await callAs('analyst', `GET /api/subjects?external_id=${row.external_id}`)
  const { subject_id } = found.json.items[0]
  const { json: risk } = await callAs('analyst', `GET /api/subjects/${subject_id}/risk`)
  expect(risk.band === null ? 'none' : `${risk.band}, by ${risk.source}`).toBe(row.in_force)
  const body = { matrix_key: row.matrix_key, subject_id }
  const reply = await callAs('analyst', 'POST /api/evaluations', body)
  expect(reply.status).toBe(row.status)
  if (row.status === 201) {
    const { band, score_bps, required_actions, reason_codes } = row
    expect(reply.json.outcome).toMatchObject({ band, score_bps, required_actions, reason_codes })
  } else {
    expect(reply.json).toMatchObject({ code: 'inputs_refused', errors: [{ pointer: '#/inputs/source_of_funds' }] })
  }
})

test('customers have unique invented names, none of them on the demonstration sanctions list', () => {
  const { portfolio, magic } = readDemoFiles(projectRoot)
  const customers = buildPortfolio({ portfolio, magic }).filter(({ group }) => group !== 'magic')
  const names = new Set(customers.map(({ name }) => name))
  expect(names.size).toBe(customers.length)
  const list = JSON.parse(fs.readFileSync(path.join(projectRoot, 'db/seed/lists/demo-sanctions.json'), 'utf8'))
  const listed = list.versions.flatMap(({ entries }: { entries: { names: { name: string }[] }[] }) =>
    entries.flatMap((entry) => entry.names.map(({ name }) => name)),
  )
  expect(listed.filter((name: string) => names.has(name))).toEqual([])
})

test('a change that needs approval ends the run and leaves no open change request', async () => {
  const { signal } = new AbortController()
  const caller = new DemoCaller({ url, issuer: app.kernel.issuer, tenant: demo, signal })
  const open = await count('change_request', `state = 'open'`)
  const body = { version: 1, reason: 'Again' }
  const change = caller.post('compliance_officer', '/api/reference-data/datasets/internal-watchlist/activations', body)
  await expect(change).rejects.toBeInstanceOf(ApprovalRequired)
  expect(await count('change_request', `state = 'open'`)).toBe(open)
  expect(await count('change_request', `state = 'withdrawn'`)).toBe(1)
})
