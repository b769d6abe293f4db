import { createCipheriv, createHash } from 'node:crypto'
import net from 'node:net'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { waitUntil } from '#test/support/job-test-app.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { claimUpload, readUpload } from './index.ts'
import { storeUpload } from './uploads.ts'

const MIB = 1024 * 1024
const MAX_BYTES = 3 * MIB + 1000

let w: TestApp
let origin: string
let tenant: string
let token: string
beforeAll(async () => {
  w = await startTestApp({ upload_max_bytes: MAX_BYTES })
  origin = await w.listen()
})
beforeEach(async () => {
  tenant = await w.makeTenant()
  token = await w.token({ tenant_id: tenant })
})
afterAll(() => w.close())

const octets = { 'content-type': 'application/octet-stream' }
const send = (payload: Buffer, headers: Record<string, string> = {}, query = '') =>
  w.call(`POST /uploads${query}`, { token, payload, headers: { ...octets, ...headers } })

const inTenant = <T>(body: (tx: Tx) => Promise<T>) =>
  w.kernel.transactions.write(fullScope(tenant, 'operator:test'), body)

const read = <T>(body: (tx: Tx) => Promise<T>) => w.kernel.transactions.read(fullScope(tenant, 'operator:test'), body)

async function readBytes(upload_id: string): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of readUpload(read, upload_id)) pieces.push(piece)
  return Buffer.concat(pieces)
}

const left = async () => {
  const [uploads, chunks] = await inTenant((tx) =>
    Promise.all([
      tx.query<{ state: string }>('select state from app.upload where tenant_id = $1', [tenant]),
      tx.query<{ size: number }>(
        'select octet_length(bytes)::bigint as size from app.upload_chunk where tenant_id = $1 order by upload_id, seq',
        [tenant],
      ),
    ]),
  )
  return { uploads: uploads.map(({ state }) => state), chunks: chunks.map(({ size }) => size) }
}
const nothing = { uploads: [], chunks: [] }

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Bytes that look random and are the same for the same salt, so that a piece out of order is seen. */
function sample(size_bytes: number, salt = 1): Buffer {
  const key = createHash('sha256').update(String(salt)).digest()
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size_bytes))
}

describe('storing', () => {
  test('stores rows of 1 MiB and returns size and hash', async () => {
    const bytes = sample(2 * MIB + 17)
    const reply = await send(bytes, {}, '?file_name=parties.csv')
    expect(reply.status).toBe(201)
    expect(reply.headers['location']).toBe(`/api/uploads/${reply.json.upload_id}`)
    expect(reply.json).toMatchObject({
      state: 'stored',
      file_name: 'parties.csv',
      size_bytes: bytes.length,
      sha256: sha256(bytes),
      used_at: null,
    })
    expect(await left()).toEqual({ uploads: ['stored'], chunks: [MIB, MIB, 17] })
    expect((await readBytes(reply.json.upload_id)).equals(bytes)).toBe(true)
    const life_h = (Date.parse(reply.json.expires_at) - Date.parse(reply.json.created_at)) / 3_600_000
    expect(Math.round(life_h)).toBe(24)
    expect((await w.call(`GET /uploads/${reply.json.upload_id}`, { token })).json).toEqual(reply.json)
  })

  test('accepts an empty upload', async () => {
    const reply = await send(Buffer.alloc(0))
    expect(reply.status).toBe(201)
    expect(reply.json).toMatchObject({
      state: 'stored',
      size_bytes: 0,
      sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    })
    expect(await readBytes(reply.json.upload_id)).toHaveLength(0)
  })

  test('returns identical bytes for any size and chunking', async () => {
    const nearBorder = fc
      .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: -3, max: 3 }))
      .map(([mib, off]) => Math.max(0, mib * MIB + off))
    const size = fc.oneof(nearBorder, fc.integer({ min: 0, max: MAX_BYTES }))
    const part = fc.constantFrom(1000, 65_536, 300_007, MIB, 2 * MIB + 1)
    await fc.assert(
      fc.asyncProperty(size, part, fc.integer({ min: 1, max: 1000 }), async (size_bytes, part_bytes, salt) => {
        const bytes = sample(size_bytes, salt)
        const parts = Array.from({ length: Math.ceil(size_bytes / part_bytes) }, (_, i) =>
          bytes.subarray(i * part_bytes, (i + 1) * part_bytes),
        )
        const store = { write: inTenant, settle: <T>(_: string, body: (tx: Tx) => Promise<T>) => inTenant(body) }
        const upload = await storeUpload(store, Readable.from(parts), {
          file_name: null,
          restriction_id: null,
          max_bytes: MAX_BYTES,
        })
        expect(upload.size_bytes).toBe(size_bytes)
        expect(upload.sha256).toBe(sha256(bytes))
        expect((await readBytes(upload.upload_id)).equals(bytes)).toBe(true)
      }),
      { numRuns: 25 },
    )
  })

  test.for(['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'application/octet-streams'])(
    'refuses %s',
    async (type) => {
      const reply = await send(Buffer.from('{}'), { 'content-type': type })
      expect(reply.status).toBe(415)
      expect(reply.json.code).toBe('media_type_unsupported')
      expect(await left()).toEqual(nothing)
    },
  )

  test('refuses a body without a media type', async () => {
    const reply = await w.call('POST /uploads', { token, payload: Buffer.from('bytes') })
    expect(reply.status).toBe(415)
  })
})

