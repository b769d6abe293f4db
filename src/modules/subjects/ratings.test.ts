/** Ratings and overrides: which one is in force by the clock of the database, and their history. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roles as allRoles } from '#kernel/auth/roles.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { insertRating, newSubject } from './fixtures.ts'
import { listSubjectsAfter, ratingStore } from './index.ts'

const DAY_MS = 86_400_000
let w: TestApp
let t: ExampleTenant
let token: string
beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  token = await t.token()
})
afterAll(() => w.close())

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()
const override = (subject_id: string, more: object = {}) =>
  w.call(`POST /subjects/${subject_id}/risk-override`, {
    token,
    body: { band: 'high', reason: 'adverse media', expires_at: inDays(30), ...more },
  })
const end = (subject_id: string, query = '') =>
  w.call(`DELETE /subjects/${subject_id}/risk-override${query}`, { token })
const getRisk = (subject_id: string) => t.make(`GET /subjects/${subject_id}/risk`)
const getListed = async (subject_id: string) =>
  (await t.make('GET /subjects?limit=200')).items.find((item: { subject_id: string }) => item.subject_id === subject_id)
const getBand = async (subject_id: string) => (await getListed(subject_id))?.band
const listByBand = async (band: string): Promise<string[]> =>
  (await t.make(`GET /subjects?limit=200&band=${band}`)).items.map(
    ({ subject_id }: { subject_id: string }) => subject_id,
  )

/** Moves times into the past, as a superuser without triggers: no client can do so. */
async function rewind(subject_id: string): Promise<void> {
  const owner = new pg.Client(w.clone.postgres)
  await owner.connect()
  await owner.query(`begin; set local session_replication_role = replica;
    update app.rating set recorded_at = now() - interval '2 days', valid_at = now() - interval '2 days',
           expires_at = now() - interval '1 ms' where subject_id = '${subject_id}' and cause = 'override';
    update app.subject_risk set override_until = now() - interval '1 ms' where subject_id = '${subject_id}'; commit`)
  await owner.end()
}

describe('the rating in force', () => {
  test('is none for a subject that was never rated', async () => {
    const subject_id = await newSubject(t)
    expect(await getRisk(subject_id)).toEqual({ subject_id, band: null, source: 'none', override: null, rating: null })
  })

  test('is the latest by validity; a rating for an earlier time is stored and changes nothing', async () => {
    const subject_id = await newSubject(t)
    await insertRating(t, subject_id, 'low')
    await insertRating(t, subject_id, 'medium')
    await insertRating(t, subject_id, 'prohibited', { valid_at: '2020-01-01T00:00:00Z' })
    expect(await getRisk(subject_id)).toMatchObject({
      band: 'medium',
      source: 'rating',
      rating: { band: 'medium', cause: 'evaluation', matrix_key: 'customer-risk', score_bps: 5000 },
    })
    const { items } = await t.make(`GET /subjects/${subject_id}/risk-history`)
    expect(items.map(({ band }: { band: string }) => band)).toEqual(['prohibited', 'medium', 'low'])
  })

  test('is set for many subjects by one statement, also for one named twice', async () => {
    const ids = [await newSubject(t), await newSubject(t), await newSubject(t)] as const
    const batch_id = uuidv7()
    const of = (subject_id: string, band: string, valid_at: string): ratingStore.NewRating => ({
      rating_id: uuidv7(),
      subject_id,
      cause: 'batch',
      matrix_key: 'customer-risk',
      matrix_version: 2,
      band,
      score_bps: 1,
      batch_id,
      valid_at,
    })
    const count = await t.write((tx) =>
      ratingStore.insertRatings(tx, [
        of(ids[0], 'medium', '2026-02-01T00:00:00Z'),
        of(ids[0], 'low', '2026-01-01T00:00:00Z'),
        of(ids[1], 'high', '2026-01-01T00:00:00Z'),
      ]),
    )
    expect(count).toBe(3)
    expect(await Promise.all(ids.map(getBand))).toEqual(['medium', 'high', null])
    const all = await t.write((tx) => listSubjectsAfter(tx, { band: 'high' }, ids[0], 10))
    expect(all.map(({ subject_id }) => subject_id)).toContain(ids[1])
    expect(all.map(({ subject_id }) => subject_id)).not.toContain(ids[0])
  })
})

