/** Subject records: create, change, history, offboarding and search. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '#kernel/auth/roles.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { insertRating, newSubject as newRatedSubject } from './fixtures.ts'

let w: TestApp
let t: ExampleTenant
let token: string
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
  token = await t.token()
})
afterAll(() => w.close())

const person = (more: object = {}) => ({ subject_type: 'person', name: 'Ada Lovelace', ...more })
const newSubject = (more: object = {}) => t.make('POST /subjects', { body: person(more) })
const names = async (query: string, of = t): Promise<string[]> =>
  (await of.make(`GET /subjects?${query}`)).items.map(({ name }: { name: string }) => name)

describe('creating a subject', () => {
  test('returns it with ETag, location and revision 1', async () => {
    const body = person({
      external_id: 'c-1',
      segment: 'retail',
      attributes: { country: 'DE', pep: false, turnover: 12.5 },
    })
    const reply = await w.call('POST /subjects', { token, body })
    expect(reply.status).toBe(201)
    expect(reply.json).toMatchObject({ ...body, state: 'active', revision: 1, created: true, created_by: t.caller })
    expect(reply.headers).toMatchObject({ etag: '"1"', location: `/api/subjects/${reply.json.subject_id}` })
    const { created: _, ...subject } = reply.json
    expect(await t.make(`GET /subjects/${subject.subject_id}`)).toEqual(subject)
  })

  test('with a known external id changes that subject; absent members stay', async () => {
    const first = await newSubject({ external_id: 'c-2', segment: 'retail', attributes: { country: 'DE' } })
    const second = await newSubject({ external_id: 'c-2', name: 'Ada King' })
    expect(second).toMatchObject({
      subject_id: first.subject_id,
      created: false,
      revision: 2,
      name: 'Ada King',
      segment: 'retail',
      attributes: { country: 'DE' },
    })
    expect(await newSubject({ external_id: 'c-2', name: 'Ada King' })).toMatchObject({ created: false, revision: 2 })
    expect(await newSubject({ external_id: 'c-2', name: 'Ada King', segment: null })).toMatchObject({ segment: null })
  })

  test('concurrently with one external id creates one subject, and no request is refused', async () => {
    for (const external_id of ['race-1', 'race-2', 'race-3']) {
      const bodies = Array.from({ length: 6 }, (_, n) => person({ external_id, name: `Racer ${n}` }))
      const replies = await Promise.all(bodies.map((body) => w.call('POST /subjects', { token, body })))
      expect(replies.map(({ status }) => status)).toEqual(Array(6).fill(201))
      expect(new Set(replies.map(({ json }) => json.subject_id)).size).toBe(1)
      expect(replies.filter(({ json }) => json.created)).toHaveLength(1)
      // Each change saw the one before it: none was lost.
      expect(replies.map(({ json }) => json.revision).toSorted()).toEqual([1, 2, 3, 4, 5, 6])
      const found = await t.make(`GET /subjects?external_id=${external_id}`)
      expect(found.items).toHaveLength(1)
    }
  })

  test('refuses attributes beyond 16 KiB or 100 members, with their pointer', async () => {
    const large = await w.call('POST /subjects', { token, body: person({ attributes: { text: 'x'.repeat(16_384) } }) })
    expect([large.status, large.json.code]).toEqual([409, 'conflict'])
    expect(large.json.errors[0]).toMatchObject({ in: 'body', pointer: '#/attributes' })
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`a${n}`, n]))
    expect((await w.call('POST /subjects', { token, body: person({ attributes: many }) })).status).toBe(422)
    const fits = { text: 'x'.repeat(16_384 - '{"text":""}'.length) }
    expect((await newSubject({ attributes: fits })).attributes).toEqual(fits)
  })

  test('returns attributes unchanged, including unusual names', async () => {
    const attributes = JSON.parse(
      '{"__proto__":1,"constructor":"x","list":["DE","FR"],"none":null,"1":1e-7,"":{"a":[]}}',
    )
    const { subject_id } = await newSubject({ attributes })
    const { text } = await w.call(`GET /subjects/${subject_id}`, { token })
    expect(JSON.parse(text).attributes).toEqual(attributes)
  })

  test('repeated with the same Idempotency-Key creates nothing new', async () => {
    const call = () =>
      w.call('POST /subjects', { token, body: person({ name: 'Once Only' }), headers: { 'idempotency-key': 'once' } })
    const [first, second] = [await call(), await call()]
    expect(second.json).toEqual(first.json)
    expect(await names('name=once+only')).toEqual(['Once Only'])
  })
})

describe('changing a record', () => {
  test('returns 409 or 412 when the named revision is not the current one', async () => {
    const { subject_id } = await newSubject()
    const change = (headers: Record<string, string>, body: object) =>
      w.call(`PATCH /subjects/${subject_id}`, { token, headers, body })
    expect((await change({ 'if-match': '"7"' }, { name: 'B' })).status).toBe(412)
    expect((await change({}, { name: 'B', expected_revision: 7 })).json.code).toBe('revision_stale')
    expect((await change({ 'if-match': '"1"' }, { name: 'B' })).json).toMatchObject({ name: 'B', revision: 2 })
    expect((await change({}, { name: 'B' })).json.revision).toBe(2)
    expect((await change({}, { segment: null, attributes: { a: 1 } })).json).toMatchObject({ revision: 3, name: 'B' })
  })

  test('sets an external id later, but not one that is taken', async () => {
    await newSubject({ external_id: 'taken' })
    const { subject_id } = await newSubject()
    const reply = await w.call(`PATCH /subjects/${subject_id}`, { token, body: { external_id: 'taken' } })
    expect([reply.status, reply.json.code]).toEqual([409, 'duplicate'])
    expect(await t.make(`PATCH /subjects/${subject_id}`, { body: { external_id: 'free' } })).toMatchObject({
      external_id: 'free',
    })
  })

  test('writes an audit event without personal data', async () => {
    const { subject_id } = await newSubject({ name: 'Secret Person', attributes: { tax_id: 'TX-4711' } })
    await t.make(`PATCH /subjects/${subject_id}`, { body: { name: 'Hidden Person' } })
    const { items } = await t.make(`GET /audit/objects/subjects/${subject_id}`)
    expect(items).toHaveLength(2)
    expect(items[0].detail).toMatchObject({ before_hash: expect.any(String), after_hash: expect.any(String) })
    expect(JSON.stringify(items)).not.toMatch(/Secret|Hidden|TX-4711/)
  })
})

describe('history', () => {
  test('keeps every version with actor and time, and is read as of an instant', async () => {
    const made = await newSubject({ name: 'One', attributes: { n: 1 } })
    const path = `/subjects/${made.subject_id}`
    const other = await t.token(['analyst'], t.author)
    const second = await t.make(`PATCH ${path}`, { body: { name: 'Two' }, token: other })
    await t.make(`PATCH ${path}`, { body: { attributes: { n: 2 } } })
    const { items } = await t.make(`GET ${path}/versions`)
    expect(items).toMatchObject([
      { revision: 3, name: 'Two', attributes: { n: 2 }, changed_by: t.caller, recorded_until: null },
      { revision: 2, name: 'Two', attributes: { n: 1 }, changed_by: t.author },
      { revision: 1, name: 'One', attributes: { n: 1 }, changed_by: t.caller, recorded_from: made.created_at },
    ])
    // Validity intervals have no gap and no overlap.
    expect(items[1].recorded_until).toBe(items[0].recorded_from)
    expect(items[2].recorded_until).toBe(items[1].recorded_from)
    const at = async (instant: string) =>
      (await t.make(`GET ${path}/versions?at=${instant}`)).items.map(({ revision }: { revision: number }) => revision)
    expect(await at('2001-01-01T00:00:00Z')).toEqual([])
    expect(await at(made.created_at)).toEqual([1])
    expect(await at(second.updated_at)).toEqual([2])
    expect(await at('2999-01-01T00:00:00Z')).toEqual([3])
  })

  test('is read in pages', async () => {
    const { subject_id } = await newSubject()
    for (const name of ['B', 'C', 'D']) await t.make(`PATCH /subjects/${subject_id}`, { body: { name } })
    for (const list of ['versions', 'timeline']) {
      const revisions: number[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const query: string = cursor && `&cursor=${cursor}`
        const page = await t.make(`GET /subjects/${subject_id}/${list}?limit=1${query}`)
        revisions.push(...page.items.map(({ revision }: { revision: number }) => revision))
        cursor = page.next_cursor
      }
      expect(revisions).toEqual([4, 3, 2, 1])
    }
  })

  test('the timeline lists events and changed members', async () => {
    const { subject_id } = await newSubject()
    await t.make(`PATCH /subjects/${subject_id}`, { body: { name: 'Ada King', segment: 'private' } })
    await t.make(`POST /subjects/${subject_id}/offboard`, { body: { reason: 'moved away' } })
    expect((await t.make(`GET /subjects/${subject_id}/timeline`)).items).toMatchObject([
      { kind: 'offboarded', revision: 3, members: ['state'], reason: 'moved away' },
      { kind: 'changed', revision: 2, members: ['name', 'segment'], actor: t.caller, reason: null },
      { kind: 'created', revision: 1, members: [] },
    ])
  })
})

describe('offboarding', () => {
  test('closes the record for changes; repeating it changes nothing', async () => {
    const { subject_id } = await newSubject({ external_id: 'gone' })
    const offboard = () => t.make(`POST /subjects/${subject_id}/offboard`, { body: { reason: 'closed' } })
    const ended = await offboard()
    expect(ended).toMatchObject({ state: 'offboarded', offboard_reason: 'closed', revision: 2 })
    expect(ended.offboarded_at).not.toBeNull()
    expect(await offboard()).toEqual(ended)
    const expires_at = new Date(Date.now() + 86_400_000).toISOString()
    const refused = [
      await w.call(`PATCH /subjects/${subject_id}`, { token, body: { name: 'X' } }),
      await w.call('POST /subjects', { token, body: person({ external_id: 'gone' }) }),
      await w.call(`POST /subjects/${subject_id}/risk-override`, {
        token,
        body: { band: 'high', reason: 'x', expires_at },
      }),
    ]
    expect(refused.map(({ json }) => json.code)).toEqual(Array(3).fill('transition_not_allowed'))
    expect(await t.make(`GET /subjects/${subject_id}`)).toEqual(ended)
  })
})

test('the text of an offboarding is for roles that work on cases', async () => {
  const { subject_id } = await newSubject()
  await t.make(`POST /subjects/${subject_id}/offboard`, { body: { reason: 'Refuses to explain' } })
  const seen = async (role: Role) => {
    const token = await t.token([role])
    const one = await w.call(`GET /subjects/${subject_id}`, { token })
    const { items } = (await w.call('GET /subjects?state=offboarded', { token })).json
    const listed = items.find((item: { subject_id: string }) => item.subject_id === subject_id)
    return [one.json.offboard_reason, listed.offboard_reason]
  }
  for (const role of ['viewer', 'service', 'policy_editor'] as const) expect(await seen(role)).toEqual([null, null])
  expect(await seen('analyst')).toEqual(['Refuses to explain', 'Refuses to explain'])
})

describe('searching', () => {
  let office: ExampleTenant
  beforeAll(async () => {
    office = await ExampleTenant.create(w)
    const subjects = [
      { subject_type: 'person', name: 'Jürgen Müller', external_id: 'p1', segment: 'retail' },
      { subject_type: 'person', name: 'Søren Ødegaard', external_id: 'p2', segment: 'private' },
      { subject_type: 'company', name: 'Müller & Söhne GmbH', external_id: 'c1', segment: 'retail' },
      { subject_type: 'company', name: 'Straße 9 Holding', external_id: 'c2' },
      { subject_type: 'other', name: '★★★', external_id: 'o1' },
    ]
    for (const body of subjects) await office.make('POST /subjects', { body })
    const { items } = await office.make('GET /subjects?external_id=p2')
    await office.make(`POST /subjects/${items[0].subject_id}/offboard`, { body: { reason: 'x' } })
  })

  test.each([
    ['name=mul', ['Müller & Söhne GmbH', 'Jürgen Müller']],
    ['name=MÜLLER+jur', ['Jürgen Müller']],
    ['name=muller+gmb', ['Müller & Söhne GmbH']],
    ['name=ller', []],
    ['name=odegaard', ['Søren Ødegaard']],
    ['name=strasse+9', ['Straße 9 Holding']],
    ['name=★', ['★★★']],
    ['name=*', []],
    ['external_id=c2', ['Straße 9 Holding']],
    ['external_id=c', []],
    ['subject_type=company', ['Straße 9 Holding', 'Müller & Söhne GmbH']],
    ['segment=retail&subject_type=person', ['Jürgen Müller']],
    ['state=offboarded', ['Søren Ødegaard']],
    ['band=high', []],
  ])('%s', async (query, expected) => {
    expect(await names(encodeURI(query), office)).toEqual(expected)
  })

  test('gives pages, newest first, with each subject once', async () => {
    const first = await office.make('GET /subjects?limit=2')
    const second = await office.make(`GET /subjects?limit=2&cursor=${first.next_cursor}`)
    const third = await office.make(`GET /subjects?limit=2&cursor=${second.next_cursor}`)
    const all = [...first.items, ...second.items, ...third.items].map(({ external_id }) => external_id)
    expect(all).toEqual(['o1', 'c2', 'c1', 'p2', 'p1'])
    expect(third.next_cursor).toBeNull()
  })

  test('finds a subject by its new name and not by its old one', async () => {
    const { subject_id } = await newSubject({ name: 'Quentin Oldname' })
    await t.make(`PATCH /subjects/${subject_id}`, { body: { name: 'Quentin Newname' } })
    expect(await names('name=oldname')).toEqual([])
    expect(await names('name=quentin+newname')).toEqual(['Quentin Newname'])
  })

  test('stores and finds names whose folded words are very long', async () => {
    const name = 'ﷺ'.repeat(400)
    await newSubject({ name })
    expect(await names(`name=${encodeURIComponent('ﷺ')}`)).toEqual([name])
  })

  test('finds nothing of another tenant', async () => {
    const outsider = await ExampleTenant.create(w)
    expect(await names('name=muller', outsider)).toEqual([])
    expect((await w.call(`GET /subjects/${uuidv7()}`, { token })).status).toBe(404)
  })
})

test('offers the segments and bands that subjects have, the bands in force in their order', async () => {
  const other = await ExampleTenant.create(w)
  expect(await other.make('GET /subjects/filters')).toMatchObject({ segments: [] })
  for (const segment of ['retail', 'corporate', 'retail', null]) {
    await other.make('POST /subjects', { body: person({ segment }) })
  }
  expect(await other.make('GET /subjects/count?segment=retail')).toEqual({ count: 2, is_capped: false })
  await insertRating(other, await newRatedSubject(other), 'house-band')
  const { segments, bands } = await other.make('GET /subjects/filters')
  expect(segments).toEqual(['corporate', 'retail'])
  expect(bands.map(({ band }: { band: string }) => band)).toEqual(['low', 'medium', 'high', 'prohibited', 'house-band'])
})