describe('an incomplete upload', () => {
  const endless = async function* () {
    for (let i = 0; i < 400; i++) yield sample(65_536, i + 1)
  }
  const post = (body: ReadableStream | Buffer) =>
    fetch(`${origin}/api/uploads`, {
      method: 'POST',
      headers: { ...octets, authorization: `Bearer ${token}` },
      body: body as ReadableStream,
      duplex: 'half',
    } as RequestInit)

  test('returns 413 to a client that is still sending, and leaves no rows', async () => {
    const reply = await post(ReadableStream.from(endless()) as ReadableStream)
    expect(reply.status).toBe(413)
    expect(await reply.json()).toMatchObject({ code: 'too_large', detail: expect.stringContaining(String(MAX_BYTES)) })
    expect(await left()).toEqual(nothing)
    const announced = await post(sample(MAX_BYTES + 1))
    expect(announced.status).toBe(413)
    expect(await left()).toEqual(nothing)
    expect((await post(sample(MAX_BYTES))).status).toBe(201)
  })

  /** Sends by hand what no well-behaved client would. */
  function startRawUpload(framing: string): net.Socket {
    const { hostname, port } = new URL(origin)
    const socket = net.connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.write(
      `POST /api/uploads HTTP/1.1\r\nHost: probity\r\nAuthorization: Bearer ${token}\r\n` +
        `Content-Type: application/octet-stream\r\n${framing}\r\n\r\n`,
    )
    return socket
  }
  const length = `Content-Length: ${3 * MIB}`
  const chunked = 'Transfer-Encoding: chunked'
  const size = (2 * MIB + 5).toString(16)

  test.for([
    { how: 'the client was cut off', framing: length, before: '', breakOff: (socket: net.Socket) => socket.destroy() },
    { how: 'the client sent no more', framing: length, before: '', breakOff: (socket: net.Socket) => socket.end() },
    {
      how: 'its framing broke',
      framing: chunked,
      before: `${size}\r\n`,
      breakOff: (socket: net.Socket) => socket.write('\r\nnot a size\r\n'),
    },
  ])('leaves no rows when $how', async ({ framing, before, breakOff }) => {
    const socket = startRawUpload(framing)
    socket.write(before)
    socket.write(sample(2 * MIB + 5))
    await waitUntil('two pieces are stored', async () => (await left()).chunks.length === 2)
    expect((await left()).uploads).toEqual(['receiving'])
    breakOff(socket)
    await waitUntil('nothing is left', async () => (await left()).uploads.length === 0)
    expect(await left()).toEqual(nothing)
    socket.destroy()
  })

  test('cannot be used and is shown as receiving', async () => {
    const owner = await w.person(tenant, ['analyst'])
    const upload_id = await inTenant(async (tx) => {
      const row = await tx.find<{ upload_id: string }>(
        `insert into app.upload (tenant_id, upload_id, state, media_type, created_by, expires_at)
         values ($1, gen_random_uuid(), 'receiving', 'application/octet-stream', $2, now()) returning upload_id`,
        [tenant, owner.principal],
      )
      return row?.upload_id ?? ''
    })
    expect((await w.call(`GET /uploads/${upload_id}`, { token: owner.token })).json).toMatchObject({
      state: 'receiving',
    })
    await expect(inTenant((tx) => claimUpload(tx, upload_id))).rejects.toMatchObject({ code: 'upload_incomplete' })
    await expect(readBytes(upload_id)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('is kept when only the confirmation of its commit was lost', async () => {
    const store = {
      write: inTenant,
      settle: async <T>(_: string, body: (tx: Tx) => Promise<T>): Promise<T> => {
        await inTenant(body)
        throw new Error('the connection broke after the commit')
      },
    }
    const options = { file_name: null, restriction_id: null, max_bytes: MAX_BYTES }
    await expect(storeUpload(store, Readable.from([sample(10)]), options)).rejects.toThrow('after the commit')
    expect(await left()).toEqual({ uploads: ['stored'], chunks: [10] })
  })
})

describe('repeating with an Idempotency-Key', () => {
  const key = { 'idempotency-key': 'upload-1' }

  test('returns the same upload and stores no extra bytes', async () => {
    const bytes = sample(MIB + 1)
    const first = await send(bytes, key)
    const second = await send(bytes, key)
    expect(second.status).toBe(201)
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(second.headers['location']).toBe(first.headers['location'])
    expect(second.json).toEqual(first.json)
    expect(await left()).toEqual({ uploads: ['stored'], chunks: [MIB, 1] })
  })

  test('refuses other bytes or another name and leaves no rows', async () => {
    await send(sample(100), key)
    for (const other of [await send(sample(101), key), await send(sample(100), key, '?file_name=other.csv')]) {
      expect(other.status).toBe(409)
      expect(other.json.code).toBe('idempotency_key_reused')
    }
    expect(await left()).toEqual({ uploads: ['stored'], chunks: [100] })
  })

  test('stores concurrent requests once', async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => send(sample(MIB + 1), key)))
    const stored = replies.filter(({ status }) => status === 201)
    expect(stored.length).toBeGreaterThan(0)
    expect(new Set(stored.map(({ json }) => json.upload_id)).size).toBe(1)
    for (const { status, json } of replies) if (status !== 201) expect(json.code).toBe('idempotency_in_progress')
    expect(await left()).toEqual({ uploads: ['stored'], chunks: [MIB, 1] })
  })

  test('stores the upload when the first request failed', async () => {
    expect((await send(sample(MAX_BYTES + 1), key)).status).toBe(413)
    expect((await send(sample(MAX_BYTES), key)).status).toBe(201)
  })
})

