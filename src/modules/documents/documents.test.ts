/** What documents promise: bytes that are what they claim to be, encrypted, unaltered, and gone when they are deleted. */
import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { newSubject } from '#modules/subjects/fixtures.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { CHECK_DOCUMENTS } from './check-job.ts'
import { documentErasure } from './erase-documents.ts'
import { newUpload } from './fixtures.ts'

const MIB = 1024 * 1024
const PDF = Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF\n')
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let w: TestApp
let superuser: pg.Client
let t: ExampleTenant
beforeAll(async () => {
  w = await startTestApp({ upload_max_bytes: 120 * MIB })
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})
beforeEach(async () => {
  t = await ExampleTenant.create(w)
})

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

const store = async (file_name: string, bytes: Buffer, more: object = {}) =>
  w.call('POST /documents', {
    token: await t.token(),
    body: { upload_id: await newUpload(t, file_name, bytes), title: 'A document', ...more },
  })

const readContent = async (document_id: string) =>
  w.call(`GET /documents/${document_id}/content`, { token: await t.token() })

const rowsOf = async (table: string) =>
  (await superuser.query(`select * from app.${table} where tenant_id = $1`, [t.tenant_id])).rows

/** Changes rows without the triggers that keep them. */
async function alter(text: string, values: readonly unknown[]): Promise<void> {
  await superuser.query('set session_replication_role = replica')
  await superuser.query(text, [...values])
  await superuser.query('set session_replication_role = default')
}

/** Flips one bit of the first chunk. */
const damage = (document_id: string) =>
  alter(
    `update app.document_chunk set content = set_byte(content, 40, get_byte(content, 40) # 1) where document_id = $1 and seq = 0`,
    [document_id],
  )

const inTenant = <T>(body: (tx: Tx) => Promise<T>) =>
  w.kernel.transactions.write(fullScope(t.tenant_id, 'operator:test'), body)

