/** The outbox: numbered so that no reader misses an event, nothing about restricted objects, and never changed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordEvent } from '#kernel/audit/record.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { emit } from '#kernel/events/emit.ts'
import { declareEvent } from '#kernel/events/event-type.ts'
import { newDocument } from '#modules/documents/fixtures.ts'
import { insertRating, newSubject } from '#modules/subjects/fixtures.ts'
import { chainAllEvents } from '#test/support/audit-chain.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { latch } from '#test/support/job-test-app.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
beforeAll(async () => {
  w = await shareTestApp()
})
afterAll(() => w.close())

const happened = declareEvent({ type: 'test.happened', summary: 'A test.', object_kind: 'test', data: {} })

/** As a request would: the event and the record of the change in one transaction. */
async function emitRecorded(
  tx: Tx,
  object_id: string,
  restriction_id: string | null = null,
  also_restriction_id: string | null = null,
): Promise<void> {
  await emit(tx, happened, { object_id, restriction_id, also_restriction_id, data: {} })
  const detail = {}
  recordEvent(tx, w.kernel.auditKeys, {
    operation: 'test',
    object_type: 'test',
    object_id,
    request_id: null,
    detail,
    restriction_id,
    also_restriction_id,
  })
}
interface Envelope {
  readonly type: string
  readonly subject: string
  readonly sequence: string
  readonly data: { readonly object_id: string }
}
const read = async (t: ExampleTenant, after = 0, query = ''): Promise<{ items: Envelope[]; last: number }> =>
  t.make(`GET /events?after=${after}&limit=200${query}`)
const readIds = async (t: ExampleTenant, after = 0): Promise<string[]> =>
  (await read(t, after)).items.filter(({ type }) => type === happened.type).map(({ data }) => data.object_id)

describe('a reader', () => {
  test('misses no event of transactions that commit in reverse order', async () => {
    const t = await ExampleTenant.create(w)
    const [begun, goOn] = [latch(), latch()]
    const first = t.write(async (tx) => {
      await emitRecorded(tx, 'first')
      begun.open()
      await goOn.opened
    })
    await begun.opened
    await t.write((tx) => emitRecorded(tx, 'second'))
    await w.runtime.createChainWriter().runOnce()
    const early = await read(t)
    goOn.open()
    await first
    // It was committed, but an earlier transaction was open: a reader who saw it would go on after it.
    expect(early.items.filter(({ type }) => type === 'test.happened')).toEqual([])
    await chainAllEvents(w, t)
    expect(await readIds(t, early.last)).toEqual(['first', 'second'])
  })

  test('gets every event of 60 transactions at once exactly once, in pages, while they are numbered', async () => {
    const t = await ExampleTenant.create(w)
    const chainWriter = w.runtime.createChainWriter()
    const seen: string[] = []
    let last = 0
    const follow = async () => {
      await chainWriter.runOnce()
      for (let more = true; more; ) {
        const page = await t.make(`GET /events?after=${last}&limit=7`)
        seen.push(...page.items.map(({ data }: Envelope) => data.object_id))
        last = page.last
        more = page.has_more
      }
    }
    const writes = Promise.all(Array.from({ length: 60 }, (_, n) => t.write((tx) => emitRecorded(tx, `object-${n}`))))
    for (let n = 0; n < 5; n++) await follow()
    await writes
    await chainAllEvents(w, t)
    await follow()
    expect(seen.toSorted()).toEqual(Array.from({ length: 60 }, (_, n) => `object-${n}`).toSorted())
  })

  test('cannot tell a hidden event by a missing number', async () => {
    const t = await ExampleTenant.create(w)
    for (let n = 0; n < 20; n++) await t.write((tx) => emitRecorded(tx, `object-${n}`))
    await chainAllEvents(w, t)
    const numbers = (await read(t)).items.map(({ sequence }) => Number(sequence))
    const steps = numbers.map((number, n) => number - (numbers[n - 1] ?? 0))
    expect(Math.min(...steps)).toBeGreaterThan(0)
    expect(new Set(steps).size).toBeGreaterThan(5)
  })

  test('gets CloudEvents with ids, and goes on after old ones were removed', async () => {
    const t = await ExampleTenant.create(w)
    await t.write((tx) => emitRecorded(tx, 'one'))
    await chainAllEvents(w, t)
    const { items } = await read(t)
    expect(items).toEqual([
      {
        specversion: '1.0',
        id: expect.any(String),
        source: `/api/tenants/${t.tenant_id}`,
        type: 'test.happened',
        subject: 'test/one',
        time: expect.any(String),
        datacontenttype: 'application/json',
        sequence: expect.stringMatching(/^[1-9]\d*$/),
        data: { object_id: 'one' },
      },
    ])
    await t.write((tx) => tx.run('delete from app.event where tenant_id = $1', [tx.tenant_id]))
    await t.write((tx) => emitRecorded(tx, 'two'))
    await chainAllEvents(w, t)
    const [one] = items as [Envelope]
    const [two, ...others] = (await read(t, Number(one.sequence))).items
    expect([two?.data.object_id, others]).toEqual(['two', []])
    expect(Number(two?.sequence)).toBeGreaterThan(Number(one.sequence))
  })
})

