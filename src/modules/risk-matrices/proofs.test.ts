/**
 * Expensive proofs run in a thread while no transaction is open, and are valid only for exactly the content they were
 * computed for.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { createControlledAnalysis } from '#test/support/controlled-analysis.ts'
import { SharedList } from '#test/support/shared-list.ts'
import { smallMatrix } from '#test/support/small-definitions.ts'
import { type Reply, startTestApp, type TestApp } from '#test/support/test-app.ts'

const analysis = createControlledAnalysis()
let w: TestApp
let token: string
beforeAll(async () => {
  w = await startTestApp({ scripts_dir: analysis.scripts_dir })
  token = await w.token()
  const schema = {
    type: 'object',
    properties: { code: { type: 'string', maxLength: 50 }, points: { type: 'integer', minimum: 0, maximum: 10_000 } },
    required: ['code', 'points'],
    additionalProperties: false,
  }
  const type = { type_key: 'points', title: 'Points', description: 'Points.', schema, key_pointers: ['/code'] }
  await make('POST /reference-data/types', { ...type, examples: [{ code: 'a', points: 1 }] })
})
afterAll(async () => {
  analysis.order('go')
  await w.close()
  analysis.remove()
})
beforeEach(() => analysis.order('go'))

const call = (at: string, body?: unknown, headers = {}) =>
  w.call(at, { token, headers, ...(body !== undefined && { body }) })
async function make(at: string, body: unknown) {
  const reply = await call(at, body)
  if (reply.status >= 300) throw new Error(`${at}: ${reply.status} ${reply.text}`)
  return reply.json
}
const toSummary = ({ status, json }: Reply): string => `${status} ${json.code ?? ''}`.trim()

const both = [
  { code: 'a', points: 1000 },
  { code: 'b', points: 8000 },
]
let count = 0
async function newList(): Promise<string> {
  const list_key = `points-${++count}`
  await make('POST /reference-data/datasets', { list_key, type_key: 'points', title: 'Points' })
  await addVersion(list_key, both)
  await make(`POST /reference-data/datasets/${list_key}/activations`, { version: 1, reason: 'first' })
  return list_key
}
const addVersion = (list_key: string, data: object[]) =>
  make(`POST /reference-data/datasets/${list_key}/versions`, { data })
const activateList = (list_key: string, version: number) =>
  call(`POST /reference-data/datasets/${list_key}/activations`, { version, reason: 'next' })

/** Several thousand combinations and a look-up in the list. `top` distinguishes otherwise equal definitions. */
const buildWideMatrix = (list_key: string, top = 40, { values, field } = { values: ['a', 'b'], field: 'points' }) => {
  const columns = ['n0', 'n1', 'n2']
  const rows = Array.from({ length: 30 }, (_, n) => ({
    key: `r${n}`,
    when: columns.map((_, column) => (n % 3 === column ? `${n}` : '-')),
    then: [n],
  }))
  const otherwise = { then: [0], reason: 'Nothing applies.' }
  return {
    ...smallMatrix(),
    inputs: [
      { name: 'code', title: 'Code', type: 'enum', values },
      ...columns.map((name) => ({ name, title: name, type: 'integer', minimum: 0, maximum: top })),
    ],
    factors: [
      { key: 'code', title: 'Code', form: 'lookup', list_key, inputs: ['code'], field, on_missing: 'fail' },
      {
        key: 'table',
        title: 'Table',
        form: 'table',
        table: { hit_policy: 'first', columns, outputs: [{ name: 'score_bps' }], rows, otherwise },
      },
    ],
    triggers: [],
  }
}
async function newMatrix(definition: object, state: 'draft' | 'published' | 'active'): Promise<string> {
  const path = `/risk-matrices/wide-${++count}`
  await make('POST /risk-matrices', { matrix_key: path.split('/')[2], title: 'Wide', definition })
  if (state !== 'draft') await make(`POST ${path}/versions/draft/publish`, {})
  if (state === 'active') await make(`POST ${path}/activations`, { version: 1, reason: 'first' })
  return path
}

