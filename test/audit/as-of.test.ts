/** What was in force at an instant, on two clocks: as it was known then, and as it is known now; who said so, who approved. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '#kernel/auth/roles.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { SharedList } from '../support/shared-list.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let tenant_id: string
let editor: Person
let officer: Person
let second: Person
let auditor: Person

interface Person {
  readonly principal: `user:${string}`
  readonly token: string
}

beforeAll(async () => {
  w = await startTestApp()
  tenant_id = await w.makeTenant()
  const person = async (...roles: Role[]): Promise<Person> => {
    const principal = `user:${uuidv7()}` as const
    return { principal, token: await w.token({ tenant_id, roles, principal }) }
  }
  editor = await person('policy_editor')
  officer = await person('compliance_officer')
  second = await person('compliance_officer')
  auditor = await person('auditor')
})
afterAll(() => w.close())

const send = async (by: Person, at: string, body?: object) => {
  const { status, json } = await w.call(at, { token: by.token, ...(body && { body }) })
  expect([at, status < 300, json?.detail]).toEqual([at, true, json?.detail])
  return json
}
const asOf = (at: string, more = '') => send(auditor, `GET /audit/as-of?at=${at}${more}`)
const itemOf = async (key: string, at: string, more = '') =>
  (await asOf(at, `&limit=200${more}`)).items.find((item: { key: string }) => item.key === key)

/** A list with one version more for each country score given. */
async function listOf(...scores: number[]): Promise<{ key: string; made_at: string }> {
  const key = `as-of-${uuidv7().slice(-12)}`
  const { created_at } = await send(editor, 'POST /reference-data/datasets', {
    list_key: key,
    type_key: 'country-score',
    title: 'Scores',
  })
  for (const score of scores) {
    await send(editor, `POST /reference-data/datasets/${key}/versions`, { data: [{ country: 'DE', score }] })
  }
  return { key, made_at: created_at }
}
const activate = (key: string, body: object, by = officer) =>
  send(by, `POST /reference-data/datasets/${key}/activations`, { reason: 'because', ...body })

describe('a list of the tenant', () => {
  test('is there from the instant it was put in force, with what was said', async () => {
    const { key, made_at } = await listOf(1)
    const made = await activate(key, { version: 1, reason: 'The first' })
    expect(await itemOf(key, made_at)).toBeUndefined()
    const item = await itemOf(key, made.recorded_at)
    const { content_hash } = await send(editor, `GET /reference-data/datasets/${key}/versions/1`)
    expect(item).toMatchObject({ family: 'list', title: 'Scores', via: 'tenant-own', version: 1, content_hash })
    expect(item).toMatchObject({ overlay: null, known_now: null })
    expect(item.activation).toEqual({
      activation_id: made.activation_id,
      kind: 'activate',
      effective_from: made.effective_from,
      recorded_at: made.recorded_at,
      retroactive: false,
      reason: 'The first',
      actor: officer.principal,
      cr_id: null,
      proposed_by: null,
      approvals: [],
    })
  })

  test('is shown as it was known then, and what was said of that instant afterwards beside it', async () => {
    const { key } = await listOf(1, 2)
    const first = await activate(key, { version: 1 })
    const later = await activate(key, { version: 2, effective_from: first.effective_from, reason: 'It was wrong' })
    const then = await itemOf(key, first.recorded_at)
    expect(then).toMatchObject({ version: 1, known_now: { version: 2, overlay_version: null } })
    const now = await itemOf(key, first.recorded_at, `&known_at=${later.recorded_at}`)
    expect(now).toMatchObject({
      version: 2,
      known_now: null,
      activation: { retroactive: true, reason: 'It was wrong' },
    })
  })

  test('of which nothing was known then is there for what is held now', async () => {
    const { key, made_at } = await listOf(1)
    const effective_from = '2020-01-01T00:00:00.000000Z'
    await activate(key, { version: 1, effective_from })
    const item = await itemOf(key, made_at)
    expect(item).toMatchObject({ via: null, version: null, activation: null, known_now: { version: 1 } })
  })
})