describe('an object with a restriction', () => {
  test('emits nothing while it is in force, and what it emitted before is hidden with it', async () => {
    const t = await ExampleTenant.create(w)
    const body = { purpose: 'Case 40', is_in_force: false }
    const { restriction_id } = await t.make('POST /restrictions', { body })
    const outsider = await w.person(t.tenant_id, ['auditor', 'service'])
    const readAsOutsider = async () =>
      (await w.call('GET /events', { token: outsider.token })).json.items
        .filter(({ type }: Envelope) => type === happened.type)
        .map(({ data }: Envelope) => data.object_id)
    await t.write((tx) => emitRecorded(tx, 'before', restriction_id))
    await chainAllEvents(w, t)
    expect(await readAsOutsider()).toEqual(['before'])
    await t.make(`POST /restrictions/${restriction_id}/impose`)
    await t.write((tx) => emitRecorded(tx, 'while', restriction_id))
    await chainAllEvents(w, t)
    expect(await readAsOutsider()).toEqual([])
    // Not even people with access: webhooks and exports must not carry it.
    expect(await readIds(t)).toEqual(['before'])
  })
})

describe('an object with two restrictions', () => {
  test('emits nothing while one of them is in force, and is hidden by each', async () => {
    const t = await ExampleTenant.create(w)
    const prepare = async (): Promise<string> =>
      (await t.make('POST /restrictions', { body: { purpose: 'Case 41', is_in_force: false } })).restriction_id
    const [first, second] = [await prepare(), await prepare()]
    const outsider = await w.person(t.tenant_id, ['auditor', 'service'])
    const readAsOutsider = async () =>
      (await w.call('GET /events', { token: outsider.token })).json.items
        .filter(({ type }: Envelope) => type === happened.type)
        .map(({ data }: Envelope) => data.object_id)
    await t.write((tx) => emitRecorded(tx, 'before', first, second))
    await chainAllEvents(w, t)
    for (const restriction_id of [first, second]) {
      expect(await readAsOutsider()).toEqual(['before'])
      await t.make(`POST /restrictions/${restriction_id}/impose`)
      await t.write((tx) => emitRecorded(tx, 'while', first, second))
      await chainAllEvents(w, t)
      expect(await readAsOutsider()).toEqual([])
      expect(await readIds(t)).toEqual(['before'])
      await t.make(`POST /restrictions/${restriction_id}/lift`, { body: { reason: 'Not confirmed' } })
    }
    expect(await readAsOutsider()).toEqual(['before'])
    // Not yet numbered either.
    await t.write((tx) => emitRecorded(tx, 'after', first, second))
    await expect(
      t.write((tx) =>
        tx.run(`update app.event set also_restriction_id = null where tenant_id = $1 and object_id = 'after'`, [
          t.tenant_id,
        ]),
      ),
    ).rejects.toMatchObject({ code: 'PB002' })
  })
})