describe('an override', () => {
  test('has precedence over newer ratings until it is ended', async () => {
    const subject_id = await newSubject(t)
    await insertRating(t, subject_id, 'low')
    const made = await override(subject_id)
    expect(made.status).toBe(201)
    expect(made.json).toMatchObject({ cause: 'override', band: 'high', reason: 'adverse media', actor: t.caller })
    await insertRating(t, subject_id, 'medium')
    expect(await getRisk(subject_id)).toMatchObject({
      band: 'high',
      source: 'override',
      override: made.json,
      rating: { band: 'medium' },
    })
    expect([await listByBand('high'), await listByBand('medium')].map((ids) => ids.includes(subject_id))).toEqual([
      true,
      false,
    ])
    expect((await end(subject_id, '?reason=cleared')).status).toBe(204)
    expect(await getRisk(subject_id)).toMatchObject({ band: 'medium', source: 'rating', override: null })
    expect([await listByBand('high'), await listByBand('medium')].map((ids) => ids.includes(subject_id))).toEqual([
      false,
      true,
    ])
    const { items } = await t.make(`GET /subjects/${subject_id}/risk-history`)
    expect(items).toMatchObject([
      { cause: 'override-ended', band: 'medium', reason: 'cleared' },
      { cause: 'evaluation', band: 'medium' },
      { cause: 'override', band: 'high' },
      { cause: 'evaluation', band: 'low' },
    ])
    const kinds = (await t.make(`GET /subjects/${subject_id}/timeline`)).items.map(({ kind }: { kind: string }) => kind)
    expect(kinds).toEqual(['override-ended', 'rated', 'overridden', 'rated', 'created'])
  })

  test('expires by the clock of the database', async () => {
    const subject_id = await newSubject(t)
    await insertRating(t, subject_id, 'low')
    await override(subject_id)
    expect(await getBand(subject_id)).toBe('high')
    await rewind(subject_id)
    expect(await getRisk(subject_id)).toMatchObject({ band: 'low', source: 'rating', override: null })
    expect(await getBand(subject_id)).toBe('low')
    expect([await listByBand('high'), await listByBand('low')].map((ids) => ids.includes(subject_id))).toEqual([
      false,
      true,
    ])
    expect((await end(subject_id)).status).toBe(404)
  })

  test('replaces an earlier one, and needs no rating', async () => {
    const subject_id = await newSubject(t)
    await override(subject_id)
    await override(subject_id, { band: 'prohibited' })
    expect(await getRisk(subject_id)).toMatchObject({ band: 'prohibited', rating: null })
    expect((await end(subject_id)).status).toBe(204)
    expect(await getRisk(subject_id)).toMatchObject({ band: null, source: 'none' })
    expect((await end(subject_id)).json).toMatchObject({ code: 'not_found', detail: 'There is no override in force.' })
  })

  test.each([
    ['over before it begins', { expires_at: inDays(-1) }, [422, 'validation_failed', '#/expires_at']],
    ['longer than 400 days', { expires_at: inDays(401) }, [422, 'validation_failed', '#/expires_at']],
    ['in a band that there is not', { band: 'hihg' }, [409, 'conflict', '#/band']],
  ])('%s is refused with its pointer', async (_name, more, expected) => {
    const reply = await override(await newSubject(t), more)
    expect([reply.status, reply.json.code, reply.json.errors[0].pointer]).toEqual(expected)
  })

  test('of just under 400 days, or with a band of the matrix only, is accepted', async () => {
    const subject_id = await newSubject(t)
    await insertRating(t, subject_id, 'house-band')
    expect((await override(subject_id, { band: 'house-band' })).status).toBe(201)
    expect((await override(subject_id, { expires_at: inDays(399.9) })).status).toBe(201)
  })

  test('needs approval where the policy requires it, and is void when the rating has changed', async () => {
    const rules = [{ action: 'risk-override', approvers: 1, role: 'compliance_officer' }]
    await t.setApprovalRules(rules)
    try {
      const subject_id = await newSubject(t)
      await insertRating(t, subject_id, 'low')
      const approver = await t.token(allRoles, t.author)
      const approve = (cr_id: string) => w.call(`POST /change-requests/${cr_id}/approve`, { token: approver, body: {} })
      const proposed = await override(subject_id)
      expect(proposed.status).toBe(202)
      expect((await getRisk(subject_id)).band).toBe('low')
      await insertRating(t, subject_id, 'medium')
      expect((await approve(proposed.json.cr_id)).json.code).toBe('approval_void')
      const again = await override(subject_id)
      expect((await approve(again.json.cr_id)).status).toBe(200)
      const { cr_id, created_by: proposed_by } = again.json
      expect(proposed_by).not.toBe(t.author)
      const of_request = { cr_id, proposed_by, actor: t.author }
      expect(await getRisk(subject_id)).toMatchObject({ band: 'high', override: of_request })
      const at = `GET /subjects/${subject_id}/risk`
      const viewer = await t.token(['viewer'])
      const hidden = { cr_id: null, proposed_by: null, reason: null }
      expect((await t.make(at, { token: viewer })).override).toMatchObject(hidden)
      const ending = await end(subject_id)
      expect(ending.status).toBe(202)
      expect((await approve(ending.json.cr_id)).status).toBe(200)
      expect((await getRisk(subject_id)).band).toBe('medium')
      const { items } = await t.make(`${at}-history?limit=3`)
      expect(items).toMatchObject([
        { ...of_request, cr_id: ending.json.cr_id, cause: 'override-ended' },
        { ...of_request, cause: 'override' },
        { cr_id: null, proposed_by: null },
      ])
    } finally {
      await t.setApprovalRules([])
    }
  })

  test('that lowers the rating, or prolongs that, waits for an officer where there is one', async () => {
    const officer = await t.make('POST /users', {
      body: { name: 'Olga Officer', email: 'olga@example.com', roles: ['compliance_officer'] },
    })
    const approver = await t.token(['compliance_officer'], `user:${officer.user_id}`)
    const subject_id = await newSubject(t)
    await insertRating(t, subject_id, 'high')
    expect((await override(subject_id, { band: 'prohibited' })).status).toBe(201)
    expect((await override(subject_id, { band: 'high' })).status).toBe(202)
    const lowered = await override(subject_id, { band: 'low' })
    expect([lowered.status, lowered.json.required_role, lowered.json.approvers]).toEqual([202, 'compliance_officer', 1])
    expect((await getRisk(subject_id)).band).toBe('prohibited')
    expect(await getListed(subject_id)).toMatchObject({ band: 'prohibited', rating_source: 'override' })
    const approved = await w.call(`POST /change-requests/${lowered.json.cr_id}/approve`, { token: approver, body: {} })
    expect(approved.status).toBe(200)
    expect((await getRisk(subject_id)).band).toBe('low')
    expect((await override(subject_id, { band: 'low', expires_at: inDays(60) })).status).toBe(202)
    expect((await override(subject_id, { band: 'high' })).status).toBe(201)
  })
})
