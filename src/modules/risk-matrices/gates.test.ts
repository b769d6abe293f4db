/** What holds back a change that would leave a definition in force which no longer holds, and what is shown where none can. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { smallMatrix } from '../../../test/support/definition-fixtures.ts'
import { SharedList } from '../../../test/support/shared-list.ts'
import { type World, world } from '../../../test/support/world.ts'
import { SYSTEM_TENANT } from '../../kernel/uuid.ts'
import { activate } from '../reference-data/index.ts'
import { seedDefinitions } from './index.ts'

let w: World
let token: string
beforeAll(async () => {
  w = await world()
  token = await w.token()
  const schema = {
    type: 'object',
    properties: { code: { type: 'string', maxLength: 50 }, points: { type: 'integer', minimum: 0, maximum: 99_999 } },
    required: ['code', 'points'],
    additionalProperties: false,
  }
  const type = { type_key: 'points', title: 'Points', description: 'Points.', schema, key_pointers: ['/code'] }
  await make('POST /reference-data/types', { ...type, examples: [{ code: 'a', points: 1 }] })
})
afterAll(() => w.close())

const call = (at: string, body?: unknown) => w.call(at, { token, ...(body !== undefined && { body }) })
async function make(at: string, body: unknown) {
  const reply = await call(at, body)
  if (reply.status >= 300) throw new Error(`${at}: ${reply.status} ${reply.text}`)
  return reply.json
}

function signal() {
  let give = () => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { give, given }
}

let count = 0
const both = [
  { code: 'a', points: 1000 },
  { code: 'b', points: 8000 },
]
/** A list of the tenant's own, version 1 in force. */
async function newList(data: object[] = both): Promise<string> {
  const list_key = `points-${++count}`
  await make('POST /reference-data/datasets', { list_key, type_key: 'points', title: 'Points' })
  await addVersion(list_key, data)
  await make(`POST /reference-data/datasets/${list_key}/activations`, { version: 1, reason: 'first' })
  return list_key
}
const addVersion = async (list_key: string, data: object[]): Promise<number> =>
  (await make(`POST /reference-data/datasets/${list_key}/versions`, { data })).version
const activateList = (list_key: string, version: number, more: object = {}) =>
  call(`POST /reference-data/datasets/${list_key}/activations`, { version, reason: 'next', ...more })

/** Each code scores as its list says; a code that is not on it cannot be decided on. */
const reading = (list_key: string, field = 'points', values = ['a', 'b']) => ({
  ...smallMatrix(),
  inputs: [{ name: 'code', title: 'Code', type: 'enum', values }],
  factors: [{ key: 'code', title: 'Code', form: 'lookup', list_key, inputs: ['code'], field, on_missing: 'fail' }],
  triggers: [],
})
async function newMatrix(definition: object, active = true): Promise<string> {
  const matrix_key = `gated-${++count}`
  await make('POST /risk-matrices', { matrix_key, title: 'Gated', definition })
  await make(`POST /risk-matrices/${matrix_key}/versions/draft/publish`, {})
  if (active) await make(`POST /risk-matrices/${matrix_key}/activations`, { version: 1, reason: 'first' })
  return matrix_key
}