/** Starts a call, and returns it once its proof has started and is blocked. */
async function startBlocked(begin: () => Promise<Reply>): Promise<{ readonly reply: Promise<Reply> }> {
  const begun = analysis.begun()
  analysis.order('wait')
  let answered = false
  const reply = begin().finally(() => {
    answered = true
  })
  await vi.waitUntil(() => analysis.begun() > begun || answered, { timeout: 60_000 })
  expect(answered).toBe(false)
  return { reply }
}

/** As seen in the database: locks, and idle open transactions. */
const countOpenTransactions = async () =>
  w.runtime.database.one(fullScope(await w.tenant(), 'operator:test'), (tx) =>
    tx.find<{ open: number }>(
      `select count(*)::int as open from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'`,
    ),
  )

describe('while a proof is made', () => {
  const operations: [string, (path: string, list_key: string) => Promise<() => Promise<Reply>>][] = [
    ['publishing', async (path) => () => call(`POST ${path}/versions/draft/publish`, {})],
    ['validating', async (path) => () => call(`POST ${path}/versions/draft/validate`)],
    ['looking at the draft', async (path) => () => call(`GET ${path}/versions/draft`)],
    [
      'editing the draft',
      async (path, list_key) => () => call(`PUT ${path}/versions/draft`, { definition: buildWideMatrix(list_key, 50) }),
    ],
  ]

  test.each(operations)('%s holds no connection', async (_name, prepare) => {
    const list_key = await newList()
    const path = await newMatrix(buildWideMatrix(list_key), 'draft')
    const { reply } = await startBlocked(await prepare(path, list_key))
    await expect.poll(() => w.runtime.database.semaphore.inUse).toBe(0)
    expect(await countOpenTransactions()).toEqual({ open: 0 })
    expect((await call(`GET ${path}/versions`)).status).toBe(200)
    analysis.order('go')
    expect((await reply).status).toBeLessThan(300)
  })

  test('activating a list that a definition reads holds no connection', async () => {
    const list_key = await newList()
    await newMatrix(buildWideMatrix(list_key), 'active')
    await addVersion(list_key, [...both, { code: 'c', points: 1 }])
    const { reply } = await startBlocked(() => activateList(list_key, 2))
    await expect.poll(() => w.runtime.database.semaphore.inUse).toBe(0)
    // It holds no lock either: another change commits meanwhile.
    expect((await activateList(await newList(), 1)).status).toBe(201)
    analysis.order('go')
    expect((await reply).status).toBe(201)
  })

  test('approving a proposal holds no connection', async () => {
    const tenant_id = await w.makeTenant({ four_eyes: true })
    const [maker, checker] = [await w.token({ tenant_id }), await w.token({ tenant_id })]
    const own = (at: string, body: unknown, by = maker) => w.call(at, { token: by, body })
    const shared = ['DE', 'FR', 'IT'].map((country) => ({ country, rating: 'low' as const, score: 10 }))
    const list = await SharedList.create(w, 'free', shared.slice(0, 2))
    const definition = buildWideMatrix(list.list_key, 40, { values: ['DE', 'FR'], field: 'score' })
    await own('POST /risk-matrices', { matrix_key: 'eyes', title: 'Eyes', definition })
    expect(toSummary(await own('POST /risk-matrices/eyes/versions/draft/publish', {}))).toBe('201')
    const begun = analysis.begun()
    const proposal = await own('POST /risk-matrices/eyes/activations', { version: 1, reason: 'go' })
    // It was proved when it was published with the same content; then the operator changes the list.
    expect([proposal.status, analysis.begun()]).toEqual([202, begun])
    await list.publish(shared)
    const { reply } = await startBlocked(() => own(`POST /change-requests/${proposal.json.cr_id}/approve`, {}, checker))
    await expect.poll(() => w.runtime.database.semaphore.inUse).toBe(0)
    analysis.order('go')
    expect((await reply).json.state).toBe('approved')
    expect((await w.call('GET /risk-matrices/eyes', { token: maker })).json.active.version).toBe(1)
  })
})

