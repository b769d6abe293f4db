/** Daily counts by band: equal to a recount, corrected by late decisions, written once by several workers, resumable. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertRating, newSubject } from '#modules/subjects/fixtures.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { daysAgo, findSubjectDays, insertHistories } from '#test/support/portfolio-histories.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { createPortfolioJob, PORTFOLIO_DAYS } from './portfolio/portfolio-job.ts'

let w: TestApp
let superuser: pg.Client
beforeAll(async () => {
  w = await startTestApp()
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

interface Count {
  readonly day: string
  readonly matrix_key: string
  readonly band: string
  readonly subjects: number
}

async function recount(tenant_id: string, days: number): Promise<Count[]> {
  const counts = new Map<string, Count>()
  for (const { subject_id: _, ...of } of await findSubjectDays(superuser, tenant_id, days)) {
    const key = toKey({ ...of, subjects: 0 })
    counts.set(key, { ...of, subjects: (counts.get(key)?.subjects ?? 0) + 1 })
  }
  return [...counts.values()].sort((one, two) => (toKey(one) < toKey(two) ? -1 : 1))
}
const toKey = ({ day, matrix_key, band }: Count): string => `${day} ${matrix_key} ${band}`

async function readStored(tenant_id: string): Promise<Count[]> {
  const { rows } = await superuser.query(
    `select day::text, matrix_key, band, subjects::integer from app.portfolio_day where tenant_id = $1`,
    [tenant_id],
  )
  return rows.sort((one, two) => (toKey(one) < toKey(two) ? -1 : 1))
}

const enqueue = (t: ExampleTenant) =>
  t.write((tx) => w.kernel.jobs.enqueue(tx, { kind: PORTFOLIO_DAYS, payload: {}, unlimited: true }))
const runJob = async (t: ExampleTenant) => (await t.runToEnd(await enqueue(t)))['result'] as Record<string, unknown>

describe('daily counts by band', () => {
  test('equal a recount of every day for random histories', async () => {
    for (const seed of [1, 2]) {
      const t = await ExampleTenant.create(w)
      await insertHistories(superuser, t.tenant_id, seed, 40)
      expect(await runJob(t)).toMatchObject({ days: 400, subjects: 40 })
      const stored = await readStored(t.tenant_id)
      expect(stored.length).toBeGreaterThan(500)
      expect(stored).toEqual(await recount(t.tenant_id, 400))
    }
  })

  test('are corrected by a decision with an earlier valid time, from its day on only', async () => {
    const t = await ExampleTenant.create(w)
    await insertHistories(superuser, t.tenant_id, 4, 20)
    await runJob(t)
    // Ratings of the last hour are looked at again; as if it had passed.
    const skipOverlap = () =>
      t.write((tx) =>
        tx.run('update app.portfolio_progress set next_rating = $2 where tenant_id = $1', [t.tenant_id, uuidv7()]),
      )
    await skipOverlap()
    expect(await runJob(t)).toMatchObject({ days: 0 })
    await skipOverlap()
    await insertRating(t, await newSubject(t), 'prohibited', { valid_at: daysAgo(30), matrix_key: 'one' })
    expect(await runJob(t)).toMatchObject({ days: 30, first_day: daysAgo(30).slice(0, 10) })
    expect(await readStored(t.tenant_id)).toEqual(await recount(t.tenant_id, 400))
  })

  test('are written once when two workers count at the same time', async () => {
    const t = await ExampleTenant.create(w)
    await insertHistories(superuser, t.tenant_id, 5, 20)
    const jobs = [await enqueue(t), await enqueue(t)]
    const [one, two] = [w.runtime.createRunner(1), w.runtime.createRunner(1)]
    one.start()
    two.start()
    for (const job of jobs) {
      let { state } = job as { state: string }
      while (state === 'queued' || state === 'running') state = (await t.make(`GET /jobs/${job.job_id}?wait=8`)).state
      expect(state).toBe('succeeded')
    }
    await Promise.all([one.stop(5000), two.stop(5000)])
    expect(await readStored(t.tenant_id)).toEqual(await recount(t.tenant_id, 400))
  })

  test('keep what another run wrote since the days were planned', async () => {
    const t = await ExampleTenant.create(w)
    await insertHistories(superuser, t.tenant_id, 6, 10)
    const job = createPortfolioJob({ chunk_subjects: 4, step_chunks: 1 })
    const { context, results } = createContext(t)
    let is_first = true
    await job.run({
      ...context,
      step: async (body) => {
        if (is_first) await runJob(t)
        is_first = false
        return context.step(body)
      },
    })
    expect(results).toMatchObject([{ days: 0 }])
    expect(await readStored(t.tenant_id)).toEqual(await recount(t.tenant_id, 400))
  })

  test('continue after the last checkpoint when the worker was stopped', async () => {
    const t = await ExampleTenant.create(w)
    await insertHistories(superuser, t.tenant_id, 7, 23)
    const job = createPortfolioJob({ chunk_subjects: 4, step_chunks: 2 })
    const first = createContext(t, 2)
    await expect(job.run(first.context)).rejects.toThrow('stopped')
    expect(first.checkpoints).toHaveLength(2)
    const checkpoint = JSON.parse(JSON.stringify(first.checkpoints.at(-1)))
    expect(checkpoint.subjects).toBe(16)
    const second = createContext(t)
    await job.run({ ...second.context, checkpoint })
    expect(second.results).toMatchObject([{ days: 400, subjects: 23 }])
    expect(await readStored(t.tenant_id)).toEqual(await recount(t.tenant_id, 400))
  })
})

/** Runs a job body on the real database, and stops it after so many checkpoints. */
function createContext(t: ExampleTenant, stop_after = Number.POSITIVE_INFINITY) {
  const checkpoints: unknown[] = []
  const results: unknown[] = []
  const scope = fullScope(t.tenant_id, 'job:test')
  const step: JobContext['step'] = async (body) => {
    const { checkpoint } = await w.runtime.database.write(scope, body)
    checkpoints.push(checkpoint)
    if (checkpoints.length >= stop_after) throw new Error('stopped')
  }
  const read: JobContext['read'] = (body) => w.runtime.database.read(scope, body)
  const context: JobContext = {
    job_id: uuidv7(),
    tenant_id: t.tenant_id,
    scope,
    payload: {},
    checkpoint: null,
    attempt: 1,
    signal: new AbortController().signal,
    kernel: {},
    log: w.kernel.log,
    read,
    write: (body) => w.runtime.database.write(scope, body),
    step,
    visible: { read, step },
    finish: async (body) => {
      results.push(await w.runtime.database.write(scope, body))
    },
    defer: () => {
      throw new Error('this job never defers')
    },
  }
  return { context, checkpoints, results }
}