describe('a list that a definition in force reads', () => {
  test('is not replaced by one that lacks what is read', async () => {
    const list_key = await newList()
    const matrix_key = await newMatrix(reading(list_key))
    await addVersion(list_key, [{ code: 'a', points: 1000 }])
    const { status, json } = await activateList(list_key, 2)
    expect([status, json.code]).toEqual([409, 'gates_closed'])
    expect(json.gates).toEqual([
      expect.objectContaining({
        gate: 'referenced-by',
        overridable: false,
        facts: {
          list_key,
          definitions: [
            expect.objectContaining({
              family: 'matrix',
              key: matrix_key,
              version: 1,
              findings: [expect.objectContaining({ code: 'list_key_missing', example: { code: 'b' } })],
            }),
          ],
        },
      }),
    ])
    const resolved = await call(`GET /reference-data/resolve/${list_key}`)
    expect(resolved.json.version).toBe(1)
  })

  test('is replaced by one that gives other scores, and not by one that gives no score', async () => {
    const list_key = await newList()
    await newMatrix(reading(list_key))
    await addVersion(
      list_key,
      both.map((entry) => ({ ...entry, points: 5000 })),
    )
    expect((await activateList(list_key, 2)).status).toBe(201)
    await addVersion(
      list_key,
      both.map((entry) => ({ ...entry, points: 20_000 })),
    )
    expect((await activateList(list_key, 3)).json.gates).toMatchObject([{ gate: 'referenced-by' }])
  })

  test('is looked at as it will be when the change takes effect', async () => {
    const list_key = await newList()
    await newMatrix(reading(list_key))
    await addVersion(list_key, [{ code: 'a', points: 1 }])
    const later = { effective_from: '2090-01-01T00:00:00Z' }
    expect((await activateList(list_key, 2, later)).json.code).toBe('gates_closed')
  })

  test('all gates are answered together', async () => {
    const list_key = await newList()
    await newMatrix(reading(list_key))
    await addVersion(list_key, [{ code: 'a', points: 1 }])
    const { json } = await activateList(list_key, 2, { expected_active: 7 })
    expect(json.gates.map(({ gate }: { gate: string }) => gate)).toEqual(['stale-base', 'referenced-by'])
  })

  test('changes freely while only drafts, or versions not in force, read it', async () => {
    const list_key = await newList()
    await newMatrix(reading(list_key), false)
    await addVersion(list_key, [{ code: 'a', points: 1 }])
    expect((await activateList(list_key, 2)).status).toBe(201)
  })

  test('is rolled back only to a version that holds', async () => {
    const list_key = await newList([{ code: 'a', points: 1 }])
    await addVersion(list_key, both)
    await activateList(list_key, 2)
    await newMatrix(reading(list_key))
    const { status, json } = await call(`POST /reference-data/datasets/${list_key}/rollback`, { reason: 'back' })
    expect([status, json.gates[0].gate]).toEqual([409, 'referenced-by'])
  })
})