describe('a proof', () => {
  test('is computed once per content for all callers', async () => {
    const list_key = await newList()
    const path = await newMatrix(buildWideMatrix(list_key), 'draft')
    const begun = analysis.begun()
    const { reply } = await startBlocked(() => call(`POST ${path}/versions/draft/validate`))
    const second = call(`POST ${path}/versions/draft/validate`)
    analysis.order('go')
    expect([(await reply).json.valid, (await second).json.valid]).toEqual([true, true])
    await make(`POST ${path}/versions/draft/publish`, {})
    await make(`POST ${path}/activations`, { version: 1, reason: 'go' })
    expect((await call(`GET ${path}`)).json.attention).toEqual([])
    // The same entries as another version are already proved.
    await addVersion(list_key, both)
    expect((await activateList(list_key, 2)).status).toBe(201)
    expect(analysis.begun()).toBe(begun + 1)
    await addVersion(list_key, [...both, { code: 'c', points: 1 }])
    expect((await activateList(list_key, 3)).status).toBe(201)
    expect(analysis.begun()).toBe(begun + 2)
  })

  test('is discarded when a list changed meanwhile, and another one is computed', async () => {
    const list_key = await newList()
    const path = await newMatrix(buildWideMatrix(list_key), 'draft')
    await addVersion(list_key, [{ code: 'a', points: 1 }])
    const begun = analysis.begun()
    const { reply } = await startBlocked(() => call(`POST ${path}/versions/draft/publish`, {}))
    expect((await activateList(list_key, 2)).status).toBe(201)
    analysis.order('go')
    const refused = await reply
    expect(toSummary(refused)).toBe('409 definition_invalid')
    expect(refused.json.findings).toMatchObject([{ code: 'list_key_missing', example: { code: 'b' } }])
    expect(analysis.begun()).toBe(begun + 2)
  })

  test('that finds a fault blocks the activation of the list', async () => {
    const list_key = await newList()
    await newMatrix(buildWideMatrix(list_key), 'active')
    await addVersion(list_key, [{ code: 'a', points: 1 }])
    expect((await activateList(list_key, 2)).json.gates).toMatchObject([{ gate: 'referenced-by' }])
  })

  test('that reaches a limit is refused like a definition too large to prove, and is not retried immediately', async () => {
    const path = await newMatrix(buildWideMatrix(await newList()), 'draft')
    analysis.order('full')
    const refused = await call(`POST ${path}/versions/draft/publish`, {})
    expect(toSummary(refused)).toBe('409 not_analysable')
    expect(refused.json.detail).toContain('it needs more than 256 MiB of memory')
    const begun = analysis.begun()
    analysis.order('go')
    expect(toSummary(await call(`POST ${path}/versions/draft/publish`, {}))).toBe('409 not_analysable')
    expect(analysis.begun()).toBe(begun)
    expect((await call(`GET ${path}/versions`)).json.items).toEqual([])
  })

  test('returns 503 when its thread ends, and nothing is stored', async () => {
    const list_key = await newList()
    const path = await newMatrix(buildWideMatrix(list_key), 'draft')
    const before = (await call(`GET ${path}`)).json.draft.revision
    analysis.order('die')
    const definition = buildWideMatrix(list_key, 60)
    const dead = await call(`PUT ${path}/versions/draft`, { definition }, { 'if-match': `"${before}"` })
    expect(toSummary(dead)).toBe('503 dependency_unavailable')
    expect(dead.headers['retry-after']).toBe('1')
    expect((await call(`GET ${path}`)).json.draft.revision).toBe(before)
    const publish = () => call(`POST ${path}/versions/draft/publish`, {}, { 'idempotency-key': `publish-${path}` })
    expect(toSummary(await publish())).toBe('503 dependency_unavailable')
    expect((await call(`GET ${path}/versions`)).json.items).toEqual([])
    analysis.order('go')
    const published = await publish()
    expect(published.status).toBe(201)
    const again = await publish()
    expect([again.headers['idempotency-replayed'], again.text]).toEqual(['true', published.text])
  })
})
