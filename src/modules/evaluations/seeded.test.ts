/** The seeded matrices and rules decide their golden cases as expected, through the API, and replay exactly. */
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectRoot } from '#test/support/database.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

interface Seed {
  readonly key: string
  readonly cases: readonly {
    readonly name: string
    readonly inputs: Record<string, unknown>
    readonly expected: Record<string, unknown>
  }[]
}

const cases = (['matrices', 'rules'] as const).flatMap((folder) => {
  const at = path.join(projectRoot, 'db/seed', folder)
  return fs.readdirSync(at).flatMap((file) => {
    const { key, cases } = JSON.parse(fs.readFileSync(path.join(at, file), 'utf8')) as Seed
    const order = folder === 'matrices' ? { matrix_key: key } : { rule_key: key }
    return cases.map(({ name, inputs, expected }) => ({
      name: `${key}: ${name}`,
      order: { ...order, inputs },
      expected,
    }))
  })
})

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

test.for(cases)('$name', async ({ order, expected }) => {
  const made = await t.make('POST /evaluations', { body: order })
  expect(made.outcome).toMatchObject(expected)
  expect(made.explanation.summary.length).toBeGreaterThan(0)
  expect((await t.make(`POST /evaluations/${made.evaluation_id}/replay`)).verdict).toBe('identical')
})

test('the documented requests that need nothing of the tenant succeed as they are', async () => {
  const other = await ExampleTenant.create(w)
  const ready = w.kernel.routes.filter(({ ready_body }) => ready_body !== undefined)
  expect(ready.map(({ id }) => id)).toContain('createEvaluation')
  for (const { method, path: at, ready_body, reply } of ready) {
    const sent = { token: await other.token(), body: ready_body?.value }
    const { status, json } = await w.call(`${method} ${at}`, sent)
    expect([at, status, json.code]).toEqual([at, reply[0], undefined])
  }
})
