/** Documents are scanned where the operator has a scanner, and nothing is given out that it did not find clean. */
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createMalwareScanner, ScanFailed } from '#kernel/malware-scanner.ts'
import { type Clamd, INFECTED, startClamd } from '#test/support/clamd.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { CHECK_DOCUMENTS } from './check-job.ts'
import { newUpload } from './fixtures.ts'

const MIB = 1024 * 1024
let clamd: Clamd
let w: TestApp
let t: ExampleTenant
let superuser: pg.Client
beforeAll(async () => {
  clamd = await startClamd()
  w = await startTestApp({ scanner: { kind: 'tcp', host: '127.0.0.1', port: clamd.port } })
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
})
afterAll(async () => {
  await superuser.end()
  await w.close()
  await clamd.close()
})
beforeEach(async () => {
  clamd.mode = 'scan'
  clamd.scanned.length = 0
  t = await ExampleTenant.create(w)
})

async function* pieces(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text)
}

const store = async (text: string) =>
  t.make('POST /documents', { body: { upload_id: await newUpload(t, 'notes.txt', text), title: 'Notes' } })
const readContent = async (document_id: string) => {
  const { status, text, json } = await w.call(`GET /documents/${document_id}/content`, { token: await t.token() })
  return [status, json?.code ?? text]
}

/** Runs the job of the document until it has ended or waits for the scanner. */
async function scan({ job_id, document_id }: { job_id: string; document_id: string }) {
  const runner = w.runtime.createRunner(1)
  runner.start()
  await expect
    .poll(
      async () => {
        const { state, deferred_since } = await t.make(`GET /jobs/${job_id}`)
        return state === 'succeeded' || (state === 'queued' && deferred_since !== null)
      },
      { timeout: 30_000 },
    )
    .toBe(true)
  await runner.stop(1000)
  return t.make(`GET /documents/${document_id}`)
}

describe('with a scanner', () => {
  test('a document is given out once it was found clean', async () => {
    const document = await store('Nothing to see')
    expect(document).toMatchObject({ state: 'stored', scan_state: 'not_scanned' })
    expect(await readContent(document.document_id)).toEqual([409, 'not_finished'])
    expect(await scan(document)).toMatchObject({ scan_state: 'clean', scan_result: null })
    expect(await readContent(document.document_id)).toEqual([200, 'Nothing to see'])
    expect(clamd.scanned).toEqual(['Nothing to see'.length])
  })

  test('a large document is stored and scanned by one job, and an infected one is never given out', async () => {
    const text = 'a'.repeat(MIB + 10) + INFECTED
    const document = await store(text)
    expect(document.state).toBe('storing')
    expect(await scan(document)).toMatchObject({
      state: 'stored',
      scan_state: 'infected',
      scan_result: 'Test.Signature',
    })
    expect(clamd.scanned).toEqual([text.length])
    expect(await readContent(document.document_id)).toEqual([409, 'document_infected'])
  })

  test.for(['error', 'close'] as const)('that fails (%s) opens nothing, and is asked again', async (mode) => {
    clamd.mode = mode
    const document = await store('Nothing to see')
    expect(await scan(document)).toMatchObject({ state: 'stored', scan_state: 'failed' })
    expect(await readContent(document.document_id)).toEqual([503, 'dependency_unavailable'])
    clamd.mode = 'scan'
    await t.write((tx) =>
      tx.run('update app.job set run_at = now(), deferred_since = null where job_id = $1', [document.job_id]),
    )
    expect(await scan(document)).toMatchObject({ scan_state: 'clean' })
    expect(await readContent(document.document_id)).toEqual([200, 'Nothing to see'])
  })

  test('documents from the time before it are scanned by the nightly check', async () => {
    const { document_id, job_id } = await store('Nothing to see')
    await t.make(`POST /jobs/${job_id}/cancel`)
    const check = await t.write((tx) => w.kernel.jobs.enqueue(tx, { kind: CHECK_DOCUMENTS, payload: {} }))
    expect(await t.runToEnd(check)).toMatchObject({ result: { checked: 1, damaged: 0, scans: 1 } })
    const { rows } = await superuser.query(
      `select job_id from app.job where tenant_id = $1 and kind = 'document-processing' and state <> 'cancelled'`,
      [t.tenant_id],
    )
    expect(await scan({ document_id, job_id: rows[0].job_id })).toMatchObject({ scan_state: 'clean' })
  })
})

describe('the client of the scanner', () => {
  const signal = new AbortController().signal
  const create = (idle_ms?: number) =>
    createMalwareScanner({ kind: 'tcp', host: '127.0.0.1', port: clamd.port }, idle_ms)

  test('sends every piece, and reads the verdict', async () => {
    expect(await create().scan(pieces('a', 'bc'), signal)).toEqual({ state: 'clean' })
    expect(await create().scan(pieces('a', INFECTED), signal)).toEqual({ state: 'infected', name: 'Test.Signature' })
    expect(clamd.scanned).toEqual([3, 1 + INFECTED.length])
  })

  test('gives up when the scanner is silent, cannot be reached, or the job ends', async () => {
    clamd.mode = 'silent'
    await expect(create(20).scan(pieces('a'), signal)).rejects.toThrow('did not answer in time')
    const ended = new AbortController()
    const scanning = create().scan(pieces('a'), ended.signal)
    ended.abort()
    await expect(scanning).rejects.toBeInstanceOf(ScanFailed)
    const gone = createMalwareScanner({ kind: 'unix', path: '/nonexistent/clamd.sock' })
    await expect(gone.scan(pieces('a'), signal)).rejects.toThrow('cannot be reached: ENOENT')
  })
})