describe('an upload for a restricted document', () => {
  test('has an event that is hidden with the restriction', async () => {
    const [owner, outsider] = [
      await w.person(tenant, ['compliance_officer']),
      await w.person(tenant, ['compliance_officer']),
    ]
    const { restriction_id } = (
      await w.call('POST /restrictions', { token: owner.token, body: { purpose: 'Case 17' } })
    ).json
    const upload = (who: { token: string }, id: string) =>
      w.call(`POST /uploads?restriction_id=${id}`, { token: who.token, payload: Buffer.from('x'), headers: octets })
    const { upload_id } = (await upload(owner, restriction_id)).json
    const events = async (who: { token: string }) =>
      (await w.call('GET /audit/events?operation=createUpload', { token: who.token })).json.items
    expect(await events(owner)).toMatchObject([{ object_id: upload_id, restriction_id }])
    expect(await events(outsider)).toEqual([])
    // Whoever cannot see it is refused as for a random id.
    const [hidden, random] = [await upload(outsider, restriction_id), await upload(outsider, uuidv7())]
    expect([hidden.status, hidden.json.detail]).toEqual([409, random.json.detail])
  })
})

describe('using', () => {
  test('keeps the upload for thirty days', async () => {
    const { upload_id } = (await send(sample(10))).json
    const used = await inTenant((tx) => claimUpload(tx, upload_id))
    const life_d = (Date.parse(used.expires_at) - Date.parse(used.used_at as string)) / 86_400_000
    expect(Math.round(life_d)).toBe(30)
    expect((await inTenant((tx) => claimUpload(tx, upload_id))).used_at).toBe(used.used_at)
  })

  test("returns 404 for another tenant's upload", async () => {
    const { upload_id } = (await send(sample(10))).json
    tenant = await w.makeTenant()
    token = await w.token({ tenant_id: tenant })
    expect((await w.call(`GET /uploads/${upload_id}`, { token })).status).toBe(404)
    await expect(inTenant((tx) => claimUpload(tx, upload_id))).rejects.toMatchObject({ code: 'not_found' })
    await expect(readBytes(upload_id)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('fails when bytes were changed or lost in the database', async () => {
    const spoil = (sql: string, upload_id: string) => inTenant((tx) => tx.run(sql, [tenant, upload_id]))
    const changed = (await send(sample(MIB + 10))).json.upload_id
    await spoil(`update app.upload_chunk set bytes = 'x' where tenant_id = $1 and upload_id = $2 and seq = 1`, changed)
    await expect(readBytes(changed)).rejects.toThrow('have changed')
    const lost = (await send(sample(MIB + 10))).json.upload_id
    await spoil('delete from app.upload_chunk where tenant_id = $1 and upload_id = $2 and seq = 1', lost)
    await expect(readBytes(lost)).rejects.toMatchObject({ code: 'not_found' })
  })
})
