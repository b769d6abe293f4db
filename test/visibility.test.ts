/**
 * What people write for officers reaches nobody else: not through change requests, ratings, decisions or whatever is made of
 * them. The operations are read from the route table, so a new one is tried without being named here.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canReadCases, type Role, roles } from '#kernel/auth/roles.ts'
import type { Route } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { runBatch } from '#modules/batch-evaluations/fixtures.ts'
import { runImpact } from '#modules/impact/fixtures.ts'
import { ensurePolicy } from './support/example-policy.ts'
import { ExampleTenant } from './support/example-tenant.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'

const TEXT = 'canary-for-officers'
const ACTION = 'freeze-and-report'
const MATRIX = 'customer-risk-person'
const outsiders = roles.filter((role) => !canReadCases([role]))

const inputs = {
  residence_country: 'DE',
  nationalities: ['DE'],
  products: ['salary-account'],
  channel: 'branch',
  annual_turnover: '60000.00',
  years_known: 5,
  source_of_funds: 'salary',
  adverse_media: 'none',
  screening: 'true-match',
}
const expires_at = new Date(Date.now() + 86_400_000).toISOString()

let w: TestApp
let t: ExampleTenant
let subject_id: string
let evaluation_id: string
let batch_id: string
let run_id: string
let measured: string
/** One approved, one rejected, one open; the open one ends the override. */
let requests: string[]
const tokens = new Map<Role, string>()
const tokenOf = (role: Role) => tokens.get(role) as string

const tokenFor = (held: readonly Role[]) => w.token({ tenant_id: t.tenant_id, roles: held })
const get = (path: string, role: Role) => w.call(`GET ${path}`, { token: tokenOf(role) })

beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  for (const role of roles) tokens.set(role, await tokenFor([role]))
  const attributes = inputs
  const person = { subject_type: 'person', name: 'Ada', external_id: uuidv7(), attributes }
  subject_id = (await t.make('POST /subjects', { body: person })).subject_id
  evaluation_id = (await t.make('POST /evaluations', { body: { matrix_key: MATRIX, subject_id } })).evaluation_id
  batch_id = await runBatch(t, { matrix_key: MATRIX, items: [{ subject_id }] })
  run_id = await runImpact(t, 'POST /reference-data/datasets/product-risk/versions/1/impact')
  await ensurePolicy(t)
  await makeRequests()
})
afterAll(() => w.close())

async function makeRequests() {
  const govern = (rules: object[]) => t.setApprovalRules(rules)
  const rule = { approvers: 1, role: 'compliance_officer' }
  await govern([
    { action: 'risk-override', ...rule },
    { action: 'activation', ...rule },
  ])
  const analyst = tokenOf('analyst')
  const officer = tokenOf('compliance_officer')
  const propose = async () => {
    const body = { band: 'high', reason: TEXT, reason_code: 'RAT_SET_BY_HAND', expires_at }
    return (await w.call(`POST /subjects/${subject_id}/risk-override`, { token: analyst, body })).json.cr_id as string
  }
  const decide = (cr_id: string, verb: string, body: object) =>
    w.call(`POST /change-requests/${cr_id}/${verb}`, { token: officer, body })
  const rejected = await propose()
  expect((await decide(rejected, 'reject', { reason: TEXT })).status).toBe(200)
  const approved = await propose()
  expect((await decide(approved, 'approve', { note: TEXT })).status).toBe(200)
  const end = await w.call(`DELETE /subjects/${subject_id}/risk-override?reason=${TEXT}`, { token: officer })
  requests = [approved, rejected, end.json.cr_id]
  const pin = { version: 1, reason: TEXT, expires_at }
  const pinned = await w.call('POST /reference-data/datasets/product-risk/pin', { token: officer, body: pin })
  measured = pinned.json.cr_id
  await runImpact(t, `POST /change-requests/${measured}/impact`)
}

const values = (): Readonly<Record<string, string>> => ({
  subject_id,
  evaluation_id,
  batch_id,
  other_batch_id: batch_id,
  seq: '1',
  run_id,
  matrix_key: MATRIX,
  rule_key: 'cash-structuring',
  list_key: 'product-risk',
  version: '1',
  code: 'conflict',
  type_key: 'risk-factor',
  type_version: '1',
  object_type: 'subjects',
  object_id: subject_id,
})
const fill = (route: Route, known: Readonly<Record<string, string>>) =>
  route.path.replaceAll(/:(\w+)/g, (_, name: string) => known[name] ?? uuidv7())