describe('a version of a definition', () => {
  test('is proved again against the lists of the moment it comes into force', async () => {
    const list_key = await newList()
    const matrix_key = await newMatrix(reading(list_key), false)
    await addVersion(list_key, [{ code: 'a', points: 1 }])
    await activateList(list_key, 2)
    const { status, json } = await call(`POST /risk-matrices/${matrix_key}/activations`, { version: 1, reason: 'go' })
    expect([status, json.code]).toEqual([409, 'gates_closed'])
    expect(json.gates).toMatchObject([
      { gate: 'proof', facts: { version: 1, findings: [{ code: 'list_key_missing' }] } },
    ])
  })

  test('is proved against what its lists are already scheduled to be', async () => {
    const list_key = await newList([...both, { code: 'c', points: 1 }])
    const matrix_key = await newMatrix(reading(list_key))
    await addVersion(list_key, both)
    const later = { effective_from: '2090-01-01T00:00:00Z' }
    expect((await activateList(list_key, 2, later)).status).toBe(201)
    await make(`POST /risk-matrices/${matrix_key}/versions`, { definition: reading(list_key, 'points', ['a', 'c']) })
    await make(`POST /risk-matrices/${matrix_key}/versions/draft/publish`, {})
    const { json } = await call(`POST /risk-matrices/${matrix_key}/activations`, { version: 2, reason: 'go' })
    expect(json.gates).toMatchObject([{ gate: 'proof', facts: { version: 2, from: '2090-01-01T00:00:00.000000Z' } }])
  })

  test('whose golden cases are no longer met stays out', async () => {
    const list_key = await newList()
    const matrix_key = await newMatrix(reading(list_key), false)
    const golden = { name: 'a is low', inputs: { code: 'a' }, expected: { band: 'low' } }
    await make(`POST /risk-matrices/${matrix_key}/test-cases`, golden)
    await addVersion(
      list_key,
      both.map((entry) => ({ ...entry, points: 9500 })),
    )
    await activateList(list_key, 2)
    const { json } = await call(`POST /risk-matrices/${matrix_key}/activations`, { version: 1, reason: 'go' })
    expect(json.gates).toMatchObject([{ gate: 'proof', facts: { findings: [{ code: 'golden_case_failed' }] } }])
  })

  test('and a list that change at once: the later one sees the earlier, and never is an unproved pair in force', async () => {
    const list_key = await newList([...both, { code: 'c', points: 1 }])
    const matrix_key = await newMatrix(reading(list_key))
    await addVersion(list_key, both)
    await make(`POST /risk-matrices/${matrix_key}/versions`, { definition: reading(list_key, 'points', ['a', 'c']) })
    await make(`POST /risk-matrices/${matrix_key}/versions/draft/publish`, {})
    // Each alone is in order; together they are not. The list has changed, but is not committed yet.
    const scope = { tenant_id: await w.tenant(), actor: 'operator:test' }
    const [changed, committing] = [signal(), signal()]
    const list = w.runtime.database.write(scope, async (tx) => {
      await activate(tx, { list_key, version: 2, reason: 'next' }, 'activate', 'list', w.kernel)
      changed.give()
      await committing.given
    })
    await changed.given
    const matrix = call(`POST /risk-matrices/${matrix_key}/activations`, { version: 2, reason: 'next' })
    const waits = () =>
      w.runtime.database.one(scope, (tx) =>
        tx.find(`select 1 from pg_locks where locktype = 'advisory' and not granted and database =
                   (select oid from pg_database where datname = current_database())`),
      )
    let answered = false
    await Promise.race([matrix.then(() => (answered = true)), vi.waitUntil(waits, { timeout: 30_000 })])
    expect(answered).toBe(false)
    committing.give()
    await list
    expect((await matrix).json.gates).toMatchObject([{ gate: 'proof' }])
    expect((await call(`GET /risk-matrices/${matrix_key}`)).json.attention).toEqual([])
  })
})

describe('what is scheduled and then cancelled', () => {
  const scheduled = (month: number) => ({ effective_from: `2090-0${month}-01T00:00:00Z` })
  const cancel = (path: string, activation_id: string) => call(`DELETE ${path}/activations/${activation_id}`)
  const nextVersion = async (matrix_key: string, definition: object) => {
    await make(`POST /risk-matrices/${matrix_key}/versions`, { definition })
    await make(`POST /risk-matrices/${matrix_key}/versions/draft/publish`, {})
  }

  test('a version stays scheduled while its lists are to move to what only it reads', async () => {
    const list_key = await newList([...both, { code: 'c', points: 1 }])
    const matrix_key = await newMatrix(reading(list_key, 'points', ['a', 'c']))
    const [matrix, list] = [`/risk-matrices/${matrix_key}`, `/reference-data/datasets/${list_key}`]
    await nextVersion(matrix_key, reading(list_key))
    const next = await make(`POST ${matrix}/activations`, { version: 2, reason: 'next', ...scheduled(1) })
    await addVersion(list_key, both)
    const shorter = await activateList(list_key, 2, scheduled(2))
    expect(shorter.status).toBe(201)
    const refused = await cancel(matrix, next.activation_id)
    expect([refused.status, refused.json.code]).toEqual([409, 'gates_closed'])
    expect(refused.json.gates).toMatchObject([
      { gate: 'proof', facts: { version: 1, from: '2090-02-01T00:00:00.000000Z' } },
    ])
    expect((await call(`GET ${matrix}`)).json.pending).toHaveLength(1)
    expect((await cancel(list, shorter.json.activation_id)).status).toBe(200)
    expect((await cancel(matrix, next.activation_id)).status).toBe(200)
  })

  test('a list stays scheduled while a version that needs it is', async () => {
    const list_key = await newList()
    const matrix_key = await newMatrix(reading(list_key))
    const [matrix, list] = [`/risk-matrices/${matrix_key}`, `/reference-data/datasets/${list_key}`]
    await addVersion(list_key, [...both, { code: 'c', points: 1 }])
    const longer = await activateList(list_key, 2, scheduled(1))
    // Published while the longer list is in force for a moment; what it needs is then only scheduled.
    await activateList(list_key, 2)
    await nextVersion(matrix_key, reading(list_key, 'points', ['a', 'c']))
    await call(`POST ${list}/rollback`, { reason: 'back', to_version: 1, keep_scheduled: true })
    const next = await make(`POST ${matrix}/activations`, { version: 2, reason: 'next', ...scheduled(2) })
    const refused = await cancel(list, longer.json.activation_id)
    expect(refused.json.gates).toMatchObject([
      { gate: 'referenced-by', facts: { definitions: [{ key: matrix_key, version: 2 }] } },
    ])
    expect((await cancel(matrix, next.activation_id)).status).toBe(200)
    expect((await cancel(list, longer.json.activation_id)).status).toBe(200)
  })
})

