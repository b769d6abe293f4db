/** The lists behind the counts by band: equal to a recount, and their sums to the counts that open them. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Actor } from '#kernel/route.ts'
import { insertRating, newOverriddenSubject, newSubject } from '#modules/subjects/fixtures.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { daysAgo, findSubjectDays, insertHistories, type SubjectDay } from '#test/support/portfolio-histories.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { listRiskMovements } from './bands/band-lists.ts'
import { PORTFOLIO_DAYS } from './portfolio/portfolio-job.ts'

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

interface Item {
  readonly subject_id: string
  readonly band: string
  readonly from_band: string | null
  readonly to_band: string | null
  readonly cause: string
  readonly set_at: string
}

const day = (days: number): string => daysAgo(days).slice(0, 10)

async function readAll(t: ExampleTenant, address: string, query: Record<string, string | undefined>): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const search = new URLSearchParams({ limit: '7' })
    for (const [name, value] of Object.entries({ ...query, cursor })) if (value !== undefined) search.set(name, value)
    const page: { items: Item[]; next_cursor: string | null } = await t.make(`GET ${address}?${search}`)
    items.push(...page.items)
    cursor = page.next_cursor ?? undefined
  }
  return items
}

const pick = (all: readonly SubjectDay[], on: string, matrix_key = '') =>
  new Map(
    all
      .filter((one) => one.day === on && one.matrix_key === matrix_key)
      .map(({ subject_id, band }) => [subject_id, band]),
  )
const sort = (rows: readonly unknown[][]) => rows.map((row) => row.join(' ')).sort()

async function createMatrices(t: ExampleTenant): Promise<void> {
  for (const matrix_key of ['one', 'two'])
    await t.make('POST /risk-matrices', { body: { matrix_key, title: matrix_key, definition: {} } })
}

describe('subjects in a band', () => {
  test('are those of a recount, on every day, with any matrix and with one', async () => {
    const t = await ExampleTenant.create(w)
    await insertHistories(superuser, t.tenant_id, 11, 40)
    await createMatrices(t)
    const all = await findSubjectDays(superuser, t.tenant_id, 60)
    let rows = 0
    for (const days of [55, 40, 33, 21, 12, 8, 2, 1]) {
      for (const matrix_key of [undefined, 'one', 'two']) {
        const expected = pick(all, day(days), matrix_key)
        const found = await readAll(t, '/analytics/risk-distribution/subjects', { on: day(days), matrix_key })
        expect(sort(found.map(({ subject_id, band }) => [subject_id, band]))).toEqual(sort([...expected]))
        rows += found.length
      }
    }
    expect(rows).toBeGreaterThan(200)
    const high = await readAll(t, '/analytics/risk-distribution/subjects', { on: day(1), band: 'high' })
    expect(new Set(high.map(({ band }) => band))).toEqual(new Set(['high']))
    expect(high).toHaveLength([...pick(all, day(1)).values()].filter((band) => band === 'high').length)
  })

  test('today are those that the search of subjects finds', async () => {
    const t = await ExampleTenant.create(w)
    for (const [band, days] of [
      ['low', 3],
      ['high', 2],
      ['high', 1],
    ] as const)
      await insertRating(t, await newSubject(t), band, { valid_at: daysAgo(days) })
    await newOverriddenSubject(t)
    const left = await newSubject(t)
    await insertRating(t, left, 'high')
    await t.make(`POST /subjects/${left}/offboard`, { body: { reason: 'Moved away.' } })
    const sizes: number[] = []
    for (const { band } of (await t.make('GET /subjects/filters')).bands) {
      const searched = (await t.make(`GET /subjects?state=active&band=${band}`)).items as Item[]
      const found = await readAll(t, '/analytics/risk-distribution/subjects', { band })
      expect(sort(found.map(({ subject_id }) => [subject_id]))).toEqual(
        sort(searched.map(({ subject_id }) => [subject_id])),
      )
      sizes.push(found.length)
    }
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(4)
  })
})

describe('risk movements', () => {
  test('are those of a recount, and their sum is the change that the distribution shows', async () => {
    const t = await ExampleTenant.create(w)
    await insertHistories(superuser, t.tenant_id, 13, 50)
    await createMatrices(t)
    await t.runToEnd(
      await t.write((tx) => w.kernel.jobs.enqueue(tx, { kind: PORTFOLIO_DAYS, payload: {}, unlimited: true })),
    )
    const all = await findSubjectDays(superuser, t.tenant_id, 90)
    let rows = 0
    for (const [from, until] of [
      [50, 1],
      [30, 10],
      [12, 11],
      [5, 5],
    ] as const) {
      for (const matrix_key of [undefined, 'one']) {
        const query = { from_on: day(from), until_on: day(until), matrix_key }
        const found = await readAll(t, '/analytics/risk-movements', query)
        const [before, after] = [pick(all, day(from), matrix_key), pick(all, day(until), matrix_key)]
        const moved = [...new Set([...before.keys(), ...after.keys()])]
          .map((id) => [id, before.get(id) ?? null, after.get(id) ?? null])
          .filter(([, one, two]) => one !== two)
        expect(sort(found.map(({ subject_id, from_band, to_band }) => [subject_id, from_band, to_band]))).toEqual(
          sort(moved),
        )
        const shown = await t.make(
          `GET /analytics/risk-distribution?from_on=${day(from)}&until_on=${day(until)}${matrix_key ? `&matrix_key=${matrix_key}` : ''}`,
        )
        for (const { band, change } of shown.bands as { band: string; change: number }[]) {
          const of = await readAll(t, '/analytics/risk-movements', { ...query, band })
          const into = of.filter(({ to_band }) => to_band === band).length
          expect([band, into - of.filter(({ from_band }) => from_band === band).length]).toEqual([band, change])
        }
        rows += found.length
      }
    }
    expect(rows).toBeGreaterThan(60)
  })

  test('name the event that set the band, and when it took effect', async () => {
    const t = await ExampleTenant.create(w)
    const [rated, overridden, expired, ended, left] = await Promise.all(Array.from({ length: 5 }, () => newSubject(t)))
    for (const id of [rated, overridden, expired, ended, left] as string[])
      await insertRating(t, id, 'low', { valid_at: daysAgo(20) })
    await insertRating(t, rated as string, 'high', { valid_at: daysAgo(5) })
    await superuser.query('begin; set local session_replication_role = replica')
    const insert = (id: string | undefined, cause: string, valid_at: string, expires_at: string | null) =>
      superuser.query(
        `insert into app.rating (tenant_id, rating_id, subject_id, cause, band, valid_at, recorded_at, actor, reason, expires_at)
         values ($1, gen_random_uuid(), $2, $3, 'prohibited', $4, $4, 'seed:test', 'test', $5)`,
        [t.tenant_id, id, cause, valid_at, expires_at],
      )
    await insert(overridden, 'override', daysAgo(4), daysAgo(-4))
    await insert(expired, 'override', daysAgo(12), daysAgo(3))
    await insert(ended, 'override', daysAgo(12), daysAgo(-3))
    await insert(ended, 'override-ended', daysAgo(2), null)
    const offboarded_at = daysAgo(1)
    await superuser.query(
      `update app.subject set state = 'offboarded', offboarded_at = $3 where tenant_id = $1 and subject_id = $2`,
      [t.tenant_id, left, offboarded_at],
    )
    await superuser.query('commit')
    const found = await readAll(t, '/analytics/risk-movements', { from_on: day(10) })
    const of = (id: string | undefined) => {
      const one = found.find(({ subject_id }) => subject_id === id)
      return [one?.from_band, one?.to_band, one?.cause, one?.set_at.slice(0, 10)]
    }
    expect(of(rated)).toEqual(['low', 'high', 'evaluation', day(5)])
    expect(of(overridden)).toEqual(['low', 'prohibited', 'override', day(4)])
    expect(of(expired)).toEqual(['prohibited', 'low', 'override-expired', day(3)])
    expect(of(ended)).toEqual(['prohibited', 'low', 'override-ended', day(2)])
    expect(of(left)).toEqual(['low', null, 'offboarded', day(1)])
  })

  test('are found by a bounded number of subjects for each page, which may be empty and name the next', async () => {
    const t = await ExampleTenant.create(w)
    await insertHistories(superuser, t.tenant_id, 14, 40)
    const whole = await readAll(t, '/analytics/risk-movements', { from_on: day(3) })
    const found: string[] = []
    const sizes: number[] = []
    let cursor: string | undefined
    do {
      const page = await t.write((tx) =>
        listRiskMovements(
          {
            tx,
            kernel: w.kernel,
            actor: { tenant_id: t.tenant_id } as Actor,
            query: { from_on: day(3), limit: 3, ...(cursor !== undefined && { cursor }) },
          },
          { chunk_subjects: 2, most_chunks: 2 },
        ),
      )
      found.push(...page.items.map(({ subject_id }) => subject_id))
      sizes.push(page.items.length)
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
    expect(found).toEqual(whole.map(({ subject_id }) => subject_id))
    expect(found.length).toBeGreaterThanOrEqual(3)
    expect(sizes.length).toBeGreaterThanOrEqual(10)
    expect(sizes).toContain(0)
  })

  test('refuse a day to come, a period that ends before it begins, and an unknown matrix', async () => {
    const t = await ExampleTenant.create(w)
    const token = await t.token()
    for (const [address, pointer] of [
      ['risk-movements?until_on=9999-12-31&from_on=9999-01-01', '#/from_on'],
      ['risk-movements?from_on=2026-01-20&until_on=2026-01-10', '#/from_on'],
      ['risk-distribution/subjects?on=9999-12-31', '#/on'],
    ]) {
      const { status, json } = await w.call(`GET /analytics/${address}`, { token })
      expect([status, json.errors[0]]).toMatchObject([409, { in: 'query', pointer }])
    }
    for (const path of ['risk-movements', 'risk-distribution/subjects']) {
      const { status, json } = await w.call(`GET /analytics/${path}?matrix_key=customer-rsik`, { token })
      expect([status, json.detail]).toEqual([409, 'There is no risk matrix with the key customer-rsik.'])
    }
  })
})