/** Definitions and lists name the action as policy, about nobody. */
const policyModules = ['reference-data', 'risk-matrices', 'rules']
const isAboutDecisions = (route: Route) =>
  !w.kernel.modules.some(({ name, routes }) => policyModules.includes(name) && routes.includes(route))

describe.each(outsiders)('as %s', (role) => {
  test('no read gives a text or an action for officers', async () => {
    const reads = w.runtime.kernel.routes.filter(
      ({ method, access, roles: may }) => method === 'GET' && access === 'tenant' && may.includes(role),
    )
    expect(reads.length).toBeGreaterThan(40)
    let answered = 0
    for (const route of reads) {
      const paths = route.path.includes(':cr_id')
        ? [...requests, measured].map((cr_id) => fill(route, { ...values(), cr_id }))
        : [fill(route, values())]
      for (const path of paths) {
        const query = route.id === 'getPermission' ? '?method=GET&path=/api/subjects' : ''
        const { status, text } = await get(`${path}${query}`, role)
        if (status === 200) answered += 1
        expect(text.includes(TEXT), `${route.id} gives the text`).toBe(false)
        if (isAboutDecisions(route)) expect(text.includes(ACTION), `${route.id} gives the action`).toBe(false)
      }
    }
    expect(answered).toBeGreaterThan(30)
  })

  test('a change request is its id, action and state', async () => {
    for (const cr_id of requests) {
      const { status, json, headers } = await get(`/change-requests/${cr_id}`, role)
      expect([status, Object.keys(json).sort()]).toEqual([200, ['action', 'cr_id', 'restriction_id', 'state']])
      expect(json).toMatchObject({ cr_id, action: 'risk-override' })
      const officer = await get(`/change-requests/${cr_id}`, 'compliance_officer')
      expect(officer.headers['etag']).not.toBe(headers['etag'])
      const again = { token: tokenOf('compliance_officer'), headers: { 'if-none-match': String(headers['etag']) } }
      expect((await w.call(`GET /change-requests/${cr_id}`, again)).status).toBe(200)
    }
    const { items } = (await get('/change-requests', role)).json
    const seen = items.filter((item: { cr_id: string }) => requests.includes(item.cr_id))
    for (const item of seen) expect(Object.keys(item).sort()).toEqual(['action', 'cr_id', 'restriction_id', 'state'])
    expect(seen).toHaveLength(requests.length)
  })
})

describe('those it is written for', () => {
  test.each(['analyst', 'compliance_officer', 'auditor'] as const)('%s reads all of it', async (role) => {
    for (const cr_id of requests)
      expect((await get(`/change-requests/${cr_id}`, role)).text.includes(TEXT), cr_id).toBe(
        // Ending an override is for officers only.
        cr_id !== requests[2] || role !== 'analyst',
      )
    expect((await get(`/subjects/${subject_id}/risk`, role)).json.override.reason).toBe(TEXT)
    expect((await get(`/evaluations/${evaluation_id}`, role)).json.required_actions).toEqual([ACTION])
  })

  test('a person with several roles reads what any of them may', async () => {
    const token = await tokenFor(['viewer', 'auditor'])
    expect((await w.call(`GET /change-requests/${requests[0]}`, { token })).json.body.reason).toBe(TEXT)
    expect((await w.call(`GET /evaluations/${evaluation_id}`, { token })).json.required_actions).toEqual([ACTION])
  })

  test('a maker reads what makers may submit, and nothing else', async () => {
    expect(Object.keys((await get(`/change-requests/${measured}`, 'policy_editor')).json)).toHaveLength(4)
    const { country_list } = await ensurePolicy(t)
    const order = { token: tokenOf('policy_editor'), body: { reason: 'reviewed' } }
    const { json } = await w.call(`POST /reference-data/datasets/${country_list}/versions/1/submit`, order)
    expect((await get(`/change-requests/${json.cr_id}`, 'policy_editor')).json).toMatchObject({ body: { version: 1 } })
    expect(Object.keys((await get(`/change-requests/${json.cr_id}`, 'viewer')).json)).toHaveLength(4)
  })
})