describe('the risk distribution', () => {
  test('gives each day with its bands, today counted now, and the movement since the first day', async () => {
    const t = await ExampleTenant.create(w)
    const [one, two] = [await newSubject(t), await newSubject(t)]
    await insertRating(t, one, 'low', { valid_at: daysAgo(10) })
    await insertRating(t, one, 'high', { valid_at: daysAgo(3) })
    await insertRating(t, two, 'medium', { matrix_key: 'other' })
    await runJob(t)
    const shown = await t.make('GET /analytics/risk-distribution')
    expect(shown.days).toHaveLength(11)
    expect(shown.days[0]).toEqual({ on: daysAgo(10).slice(0, 10), subjects: 1, bands: [{ band: 'low', subjects: 1 }] })
    expect(shown.days.at(-1)).toMatchObject({
      bands: [
        { band: 'medium', subjects: 1 },
        { band: 'high', subjects: 1 },
      ],
    })
    expect(shown.bands.map(({ band, subjects, change }: Record<string, unknown>) => [band, subjects, change])).toEqual([
      ['low', 0, -1],
      ['medium', 1, 1],
      ['high', 1, 1],
      ['prohibited', 0, 0],
    ])
    expect(shown.latest.counted_at).not.toBeNull()
    expect(shown.matrices).toEqual(['customer-risk'])
    const named = { matrix_key: 'customer-risk', title: 'Customer risk', definition: {} }
    await t.make('POST /risk-matrices', { body: named })
    const ofMatrix = await t.make(
      `GET /analytics/risk-distribution?matrix_key=customer-risk&from_on=${daysAgo(4).slice(0, 10)}&until_on=${daysAgo(3).slice(0, 10)}`,
    )
    expect(ofMatrix.days.map(({ bands }: { bands: unknown }) => bands)).toEqual([
      [{ band: 'low', subjects: 1 }],
      [{ band: 'high', subjects: 1 }],
    ])
    expect(ofMatrix.latest).toEqual({ on: daysAgo(3).slice(0, 10), counted_at: null })
  })

  test('is empty for a tenant without ratings, and refuses an unknown matrix and a period that is too long or ends before it begins', async () => {
    const t = await ExampleTenant.create(w)
    expect(await t.make('GET /analytics/risk-distribution')).toMatchObject({ days: [], latest: null, matrices: [] })
    const token = await t.token()
    const unknown = await w.call('GET /analytics/risk-distribution?matrix_key=customer-rsik', { token })
    expect([unknown.status, unknown.json.detail]).toEqual([409, 'There is no risk matrix with the key customer-rsik.'])
    const long = await w.call('GET /analytics/risk-distribution?from_on=2020-01-01&until_on=2026-01-01', { token })
    expect(long.status).toBe(409)
    expect(long.json.errors[0]).toMatchObject({ in: 'query', pointer: '#/from_on' })
    for (const period of ['from_on=2026-01-20&until_on=2026-01-10', 'from_on=9999-12-31']) {
      const reversed = await w.call(`GET /analytics/risk-distribution?${period}`, { token })
      expect([reversed.status, reversed.json.detail]).toEqual([409, 'The period ends before it begins.'])
      expect(reversed.json.errors[0]).toMatchObject({ in: 'query', pointer: '#/from_on' })
    }
  })
})
