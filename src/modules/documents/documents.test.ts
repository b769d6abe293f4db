/** What documents promise: bytes that are what they claim to be, encrypted, unaltered, and gone when they are deleted. */
import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { CHECK_DOCUMENTS } from './check-job.ts'
import { newUpload } from './fixtures.ts'
import { eraseDocumentsOf } from './index.ts'

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
    const change = {
      op: 'upsert',
      entry: { extension: 'log', media_type: 'text/plain', title: 'Log', content: 'text' },
    }
    await t.make('PUT /reference-data/datasets/document-types/overlay', {
      body: { changes: [{ ...change, reason: 'Logs of the bank' }], reason: 'Logs of the bank' },
    })
    expect((await store('server.log', Buffer.from('started'))).status).toBe(201)
  })
})