test('with four eyes it names who asked and who approved', async () => {
  const { key } = await listOf(1)
  await w.setApprovalRules(tenant_id, [{ action: 'activation', approvers: 1, role: 'compliance_officer' }])
  const { cr_id } = await activate(key, { version: 1, reason: 'Proposed' })
  await send(second, `POST /change-requests/${cr_id}/approve`, { note: 'seen' })
  await w.setApprovalRules(tenant_id, [])
  const { items } = await send(editor, `GET /reference-data/datasets/${key}/activations`)
  const { activation } = await itemOf(key, items[0].recorded_at)
  expect(activation).toMatchObject({
    cr_id,
    proposed_by: officer.principal,
    actor: second.principal,
    reason: 'Proposed',
  })
  expect(activation.approvals).toMatchObject([{ approved_by: second.principal }])
})

test('a shared list is there with the operator’s word and the tenant’s overlay, each at its time', async () => {
  const list = await SharedList.create(w, 'tighten_only', [{ country: 'DE', rating: 'low' }])
  const at = `/reference-data/datasets/${list.list_key}`
  const entries = [{ key: 'DE', op: 'merge', value: { rating: 'high' } }]
  await send(officer, `PUT ${at}/overlay`, { entries, reason: 'house view' })
  const [operator] = (await send(editor, `GET ${at}/activations?scope=shared`)).items
  const [own] = (await send(editor, `GET ${at}/activations`)).items
  const before = await itemOf(list.list_key, operator.recorded_at)
  expect(before).toMatchObject({ via: 'shared', version: 1, overlay: null, activation: { actor: 'operator:test' } })
  const after = await itemOf(list.list_key, own.recorded_at)
  expect(after).toMatchObject({ version: 1, overlay: { version: 1, activation: { reason: 'house view' } } })
})

describe('the answer', () => {
  test('is read page by page, in order, each key once', async () => {
    await activate((await listOf(1)).key, { version: 1 })
    const at = (await activate((await listOf(1)).key, { version: 1 })).recorded_at
    const whole = (await asOf(at, '&limit=200')).items.map(({ key }: { key: string }) => key)
    const read: string[] = []
    for (let cursor = ''; ; ) {
      const { items, next_cursor } = await asOf(at, `&limit=3${cursor}`)
      read.push(...items.map(({ key }: { key: string }) => key))
      if (next_cursor === null) break
      cursor = `&cursor=${next_cursor}`
    }
    expect(read).toEqual(whole)
    expect(new Set(read).size).toBe(read.length)
    expect(read.length).toBeGreaterThan(3)
    const lists = (await asOf(at, '&limit=200&family=list')).items
    expect(new Set(lists.map(({ family }: { family: string }) => family))).toEqual(new Set(['list']))
  })

  test('says how far the record had come, and whether it can still change', async () => {
    const { key } = await listOf(1)
    const { recorded_at } = await activate(key, { version: 1 })
    const chainWriter = w.runtime.createChainWriter()
    chainWriter.start()
    await expect.poll(async () => (await asOf(recorded_at)).record, { timeout: 20_000 }).not.toBeNull()
    await chainWriter.stop()
    const { settled, record } = await asOf(recorded_at)
    expect(settled).toBe(false)
    const event = await send(auditor, `GET /audit/events/${record.event_id}`)
    expect(event.seal).toMatchObject({ seq: record.seq, hash: record.hash })
    expect(event.recorded_at <= recorded_at).toBe(true)
    const old = await asOf('2001-01-01T00:00:00Z')
    expect(old).toMatchObject({ settled: true, record: null })
  })

  test('is for examiners', async () => {
    const { status } = await w.call('GET /audit/as-of?at=2026-01-01T00:00:00Z', { token: editor.token })
    expect(status).toBe(403)
  })
})