test('others get the reason code of an override', async () => {
  const { override } = (await get(`/subjects/${subject_id}/risk`, 'viewer')).json
  expect(override).toMatchObject({ band: 'high', reason: null, reason_code: 'RAT_SET_BY_HAND' })
})

describe('a required action', () => {
  const evaluate = (token: string, key?: string) =>
    w.call('POST /evaluations', {
      token,
      body: { matrix_key: MATRIX, inputs },
      headers: key ? { 'idempotency-key': key } : {},
    })

  test('is the code for the caller where the caller is not in its audience; the stored document is as decided', async () => {
    const { json, text } = await evaluate(tokenOf('service'))
    expect(text).not.toContain(ACTION)
    expect(json.required_actions).toEqual(['refer-to-compliance'])
    expect(json.outcome.required_actions).toEqual(['refer-to-compliance'])
    expect(json.explanation.triggers[0].required_actions).toEqual(['refer-to-compliance'])
    const stored = (await get(`/evaluations/${json.evaluation_id}`, 'auditor')).json
    expect([stored.document_hash, stored.required_actions]).toEqual([json.document_hash, [ACTION]])
    const replay = { token: tokenOf('auditor') }
    expect((await w.call(`POST /evaluations/${json.evaluation_id}/replay`, replay)).json.verdict).toBe('identical')
  })

  test('is withheld from a repeated answer by whoever has lost the role since', async () => {
    const principal = `user:${uuidv7()}` as const
    const as = (held: Role[]) => w.token({ tenant_id: t.tenant_id, principal, roles: held })
    const first = await evaluate(await as(['analyst', 'service']), 'once')
    expect(first.json.required_actions).toEqual([ACTION])
    const again = await evaluate(await as(['service']), 'once')
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(again.json).toMatchObject({
      evaluation_id: first.json.evaluation_id,
      required_actions: ['refer-to-compliance'],
    })
    expect(again.text).not.toContain(ACTION)
  })

  test('is withheld where a policy editor tries inputs', async () => {
    const token = tokenOf('policy_editor')
    const version = `/risk-matrices/${MATRIX}/versions/3`
    const tried = [
      await w.call('POST /evaluations/preview', { token, body: { matrix_key: MATRIX, inputs } }),
      await w.call(`POST ${version}/simulate`, { token, body: { inputs } }),
      await w.call(`POST ${version}/test`, { token, body: {} }),
      await w.call(`POST /evaluations/${evaluation_id}/what-if`, { token, body: { inputs: { screening: 'clear' } } }),
      await w.call(`POST /evaluations/${evaluation_id}/what-if`, { token, body: { inputs: { years_known: 1 } } }),
    ]
    for (const { status, text } of tried) expect([status, text.includes(ACTION)]).toEqual([200, false])
    expect(tried[3]?.text).toContain('refer-to-compliance')
  })

  test('follows the audience the tenant has in force, also for decisions made before', async () => {
    const value = { code: ACTION, title: 'Freeze', audience: ['service'], rationale: 'Tried.' }
    const overlay = { entries: [{ op: 'put', key: ACTION, value }], reason: 'tried' }
    await t.make('PUT /tenant/approval-policy', { body: { rules: [] } })
    const put = await w.call('PUT /reference-data/datasets/action-audiences/overlay', {
      token: await t.token(),
      body: overlay,
    })
    expect(put.status).toBeLessThan(300)
    expect((await get(`/evaluations/${evaluation_id}`, 'service')).json.required_actions).toEqual([ACTION])
    expect((await get(`/evaluations/${evaluation_id}`, 'viewer')).json.required_actions).toEqual([])
  })
})

test('every operation that answers required actions to other roles declares how they are withheld', () => {
  const names = (schema: unknown): boolean =>
    typeof schema === 'object' &&
    schema !== null &&
    ('required_actions' in schema || Object.values(schema).some((part) => names(part)))
  const answering = w.runtime.kernel.routes.filter(
    ({ reply, roles: may }) => names(reply[1]) && may.some((role) => !canReadCases([role])),
  )
  expect(answering.length).toBeGreaterThan(8)
  expect(answering.filter(({ redact }) => !redact).map(({ id }) => id)).toEqual([])
})
