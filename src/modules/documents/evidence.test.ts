/** Evidence items: hashes that the service computes, items that never change, and nothing that betrays a restricted object. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { assertFound } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { newSubject } from '#modules/subjects/fixtures.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { documentErasure } from './erase-documents.ts'
import { findEvidence, listAttachEvents } from './evidence/queries.ts'
import { newDocument } from './fixtures.ts'

let w: TestApp
let superuser: pg.Client
let t: ExampleTenant
let subject_id: string
beforeAll(async () => {
  w = await startTestApp()
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})
beforeEach(async () => {
  t = await ExampleTenant.create(w)
  subject_id = await newSubject(t)
})

const owner = () => ({ owner_kind: 'subject', owner_id: subject_id, title: 'What it rests on' })
const attach = (body: object) => t.make('POST /evidence', { body: { ...owner(), ...body } })
const refuse = async (body: object) => {
  const { status, json } = await w.call('POST /evidence', { token: await t.token(), body: { ...owner(), ...body } })
  return [status, json.code]
}
const verify = async (evidence_id: string) => (await t.make(`POST /evidence/${evidence_id}/verify`)).result
const reference = {
  kind: 'external_reference',
  reference: 'File 1042/2026',
  source: 'Register of companies',
  obtained_at: '2026-03-03T10:00:00.5Z',
}

async function alter(text: string, values: readonly unknown[]): Promise<void> {
  await superuser.query('set session_replication_role = replica')
  await superuser.query(text, [...values])
  await superuser.query('set session_replication_role = default')
}

async function newEvaluation(): Promise<string> {
  const inputs = {
    residence_country: 'DE',
    nationalities: ['DE'],
    products: ['salary-account'],
    channel: 'branch',
    annual_turnover: '60000.00',
    years_known: 5,
    source_of_funds: 'salary',
    adverse_media: 'none',
    screening: 'clear',
  }
  const body = { matrix_key: 'customer-risk-person', inputs }
  return (await t.make('POST /evaluations', { body })).evaluation_id
}

const newCall = async (): Promise<string> =>
  (
    await t.make('POST /providers/prohibited-jurisdiction-check/test', {
      body: { capability: 'registry.lookup', input: { key: 'KP' } },
    })
  ).call_id

describe('attaching evidence', () => {
  test('computes the hash of what is stored, of every kind that exists', async () => {
    const document_id = await newDocument(t)
    const evaluation_id = await newEvaluation()
    const call_id = await newCall()
    const items = [
      await attach({ kind: 'document', object_id: document_id }),
      await attach({ kind: 'evaluation', object_id: evaluation_id }),
      await attach({ kind: 'provider_call', object_id: call_id }),
      await attach({ kind: 'subject_version', object_id: subject_id, object_version: 1 }),
      await attach(reference),
    ]
    const { encrypted_sha256 } = await t.make(`GET /documents/${document_id}`)
    expect(items[0]).toMatchObject({
      content_hash: encrypted_sha256,
      source: 'Uploaded document',
      object_version: null,
    })
    expect(new Set(items.map(({ content_hash }) => content_hash)).size).toBe(5)
    for (const { evidence_id } of items) expect(await verify(evidence_id)).toBe('unchanged')
    const listed = await t.make(`GET /evidence?owner_id=${subject_id}`)
    expect(listed.items.map(({ kind }: { kind: string }) => kind)).toEqual([
      'external_reference',
      'subject_version',
      'provider_call',
      'evaluation',
      'document',
    ])
    // A later version of the subject is another object.
    await t.make(`PATCH /subjects/${subject_id}`, { body: { segment: 'large' } })
    expect(await verify(items[3].evidence_id)).toBe('unchanged')
  })

  test.for(['match', 'transaction', 'ownership_graph'])('refuses the kind %s until its module exists', async (kind) => {
    expect(await refuse({ kind, object_id: uuidv7() })).toEqual([409, 'conflict'])
  })

  test('refuses what does not exist, is incomplete, is of the future, or is attached already', async () => {
    expect(await refuse({ kind: 'document', object_id: uuidv7() })).toEqual([409, 'conflict'])
    expect(await refuse({ kind: 'document' })).toEqual([409, 'conflict'])
    expect(await refuse({ kind: 'subject_version', object_id: subject_id })).toEqual([409, 'conflict'])
    expect(await refuse({ kind: 'subject_version', object_id: subject_id, object_version: 9 })).toEqual([
      409,
      'conflict',
    ])
    expect(await refuse({ ...reference, reference: undefined })).toEqual([409, 'conflict'])
    expect(await refuse({ ...reference, object_id: uuidv7() })).toEqual([409, 'conflict'])
    expect(await refuse({ ...reference, obtained_at: '2999-01-01T00:00:00Z' })).toEqual([409, 'conflict'])
    expect(await refuse({ ...reference, owner_kind: 'alert' })).toEqual([409, 'conflict'])
    expect(await refuse({ ...reference, owner_id: uuidv7() })).toEqual([409, 'conflict'])
    const object_id = await newDocument(t)
    const { evidence_id } = await attach({ kind: 'document', object_id })
    expect(await refuse({ kind: 'document', object_id })).toEqual([409, 'duplicate'])
    await t.make(`POST /evidence/${evidence_id}/detach`, { body: { reason: 'Belongs to another customer' } })
    expect((await attach({ kind: 'document', object_id })).kind).toBe('document')
  })
})

describe('evidence of an alert', () => {
  test('takes the restriction of the alert, and is hidden with it', async () => {
    const report = { source: 'desk', dedup_key: 'key:1', title: 'Unusual payments', priority: 'high', subject_id }
    const { alert_id } = await t.make('POST /alerts', { body: { ...report, facts: [{ name: 'sum', value: '1' }] } })
    const item = await attach({ ...reference, owner_kind: 'alert', owner_id: alert_id })
    expect(item).toMatchObject({ owner_kind: 'alert', owner_id: alert_id, restriction_id: null })
    const { restriction_id } = await t.make(`GET /alerts/${alert_id}`)
    const outsider = await w.person(t.tenant_id, ['analyst'])
    const read = async () => (await w.call(`GET /evidence/${item.evidence_id}`, { token: outsider.token })).status
    expect(await read()).toBe(200)
    await t.make(`POST /restrictions/${restriction_id}/impose`)
    expect(await read()).toBe(404)
    expect(await t.make(`GET /evidence/${item.evidence_id}`)).toMatchObject({ restriction_id })
  })
})

describe('an evidence item', () => {
  test('says when its object was altered, and when it is gone', async () => {
    const object_id = await newDocument(t)
    const { evidence_id } = await attach({ kind: 'document', object_id })
    await alter(
      'update app.document_chunk set content = set_byte(content, 40, get_byte(content, 40) # 1) where document_id = $1',
      [object_id],
    )
    expect(await verify(evidence_id)).toBe('changed')
    await alter(`update app.document set stored_at = stored_at - interval '30 years' where document_id = $1`, [
      object_id,
    ])
    await w.call(`DELETE /documents/${object_id}?reason=Old`, { token: await t.token() })
    expect(await verify(evidence_id)).toBe('gone')
    const other = await attach(reference)
    await alter(`update app.evidence_item set reference = 'File 9999' where evidence_id = $1`, [other.evidence_id])
    expect(await verify(other.evidence_id)).toBe('changed')
  })

  test('says which of its members was altered behind the service', async () => {
    const check = (evidence_id: string) => t.make(`POST /evidence/${evidence_id}/verify`)
    const made = { ...reference, kind: 'document', reference: undefined }
    const { evidence_id } = await attach({ ...made, object_id: await newDocument(t) })
    expect(await check(evidence_id)).toMatchObject({ result: 'unchanged', record: 'complete', altered: [] })
    await alter(
      `update app.evidence_item set title = 'forged', obtained_at = '2020-01-01', source = 'Police', added_by = 'user:x'
        where evidence_id = $1`,
      [evidence_id],
    )
    const altered = ['title', 'source', 'obtained_at', 'added_by']
    expect(await check(evidence_id)).toMatchObject({ result: 'changed', record: 'complete', altered })
    // The record itself cannot be fitted to it.
    await alter(`update app.audit_event set actor = 'user:x' where operation = 'createEvidence' and object_id = $1`, [
      evidence_id,
    ])
    expect(await check(evidence_id)).toMatchObject({ result: 'changed', record: 'damaged' })
  })

  test('attached by an earlier release is compared with what was recorded of it', async () => {
    const { evidence_id } = await attach(reference)
    const item = await t.write((tx) => findEvidence(tx, evidence_id))
    const { kind, object_id, title, content_hash } = assertFound(item)
    const recorded = { kind, object_id, title, reference: 'File 1042/2026', content_hash }
    const hashed = w.kernel.auditKeys.fingerprint(
      canonicalJson({ ...recorded, detached_at: null, detach_reason: null }),
    )
    const record = async (after_hash: string | null) => {
      const [event] = await t.write((tx) => listAttachEvents(tx, evidence_id))
      const { mac: _, ...stored } = assertFound(event)
      const detail = canonicalJson({ before_hash: null, after_hash })
      const mac = w.kernel.auditKeys.computeEventMac({ ...stored, detail })
      await alter('update app.audit_event set detail = $2, mac = $3 where event_id = $1', [
        stored.event_id,
        detail,
        mac,
      ])
      return t.make(`POST /evidence/${evidence_id}/verify`)
    }
    expect(await record(hashed)).toMatchObject({ result: 'unchanged', record: 'partial', altered: [] })
    expect(await record(hashed.replace(/^./, (first) => (first === '0' ? '1' : '0')))).toMatchObject({
      result: 'changed',
      altered: ['kind', 'object_id', 'title', 'reference', 'content_hash'],
    })
    await alter('delete from app.audit_event where object_id = $1', [evidence_id])
    expect(await t.make(`POST /evidence/${evidence_id}/verify`)).toMatchObject({ result: 'unchanged', record: 'none' })
  })

  test('is detached once, and stays with who, when and why', async () => {
    const { evidence_id } = await attach(reference)
    const detach = async () =>
      w.call(`POST /evidence/${evidence_id}/detach`, { token: await t.token(), body: { reason: 'Another customer' } })
    expect((await detach()).json).toMatchObject({ detach_reason: 'Another customer', detached_by: t.caller })
    expect((await detach()).json.code).toBe('transition_not_allowed')
    expect(await t.make(`GET /evidence/${evidence_id}`)).toMatchObject({ reference: 'File 1042/2026' })
  })

  test.for([
    ['its hash', `update app.evidence_item set content_hash = repeat('0', 64)`],
    ['its reference', `update app.evidence_item set reference = 'another'`],
    ['who added it', `update app.evidence_item set added_by = 'user:somebody'`],
    ['who detached it', `update app.evidence_item set detached_by = 'user:somebody'`],
    [
      'that it was detached',
      `update app.evidence_item set detached_at = null, detached_by = null, detach_reason = null`,
    ],
    ['the row', `delete from app.evidence_item`],
  ] as const)('keeps %s in the database', async ([, text]) => {
    const { evidence_id } = await attach(reference)
    await t.make(`POST /evidence/${evidence_id}/detach`, { body: { reason: 'Another customer' } })
    await expect(t.write((tx) => tx.run(text))).rejects.toMatchObject({
      code: expect.stringMatching(/^(PB002|42501)$/),
    })
  })

  test('loses its texts with the erasure of its subject, and keeps kind, ids and hash', async () => {
    const { evidence_id, content_hash } = await attach(reference)
    await t.write((tx) => documentErasure.erase(tx, { subject_id, sure: [], own: [], marks: [], also: [] }, () => {}))
    expect(await t.make(`GET /evidence/${evidence_id}`)).toMatchObject({
      title: null,
      reference: null,
      source: null,
      content_hash,
    })
    expect(await verify(evidence_id)).toBe('gone')
  })
})

describe('evidence of a restricted document', () => {
  test('takes its restriction, and cannot be shown to other people', async () => {
    const document_id = await newDocument(t)
    const { rows } = await superuser.query('select restriction_id from app.document where document_id = $1', [
      document_id,
    ])
    const { restriction_id } = rows[0]
    await t.make(`POST /restrictions/${restriction_id}/impose`)
    const other = await t.make('POST /restrictions', { body: { purpose: 'Another case' } })
    const item = { kind: 'document', object_id: document_id }
    expect(await refuse({ ...item, restriction_id: other.restriction_id })).toEqual([409, 'conflict'])
    const { evidence_id } = await attach(item)
    const outsider = (await w.person(t.tenant_id, ['analyst'])).token
    const see = async (path: string) => w.call(`GET ${path}`, { token: outsider })
    expect((await see(`/evidence/${evidence_id}`)).status).toBe(404)
    expect((await see('/evidence')).json.items).toEqual([])
    expect((await t.make(`GET /evidence/${evidence_id}`)).restriction_id).toBe(restriction_id)
  })
})
