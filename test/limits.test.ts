/** Limits on what one tenant or one object may hold. The rows that reach them are inserted, because the API would need long. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ExampleTenant } from './support/example-tenant.ts'
import { fixtures } from './support/fixtures.ts'
import { shareTestApp, type TestApp } from './support/test-app.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

const build = async (id: string) => ({ params: {}, ...(await fixtures[id]?.(t, 'tenant_admin')) })

async function send(at: string, body: unknown) {
  const { status, json } = await w.call(at, { token: await t.token(), body })
  return { status, code: json.code, text: String(json.errors?.[0]?.detail ?? json.detail) }
}

/** Copies a row until the tenant has `total` of them, with other values in some columns, each an expression of `n`. */
async function copyRow(table: string, total: number, changed: Readonly<Record<string, string>>): Promise<void> {
  const rows = await t.write((tx) =>
    tx.query<{ column: string }>(
      `select column_name::text as column from information_schema.columns where table_schema = 'app' and table_name = $1`,
      [table],
    ),
  )
  const columns = rows.map(({ column }) => `"${column}"`)
  const values = rows.map(({ column }) => changed[column] ?? `"${column}"`)
  await t.write((tx) =>
    tx.run(
      `insert into app.${table} (${columns}) select ${values}
         from (select * from app.${table} where tenant_id = $1 limit 1) as one,
              generate_series(1, $2 - (select count(*) from app.${table} where tenant_id = $1)) n`,
      [t.tenant_id, total],
    ),
  )
}

test('a tenant has at most 100 tool servers', async () => {
  const { body } = await build('createToolServer')
  const add = (server_key: string) => send('POST /mcp/servers', { ...(body as object), server_key })
  expect((await add('first')).status).toBe(201)
  await copyRow('tool_server', 99, { server_key: `'copy-' || n` })
  expect((await add('hundredth')).status).toBe(201)
  expect(await add('one-more')).toEqual({
    status: 409,
    code: 'conflict',
    text: 'A tenant has at most 100 tool servers.',
  })
})

test('a matrix has at most 500 golden cases', async () => {
  const { params, body } = await build('createRiskMatrixCase')
  const [matrix_key] = Object.values(params)
  const add = (name: string) => send(`POST /risk-matrices/${matrix_key}/test-cases`, { ...(body as object), name })
  expect((await add('first')).status).toBe(201)
  await copyRow('definition_case', 499, { case_id: 'gen_random_uuid()', name: `'copy ' || n` })
  expect((await add('last')).status).toBe(201)
  const refused = await add('one more')
  expect([refused.status, refused.code]).toEqual([409, 'conflict'])
  expect(refused.text).toMatch(/at most 500 cases/)
})

test('an investigation has at most 100 steps', async () => {
  const { params, body } = await build('createInvestigationStep')
  const [investigation_id] = Object.values(params)
  const at = `POST /investigations/${investigation_id}/steps`
  const add = (step_key: string) => send(at, { ...(body as object), step_key })
  expect((await add('first')).status).toBe(202)
  await copyRow('investigation_step', 99, { step_key: `'copy-' || n`, position: '500 + n' })
  expect((await add('last')).status).toBe(202)
  expect(await add('one-more')).toEqual({ status: 409, code: 'conflict', text: 'A case has at most 100 steps.' })
})

test('a document has at most 100 MiB', async () => {
  const { body } = await build('createDocument')
  const { upload_id } = body as { upload_id: string }
  const size_bytes = 100 * 1024 * 1024 + 1
  const resize = 'update app.upload set size_bytes = $3 where tenant_id = $1 and upload_id = $2'
  await t.write((tx) => tx.run(resize, [t.tenant_id, upload_id, size_bytes]))
  const refused = await send('POST /documents', body)
  expect([refused.status, refused.code]).toEqual([409, 'document_refused'])
  expect(refused.text).toMatch(/at most 104857600 bytes/)
})