describe('a shared list that the operator changes', () => {
  const shared = [
    { country: 'DE', rating: 'low', score: 10 },
    { country: 'FR', rating: 'low', score: 20 },
  ] as const

  test('is shown as attention on what it breaks, and keeps nothing else from being mended', async () => {
    const list = await SharedList.create(w, 'free', shared)
    const own = await newList()
    const twoLists = {
      ...reading(list.list_key, 'score', ['DE', 'FR']),
      factors: [
        ...reading(list.list_key, 'score', ['DE', 'FR']).factors,
        {
          key: 'own',
          title: 'Own',
          form: 'score_map',
          input: 'code',
          scores: {
            DE: { list_key: own, key: 'a', field: 'points' },
            FR: 0,
          },
          on_missing: 'fail',
        },
      ],
    }
    const matrix_key = await newMatrix(twoLists)
    expect((await call(`GET /risk-matrices/${matrix_key}`)).json.attention).toEqual([])
    await list.publish(shared.slice(0, 1))
    expect((await call(`GET /risk-matrices/${matrix_key}`)).json.attention).toEqual([
      expect.objectContaining({ code: 'list_key_missing', pointer: '/factors/0', severity: 'error' }),
    ])
    await addVersion(
      own,
      both.map((entry) => ({ ...entry, points: 4000 })),
    )
    expect((await activateList(own, 2)).status).toBe(201)
  })

  test('may be pinned where that holds', async () => {
    const list = await SharedList.create(w, 'free', shared.slice(0, 1))
    await list.publish(shared)
    await newMatrix(reading(list.list_key, 'score', ['DE', 'FR']))
    const pin = (version: number) =>
      call(`POST /reference-data/datasets/${list.list_key}/pin`, { version, reason: 'ours' })
    expect((await pin(1)).json.gates).toMatchObject([{ gate: 'referenced-by' }])
    expect((await pin(2)).status).toBe(201)
  })

  test('is not overlaid, nor an overlay taken off, where a matrix would no longer hold', async () => {
    const list = await SharedList.create(w, 'free', shared.slice(0, 1))
    const path = `/reference-data/datasets/${list.list_key}/overlay`
    const lay = (entries: object[]) => call(`PUT ${path}`, { entries, reason: 'house view' })
    const added = { key: 'FR', op: 'put', value: shared[1] }
    expect((await lay([added])).status).toBe(200)
    await newMatrix(reading(list.list_key, 'score', ['DE', 'FR']))
    expect((await lay([added, { key: 'DE', op: 'remove' }])).json.gates).toMatchObject([{ gate: 'referenced-by' }])
    expect((await call(`DELETE ${path}`)).json.gates).toMatchObject([{ gate: 'referenced-by' }])
    expect((await lay([{ ...added, value: { ...shared[1], score: 90 } }])).status).toBe(200)
  })
})

