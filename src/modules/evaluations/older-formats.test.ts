/**
 * Decisions without salts, as an earlier release stored them: they verify, replay, and have the same views and certificates.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from '#app/main.ts'
import { createTenant } from '#app/seed.ts'
import { projectRoot } from '#test/support/database.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'

interface Stored {
  readonly tenant_id: string
  readonly evaluation_id: string
  readonly batch_id: string
  readonly evaluation: Record<string, unknown>
  readonly certificate: { readonly document: { readonly key: string; readonly inputs: object } }
  readonly tables: Readonly<Record<string, readonly Record<string, unknown>[]>>
}
const stored = JSON.parse(
  fs.readFileSync(path.join(projectRoot, 'test/fixtures/decisions-of-format-1.json'), 'utf8'),
) as Stored

let w: TestApp
let t: ExampleTenant
let folder: string
beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-format-1-'))
  w = await startTestApp()
  const { tenant_id } = stored
  await createTenant(
    w.seedContext,
    { tenant_id, slug: 'older', name: 'Older', demo: false, four_eyes: false },
    'operator:test',
  )
  await insertStored()
  t = new ExampleTenant(w, tenant_id)
})
afterAll(async () => {
  fs.rmSync(folder, { recursive: true, force: true })
  await w.close()
})

/** Inserts the stored rows without triggers. */
async function insertStored(): Promise<void> {
  const client = new pg.Client(w.clone.postgres)
  await client.connect()
  try {
    await client.query('set session_replication_role = replica')
    for (const [table, rows] of Object.entries(stored.tables)) {
      await client.query(`delete from app.${table} where tenant_id = $1`, [stored.tenant_id])
      for (const row of rows) {
        const columns = Object.keys(row).join(', ')
        const values = `select ${columns} from jsonb_populate_record(null::app.${table}, $1::jsonb)`
        await client.query(`insert into app.${table} (${columns}) ${values}`, [JSON.stringify(row)])
      }
    }
  } finally {
    await client.end()
  }
}

test('an unsalted decision is intact and has the same views', async () => {
  expect(stored.certificate.document).toMatchObject({ format: 'probity-decision/1' })
  // Replies may have new members; the earlier ones are unchanged.
  expect(await t.make(`GET /evaluations/${stored.evaluation_id}`)).toMatchObject(stored.evaluation)
  const { items } = await t.make('GET /evaluations')
  expect(items).toMatchObject([{ evaluation_id: stored.evaluation_id, intact: true }])
})

test('an unsalted decision replays to the same bytes', async () => {
  const { document_hash } = stored.evaluation
  const verdict = { verdict: 'identical', document_hash, recomputed_hash: document_hash }
  expect(await t.make(`POST /evaluations/${stored.evaluation_id}/replay`)).toMatchObject(verdict)
})

test('an unsalted decision has the same certificate, which verifies offline', async () => {
  const certificate = await t.make(`GET /evaluations/${stored.evaluation_id}/certificate`)
  expect(certificate).toEqual(stored.certificate)
  const file = path.join(folder, 'certificate.json')
  fs.writeFileSync(file, JSON.stringify(certificate))
  const out: string[] = []
  const terminal = { out: (text: string) => void out.push(text), note: () => {} }
  const words = ['verify', 'certificate', file, '--key', w.kernel.auditKeys.public_key]
  expect(await main(words, {}, terminal)).toBe(0)
  expect(out.join('\n')).toMatch(/^Genuine: /)
  expect(out.join('\n')).toContain('Document format probity-decision/1')
})

test('an unsalted decision can be packed, explained and re-evaluated', async () => {
  const token = await t.token()
  const pack = await w.call(`GET /evaluations/${stored.evaluation_id}/pack`, { token })
  expect([pack.status, pack.headers['content-type']]).toEqual([200, 'application/zip'])
  const again = await t.make(`POST /evaluations/${stored.evaluation_id}/reevaluate`)
  expect(again).toMatchObject({ same_outcome: true, changes: [] })
})

test('an unsalted decision equals the same salted decision in a comparison', async () => {
  const { key: matrix_key, inputs } = stored.certificate.document
  const { evaluation_id } = await t.make('POST /evaluations', { body: { matrix_key, inputs } })
  const body = { evaluation_ids: [stored.evaluation_id, evaluation_id] }
  expect(await t.make('POST /evaluations/compare', { body })).toMatchObject({ same_outcome: true, changes: [] })
})

test('an unsalted batch item is explained', async () => {
  const explained = await t.make(`GET /batch-evaluations/${stored.batch_id}/items/1/explanation`)
  expect(explained).toMatchObject({ document_hash: stored.tables['batch_item']?.[0]?.['document_hash'] })
})