describe('storing a document', () => {
  test('takes the bytes over from the upload, encrypted, and gives them out as an attachment in a sandbox', async () => {
    const { status, json, headers } = await store('Pass “Müller”.pdf', PDF, { sha256: sha256(PDF) })
    expect([status, json.state, json.media_type, json.sha256]).toEqual([201, 'stored', 'application/pdf', sha256(PDF)])
    expect(headers['location']).toBe(`/api/documents/${json.document_id}`)
    expect([(await rowsOf('upload')).length, (await rowsOf('upload_chunk')).length]).toEqual([0, 0])
    const [chunk] = await rowsOf('document_chunk')
    expect(chunk.content.includes(Buffer.from('endobj'))).toBe(false)
    expect(sha256(chunk.content)).toBe(json.encrypted_sha256)
    expect(chunk.restriction_id).not.toBeNull()
    const content = await readContent(json.document_id)
    expect(content.bytes).toEqual(PDF)
    expect(content.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="Pass _M_ller_.pdf"; filename*=UTF-8''Pass%20%E2%80%9CM%C3%BCller%E2%80%9D.pdf`,
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
    })
  })

  test('above 1 MiB is done by a job, whose last step removes the upload', async () => {
    const bytes = Buffer.concat([PNG, randomBytes(2 * MIB + 17)])
    const made = await store('scan.png', bytes)
    expect([made.status, made.json.state]).toEqual([202, 'storing'])
    expect((await readContent(made.json.document_id)).json.code).toBe('not_finished')
    const job = await t.runToEnd({ job_id: made.json.job_id, state: 'queued' })
    expect(job).toMatchObject({ state: 'succeeded', progress: { done: 3, total: 3 } })
    const document = await t.make(`GET /documents/${made.json.document_id}`)
    expect(document).toMatchObject({ state: 'stored', sha256: sha256(bytes), size_bytes: bytes.length })
    expect((await readContent(document.document_id)).bytes.equals(bytes)).toBe(true)
    expect([(await rowsOf('upload')).length, (await rowsOf('upload_chunk')).length]).toEqual([0, 0])
    const { items } = await t.make(`GET /documents/${document.document_id}/custody`)
    expect(items.map(({ act }: { act: string }) => act)).toEqual(['read', 'stored', 'received'])
  })

  test('above 1 MiB fails where a later part is not text', async () => {
    const bytes = Buffer.concat([Buffer.alloc(MIB, 'a'), Buffer.from([0xff, 0xfe])])
    const { json } = await store('notes.txt', bytes)
    const job = await t.runToEnd({ job_id: json.job_id, state: 'queued' })
    expect(job).toMatchObject({ state: 'failed', problem: { code: 'document_refused' } })
    expect((await t.make(`GET /documents/${json.document_id}`)).state).toBe('failed')
    expect(await rowsOf('document_chunk')).toEqual([])
    expect((await readContent(json.document_id)).status).toBe(409)
  })

  test.for([
    ['an empty file', 'empty.pdf', Buffer.alloc(0), {}, '#/upload_id'],
    ['half a file', 'half.pdf', PDF.subarray(0, 20), { sha256: sha256(PDF) }, '#/sha256'],
    ['another type than its name', 'picture.pdf', PNG, {}, '#/upload_id'],
    ['another type than is stated', 'picture.png', PNG, { media_type: 'application/pdf' }, '#/media_type'],
    ['bytes that are no known type', 'picture.png', Buffer.from('hello'), {}, '#/upload_id'],
    ['text that is not text', 'notes.txt', Buffer.from([0x61, 0x00, 0x62]), {}, '#/upload_id'],
    ['text in another encoding', 'notes.csv', Buffer.from([0x4d, 0xfc, 0x6c]), {}, '#/upload_id'],
    ['a program', 'setup.exe', Buffer.from('MZ'), {}, '#/upload_id'],
    ['a web page', 'page.html', Buffer.from('<html></html>'), {}, '#/upload_id'],
    ['a name without an ending', 'README', Buffer.from('hello'), {}, '#/upload_id'],
  ] as const)('refuses %s', async ([, name, bytes, more, pointer]) => {
    const { status, json } = await store(name, bytes, more)
    expect([status, json.code, json.errors?.[0]?.pointer]).toEqual([409, 'document_refused', pointer])
    expect(await rowsOf('document')).toEqual([])
    expect((await rowsOf('upload')).length).toBe(1)
  })

  test('refuses an upload that is not complete, is unknown, or is used already', async () => {
    const upload_id = await newUpload(t, 'a.pdf', PDF)
    const create = async (id: string) =>
      (await w.call('POST /documents', { token: await t.token(), body: { upload_id: id, title: 'A' } })).json.code
    await alter(`update app.upload set state = 'receiving' where upload_id = $1`, [upload_id])
    expect(await create(upload_id)).toBe('upload_incomplete')
    await alter(`update app.upload set state = 'stored', used_at = now() where upload_id = $1`, [upload_id])
    expect([await create(upload_id), await create(uuidv7())]).toEqual(['conflict', 'conflict'])
  })

  test('of one upload happens once, however many ask for it at the same time', async () => {
    const upload_id = await newUpload(t, 'a.pdf', PDF)
    const token = await t.token()
    const body = { upload_id, title: 'A' }
    const answers = await Promise.all([1, 2, 3, 4].map(() => w.call('POST /documents', { token, body })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    expect((await rowsOf('document')).length).toBe(1)
  })

  test('accepts what the tenant adds to the list of types', async () => {
    const value = { extension: 'log', media_type: 'text/plain', title: 'Log', content: 'text' }
    await t.make('PUT /reference-data/datasets/document-types/overlay', {
      body: { entries: [{ op: 'put', key: 'log', value }], reason: 'Logs of the bank' },
    })
    expect((await store('server.log', Buffer.from('started'))).status).toBe(201)
  })
})

describe('a stored document', () => {
  const storePdf = async (more: object = {}): Promise<string> => (await store('a.pdf', PDF, more)).json.document_id
  const verify = (document_id: string) => t.make(`POST /documents/${document_id}/verify`)
  const find = (document_id: string) => t.make(`GET /documents/${document_id}`)
  const remove = async (document_id: string) => {
    const { status, json } = await w.call(`DELETE /documents/${document_id}?reason=Uploaded+by+mistake`, {
      token: await t.token(),
    })
    return json?.code ?? status
  }
  const age = (document_id: string) =>
    alter(`update app.document set stored_at = stored_at - interval '30 years' where document_id = $1`, [document_id])
  const readAlarms = async () =>
    (await w.runtime.metrics.alarms.get()).values.find(({ labels }) => labels.reason === 'document_damaged')?.value ?? 0

  test('is verified against both hashes, becomes damaged with an alarm, and intact again when its bytes are restored', async () => {
    const document_id = await storePdf()
    expect(await verify(document_id)).toMatchObject({ is_intact: true, sha256: sha256(PDF) })
    const before = await readAlarms()
    await damage(document_id)
    expect((await readContent(document_id)).status).toBe(500)
    expect(await verify(document_id)).toMatchObject({ is_intact: false })
    expect([(await find(document_id)).state, await readAlarms()]).toEqual(['damaged', before + 1])
    expect((await readContent(document_id)).json.code).toBe('content_corrupt')
    await damage(document_id)
    expect(await verify(document_id)).toMatchObject({ is_intact: true })
    expect((await readContent(document_id)).bytes).toEqual(PDF)
  })

  test('is found damaged by the nightly check, also where it is restricted, and nothing else is', async () => {
    const [altered, cut, intact] = [await storePdf(), await storePdf(), await storePdf()]
    const [row] = (await rowsOf('document')).filter(({ document_id }) => document_id === altered)
    await t.make(`POST /restrictions/${row.restriction_id}/impose`)
    await damage(altered)
    await alter('delete from app.document_chunk where document_id = $1', [cut])
    const before = await readAlarms()
    const job = await t.write((tx) => w.kernel.jobs.enqueue(tx, { kind: CHECK_DOCUMENTS, payload: {} }))
    expect(await t.runToEnd(job)).toMatchObject({ result: { checked: 2, damaged: 1 } })
    const states = new Map((await rowsOf('document')).map(({ document_id, state }) => [document_id, state]))
    expect([altered, cut, intact].map((id) => states.get(id))).toEqual(['damaged', 'damaged', 'stored'])
    expect(await readAlarms()).toBe(before + 2)
    const { items } = await t.make(`GET /documents/${cut}/custody`)
    expect(items.map(({ act }: { act: string }) => act)).toEqual(['damaged', 'received'])
  })

  test('is deleted only when retention and holds allow it, and leaves its record', async () => {
    const document_id = await storePdf()
    expect(await remove(document_id)).toBe('retention')
    const hold = await t.make('POST /holds', {
      body: { object_kind: 'document', object_id: document_id, reason: 'Order of the court' },
    })
    // The hold is named first: the period passes by itself.
    expect(await remove(document_id)).toBe('legal_hold')
    await age(document_id)
    expect(await remove(document_id)).toBe('legal_hold')
    expect((await readContent(document_id)).bytes).toEqual(PDF)
    const token = await t.token(undefined, t.author)
    await t.make(`POST /holds/${hold.hold_id}/release`, { token, body: { reason: 'The case is closed' } })
    expect(await remove(document_id)).toBe(204)
    expect(await find(document_id)).toMatchObject({
      state: 'deleted',
      title: null,
      file_name: null,
      sha256: null,
      end_reason: 'Uploaded by mistake',
    })
    const content = await readContent(document_id)
    expect([content.status, content.json.code]).toEqual([410, 'erased'])
    expect(await rowsOf('document_chunk')).toEqual([])
    expect(await remove(document_id)).toBe('transition_not_allowed')
    const { items } = await t.make(`GET /documents/${document_id}/custody`)
    const acts = items.map(({ act }: { act: string }) => act)
    expect(acts).toEqual(['deleted', 'released', 'read', 'held', 'received'])
  })

  test('of a held subject is kept too', async () => {
    const subject_id = await newSubject(t)
    const document_id = await storePdf({ subject_id })
    await age(document_id)
    await t.make('POST /holds', {
      body: { object_kind: 'subject', object_id: subject_id, reason: 'Order of the court' },
    })
    expect(await remove(document_id)).toBe('legal_hold')
  })

  test('is kept without limit where the retention policy names no period', async () => {
    const document_id = await storePdf()
    await age(document_id)
    await alter(`update app.retention_policy set classes = '[]' where tenant_id = $1`, [t.tenant_id])
    expect(await remove(document_id)).toBe('retention')
  })

  test('is unreadable once the key of its subject is destroyed, and its texts and hash are gone after an erasure', async () => {
    const subject_id = await newSubject(t)
    const document_id = await storePdf({ subject_id })
    await inTenant((tx) => w.kernel.encryption.destroyOwner(tx, { kind: 'subject', id: subject_id }))
    expect((await readContent(document_id)).status).toBe(410)
    const recorded: unknown[] = []
    const erased = await inTenant((tx) =>
      documentErasure.erase(tx, { subject_id, sure: [], own: [], marks: [], also: [] }, (one) => recorded.push(one)),
    )
    expect(recorded).toMatchObject([{ object_type: 'documents', object_id: document_id }])
    expect(erased).toMatchObject([{ count: 1 }])
    const [row] = await rowsOf('document')
    expect(row).toMatchObject({ state: 'erased', title: null, file_name: null, sha256: null })
    expect(row.encrypted_sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(await rowsOf('document_chunk')).toEqual([])
    expect((await readContent(document_id)).json.code).toBe('erased')
  })

  test('can be restricted later: its record, bytes, job and events are hidden from people without access', async () => {
    const outsider = (await w.person(t.tenant_id, ['compliance_officer', 'auditor'])).token
    const document_id = await storePdf()
    const [row] = await rowsOf('document')
    const see = async (path: string) => (await w.call(`GET ${path}`, { token: outsider })).status
    const paths = ['', '/content', '/custody'].map((path) => `/documents/${document_id}${path}`)
    expect(await Promise.all(paths.map(see))).toEqual([200, 200, 200])
    // What was prepared with a document is no entry of the list until it is imposed.
    const listed = async () =>
      (await t.make('GET /restrictions')).items.map((one: { restriction_id: string }) => one.restriction_id)
    expect(await listed()).not.toContain(row.restriction_id)
    expect((await t.make(`POST /documents/${document_id}/restrict`)).restriction_id).toBe(row.restriction_id)
    expect(await listed()).toContain(row.restriction_id)
    const again = await w.call(`POST /documents/${document_id}/restrict`, { token: await t.token() })
    expect([again.status, again.json.code]).toEqual([409, 'transition_not_allowed'])
    expect(await Promise.all(paths.map(see))).toEqual([404, 404, 404])
    expect((await w.call(`GET /audit/objects/documents/${document_id}`, { token: outsider })).json.items).toEqual([])
    expect((await find(document_id)).restriction_id).toBe(row.restriction_id)
  })

  test('changes its title with its revision', async () => {
    const document_id = await storePdf()
    const patch = async (body: object) => {
      const { status, json } = await w.call(`PATCH /documents/${document_id}`, { token: await t.token(), body })
      return [status, json.code ?? json.title, json.revision]
    }
    expect(await patch({ title: 'Passport', expected_revision: 1 })).toEqual([200, 'Passport', 2])
    expect(await patch({ title: 'Another', expected_revision: 1 })).toEqual([409, 'revision_stale', undefined])
  })

  test.for([
    ['bytes', `update app.document_chunk set content = '\\x00'`],
    ['the hash', `update app.document set encrypted_sha256 = repeat('0', 64)`],
    ['its subject', `update app.document set subject_id = gen_random_uuid()`],
    ['its restriction', `update app.document set restriction_id = null`],
    [
      'the way back',
      `update app.document set state = 'storing', upload_id = gen_random_uuid(), sha256 = null, encrypted_sha256 = null`,
    ],
    ['a chunk', `delete from app.document_chunk`],
    [
      'a chunk more',
      `insert into app.document_chunk select tenant_id, document_id, seq + 1, restriction_id, content from app.document_chunk`,
    ],
    ['the row', `delete from app.document`],
  ] as const)('keeps %s in the database', async ([, text]) => {
    await storePdf()
    await expect(inTenant((tx) => tx.run(text))).rejects.toMatchObject({
      code: expect.stringMatching(/^(PB002|42501)$/),
    })
  })
})

test('an upload exists for whoever sent it: nobody else reads its name or takes its bytes', async () => {
  const [owner, other] = [
    await w.person(t.tenant_id, ['compliance_officer']),
    await w.person(t.tenant_id, ['compliance_officer']),
  ]
  const sent = await w.call('POST /uploads?file_name=report.pdf', {
    token: owner.token,
    payload: PDF,
    headers: { 'content-type': 'application/octet-stream' },
  })
  const { upload_id } = sent.json
  const read = (token: string, id: string) => w.call(`GET /uploads/${id}`, { token })
  const take = (token: string, id: string) =>
    w.call('POST /documents', { token, body: { upload_id: id, title: 'A document' } })
  expect((await read(other.token, upload_id)).status).toBe(404)
  const [hidden, random] = [await take(other.token, upload_id), await take(other.token, uuidv7())]
  expect([hidden.status, hidden.json.detail]).toEqual([random.status, random.json.detail])
  expect((await read(owner.token, upload_id)).status).toBe(200)
  expect((await take(owner.token, upload_id)).status).toBe(201)
})