describe('events of modules', () => {
  test('are written for a changed band, in force or overridden, and not for the first rating or the same band', async () => {
    const t = await ExampleTenant.create(w)
    const subject_id = await newSubject(t)
    for (const band of ['low', 'low', 'high']) await insertRating(t, subject_id, band)
    const expires_at = new Date(Date.now() + 86_400_000).toISOString()
    await t.make(`POST /subjects/${subject_id}/risk-override`, { body: { band: 'low', reason: 'known', expires_at } })
    // Under the override the rating moves without any effect.
    await insertRating(t, subject_id, 'medium')
    await chainAllEvents(w, t)
    const { items } = await read(t, 0, '&type=subject.rating_changed')
    expect(items.map(({ subject }) => subject)).toEqual([`subject/${subject_id}`, `subject/${subject_id}`])
  })

  test('are not written by the dry run of a proposed change, and once by its approval', async () => {
    const t = await ExampleTenant.create(w)
    const list_key = 'prohibited-jurisdictions'
    await t.setApprovalRules([{ action: 'activation', approvers: 1, role: 'compliance_officer' }])
    const body = { version: 1, reason: 'in review', expires_at: new Date(Date.now() + 86_400_000).toISOString() }
    const proposed = await t.make(`POST /reference-data/datasets/${list_key}/pin`, {
      token: await t.token(undefined, t.author),
      body,
    })
    await chainAllEvents(w, t)
    expect(await read(t)).toMatchObject({ items: [] })
    await t.make(`POST /change-requests/${proposed.cr_id}/approve`, { body: {} })
    await chainAllEvents(w, t)
    expect((await read(t)).items.map(({ type, data }) => [type, data])).toEqual([
      ['definition.in_force_changed', { object_id: list_key, family: 'list', effective_from: null }],
      ['change_request.decided', { object_id: proposed.cr_id, action: 'activation', state: 'approved' }],
    ])
  })

  test('are written for holds, documents and erasures, and none for what is restricted', async () => {
    const t = await ExampleTenant.create(w)
    const token = await t.token(undefined, t.author)
    const [subject_id, document_id] = [await newSubject(t), await newDocument(t)]
    const hold = { object_kind: 'subject', object_id: subject_id, reason: 'Order' }
    const { hold_id } = await t.make('POST /holds', { token, body: hold })
    await t.make(`POST /holds/${hold_id}/release`, { body: { reason: 'Closed' } })
    const { restriction_id } = await t.make('POST /restrictions', { token, body: { purpose: 'Case 41' } })
    const object_id = await newSubject(t)
    await t.make('POST /holds', { token, body: { ...hold, object_id, restriction_id } })
    const { erasure_id } = await t.make(`POST /subjects/${subject_id}/erase`, { token, body: { reason: 'Request' } })
    await t.runToEnd(await t.make(`POST /erasures/${erasure_id}/confirm`))
    await chainAllEvents(w, t)
    const held = { object_kind: 'subject', held_object_id: subject_id }
    expect((await read(t)).items.map(({ type, data }) => [type, data])).toEqual([
      ['document.stored', { object_id: document_id }],
      ['hold.placed', { object_id: hold_id, ...held }],
      ['hold.released', { object_id: hold_id, ...held }],
      ['erasure.requested', { object_id: erasure_id, subject_id }],
      ['subject.erased', { object_id: subject_id, erasure_id }],
    ])
  })

  test('of an unknown type, or far beyond the end, are refused', async () => {
    const t = await ExampleTenant.create(w)
    const token = await t.token()
    const refuse = async (query: string) => (await w.call(`GET /events?${query}`, { token })).json
    expect(await refuse('type=subject.vanished')).toMatchObject({
      status: 409,
      detail: expect.stringContaining('`type`'),
    })
    expect(await refuse('after=99999999')).toMatchObject({ status: 409, detail: expect.stringContaining('`after`') })
    // As precise an answer would tell where the last event is, also a hidden one.
    expect(await t.make('GET /events?after=5000')).toEqual({ items: [], last: 5000, has_more: false })
  })

  test('have declared types, each once', async () => {
    const t = await ExampleTenant.create(w)
    const { items } = await t.make('GET /events/types')
    const types = items.map(({ type }: { type: string }) => type)
    expect(types).toEqual(types.toSorted())
    expect(new Set(types).size).toBe(types.length)
    expect(types).toEqual(
      expect.arrayContaining([
        'batch_evaluation.completed',
        'change_request.decided',
        'definition.in_force_changed',
        'subject.rating_changed',
        'work.clock_missed',
      ]),
    )
  })
})

test('an event is numbered once and never changed', async () => {
  const t = await ExampleTenant.create(w)
  await t.write((tx) => emitRecorded(tx, 'one'))
  await chainAllEvents(w, t)
  for (const change of ['seq = 9', 'seq = null', `object_id = 'two'`, `data = '{"a": 1}'`])
    await expect(
      w.runtime.database.write(fullScope(t.tenant_id, 'operator:test'), (tx) =>
        tx.run(`update app.event set ${change} where tenant_id = $1`, [t.tenant_id]),
      ),
    ).rejects.toMatchObject({ code: 'PB002' })
})