describe('a shared matrix', () => {
  /** Each definition a version, the last one in force for all tenants. */
  async function sharedMatrix(...definitions: object[]): Promise<string> {
    const key = `shared-matrix-${++count}`
    const settings = { title: 'Shared', description: 'Of the operator.', owner: 'Operator' }
    const profile = { subject_types: ['person'], products: [], typologies: [] }
    const versions = definitions.map((definition, n) => ({ label: `v${n + 1}`, definition: { ...definition } }))
    const seed = {
      key,
      family: 'matrix',
      ...settings,
      ...profile,
      review_every_days: 365,
      stale_after_days: 400,
    } as const
    await w.steward.write({ tenant_id: SYSTEM_TENANT, actor: 'operator:test' }, (tx) =>
      seedDefinitions(tx, [{ ...seed, cases: [], versions }], () => {}),
    )
    return key
  }
  const shared = [
    { country: 'DE', rating: 'low', score: 10 },
    { country: 'FR', rating: 'low', score: 20 },
  ] as const
  const active = async (path: string) => (await call(`GET ${path}`)).json.active

  test('is pinned to a version, and followed again', async () => {
    const list = await SharedList.create(w, 'free', shared)
    const [one, two] = [['DE'], ['DE', 'FR']].map((values) => reading(list.list_key, 'score', values)) as [
      object,
      object,
    ]
    const path = `/risk-matrices/${await sharedMatrix(one, two)}`
    expect(await active(path)).toMatchObject({ version: 2, via: 'shared' })
    expect((await call(`POST ${path}/unpin`, { reason: 'none' })).json.code).toBe('transition_not_allowed')
    const pinned = await call(`POST ${path}/pin`, { version: 1, reason: 'in review' })
    expect([pinned.status, pinned.json.kind]).toEqual([201, 'pin'])
    expect(await active(path)).toMatchObject({ version: 1, via: 'tenant-pin' })
    const inputs = { code: 'FR' }
    const decided = await call('POST /evaluations', { matrix_key: path.split('/')[2], inputs })
    expect([decided.status, decided.json.code]).toEqual([409, 'inputs_refused'])
    expect((await call(`POST ${path}/unpin`, { reason: 'reviewed' })).status).toBe(201)
    expect(await active(path)).toMatchObject({ version: 2, via: 'shared' })
    const own = await newMatrix(reading(await newList()))
    for (const [order, body] of [
      [`POST ${path}/pin`, { version: 9, reason: 'none' }],
      [`POST /risk-matrices/${own}/activations`, { version: 9, reason: 'none' }],
      [`POST /risk-matrices/${own}/rollback`, { to_version: 9, reason: 'none' }],
      [`POST /risk-matrices/${own}/versions`, { from_version: 9 }],
    ] as const) {
      const refused = await call(order, body)
      expect([order, refused.status, refused.json.detail]).toEqual([
        order,
        409,
        expect.stringContaining('There is no version 9'),
      ])
    }
    expect((await call(`POST /risk-matrices/${own}/pin`, { version: 1, reason: 'own' })).json.code).toBe(
      'transition_not_allowed',
    )
  })

  test('is not pinned to a version that does not hold, nor followed again where the shared one does not', async () => {
    const list = await SharedList.create(w, 'free', shared.slice(0, 1))
    const [one, two] = [['DE'], ['DE', 'FR']].map((values) => reading(list.list_key, 'score', values)) as [
      object,
      object,
    ]
    const falling = `/risk-matrices/${await sharedMatrix(one, two)}`
    const rising = `/risk-matrices/${await sharedMatrix(two, one)}`
    const refused = await call(`POST ${rising}/pin`, { version: 1, reason: 'old' })
    expect(refused.json.gates).toMatchObject([{ gate: 'proof', facts: { version: 1 } }])
    expect((await call(`POST ${falling}/pin`, { version: 1, reason: 'holds' })).status).toBe(201)
    expect((await call(`POST ${falling}/unpin`, { reason: 'follow' })).json.gates).toMatchObject([
      { gate: 'proof', facts: { version: 2 } },
    ])
  })
})
