/**
 * Previews are limited in rows, time and number, and end with their request. The tests count threads and measure no time.
 */
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ThreadAdmission, type WorkKind } from '#kernel/thread-admission.ts'
import { importInThread } from '#registry/import/import-runner.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { threadsDir } from '#test/support/threads.ts'
import { type PreviewRequest, previewSource } from './imports/preview.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  // Without limits these previews would run for minutes, so only their clients can end them.
  w = await startTestApp({ heavy_threads: 4, preview_max_rows: 1_000_000_000, preview_time_limit_ms: 600_000 })
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

const ROWS = 30_000_000
const patience = { timeout: 30_000 }

describe('a file of 30 million rows in less than 107 kB', () => {
  test('leaves no thread behind when a dozen clients disconnect, and blocks no other tenant', async () => {
    const packed = gzipSync(Buffer.from(`code\n${'A1\n'.repeat(ROWS)}`))
    expect(packed.length).toBeLessThan(107_000)
    const headers = { 'content-type': 'application/octet-stream' }
    const { upload_id } = await t.make('POST /uploads', { payload: packed, headers })
    const base = await w.listen()
    const authorization = `Bearer ${await t.token()}`
    const leaving = new AbortController()
    const preview = async () => {
      const reply = await fetch(`${base}/api/reference-data/adapters/csv/preview`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ upload_id }),
        signal: leaving.signal,
      })
      const { code } = (await reply.json()) as { code: string }
      return `${reply.status} ${code} ${reply.headers.get('retry-after')}`
    }
    const clients = Promise.allSettled(Array.from({ length: 12 }, preview))
    const threads = w.kernel.threads.admission
    // One tenant gets half of the threads; three more of its previews queue, and the rest is refused.
    await vi.waitFor(() => expect(threads.count(undefined, t.tenant_id)).toBe(5), patience)
    expect(threads.running).toBe(2)

    const other = await ExampleTenant.create(w)
    const body = { text: 'code\nA1\n' }
    const admitted = await other.make('POST /reference-data/adapters/csv/preview', { body })
    expect(admitted).toMatchObject({ rows: 1, truncated: null })
    expect(threads.count(undefined, t.tenant_id)).toBe(5)

    leaving.abort()
    await vi.waitFor(() => expect(threads.count()).toBe(0), patience)
    const ends = (await clients).map((end) => (end.status === 'fulfilled' ? end.value : end.reason.name))
    expect(ends.toSorted()).toEqual([...Array(7).fill('429 concurrency_limited 2'), ...Array(5).fill('AbortError')])
    expect(await other.make('POST /reference-data/adapters/csv/preview', { body })).toMatchObject({ rows: 1 })
  })
})

describe('a preview that reaches a limit', () => {
  const source = async function* () {
    for (let n = 0; n < 50; n++) yield Buffer.from(`${n === 0 ? 'code\n' : ''}${`A${n}\n`.repeat(1000)}`)
  }
  const request: PreviewRequest = { file_name: null, adapter_key: 'csv', options: {}, type: null, limit: 3 }
  const preview = (max_rows: number, time_limit_ms: number) => {
    const kernel = { ...w.kernel, preview_limits: { max_rows, time_limit_ms } }
    return previewSource(kernel, source(), request, { tenant_id: t.tenant_id, signal: new AbortController().signal })
  }

  test('of rows reports it, and counts what was read', async () => {
    const { rows, truncated } = await preview(1500, 600_000)
    expect([rows, truncated]).toEqual([1500, { reason: 'rows', limit: 1500 }])
  })

  test('of time reports it', async () => {
    const { rows, truncated } = await preview(1_000_000, -1)
    expect(truncated).toEqual({ reason: 'time', limit: -1 })
    expect(rows).toBeLessThan(50_000)
  })

  test('that it does not reach reports nothing', async () => {
    expect(await preview(50_000, 600_000)).toMatchObject({ rows: 50_000, truncated: null })
  })
})

describe('the thread of an import', () => {
  const kind: WorkKind = { name: 'test', max_running: () => 1, max_waiting: 5 }
  const request = {
    adapter_key: 'ndjson',
    options: {},
    type: {
      type_key: 'x',
      type_version: 1,
      title: 'X',
      description: 'X',
      schema: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
      key_pointers: ['/code'],
      list_rules: {},
      fields: {},
      examples: [],
    },
    strict: true,
    drop: [],
    hash: [],
    hash_key: null,
    filled: [],
  }

  test('yields its slot to a waiting caller, continues afterwards, and loses no row', async () => {
    const threads = new ThreadAdmission({ threads: 1 })
    const events: string[] = []
    let rows = 0
    const source = async function* () {
      // Runs until another caller had the slot, then ends.
      for (; !events.includes('other ended'); ) {
        let text = ''
        for (let n = 0; n < 1000; n++) text += `{"code":"${rows++}"}\n`
        yield Buffer.from(text)
        if (rows === 1000) {
          void threads
            .run({ kind, caller: 'other' }, async () => {
              events.push('other runs')
              expect(threads.running).toBe(1)
            })
            .then(() => events.push('other ended'))
        }
      }
    }
    const outputs = importInThread(`${threadsDir}/import-thread.mjs`, source(), request as never, {
      admission: { threads, request: { kind, caller: 'importer', is_job: true } },
    })
    let accepted = 0
    for await (const output of outputs) if (output.kind === 'end') accepted = output.totals.accepted
    expect(events).toEqual(['other runs', 'other ended'])
    expect(accepted).toBe(rows)
    expect(threads.count()).toBe(0)
  })

  test('ends with its signal and frees its slot', async () => {
    const threads = new ThreadAdmission({ threads: 1 })
    const stop = new AbortController()
    const source = async function* () {
      for (let n = 0; ; n++) {
        yield Buffer.from(`{"code":"${n}"}\n`)
        if (n === 100) stop.abort(new Error('not needed any more'))
      }
    }
    const outputs = importInThread(`${threadsDir}/import-thread.mjs`, source(), request as never, {
      signal: stop.signal,
      admission: { threads, request: { kind, caller: 'importer', is_job: true } },
    })
    const reading = (async () => {
      for await (const _ of outputs);
    })()
    await expect(reading).rejects.toThrow('not needed any more')
    expect(threads.count()).toBe(0)
  })
})
