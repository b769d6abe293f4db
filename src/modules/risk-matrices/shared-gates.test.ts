/** Changes of shared definitions by the operator: gates for a tenant's own changes, and findings where no gate applies. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { buildPointsMatrix, PolicyFixture, pointsEntries } from '#test/support/policy-fixture.ts'
import { SharedList } from '#test/support/shared-list.ts'
import { seedDefinitions } from './definition-seeds.ts'

let g: PolicyFixture
beforeAll(async () => {
  g = await PolicyFixture.create()
})
afterAll(() => g.w.close())

const shared = [
  { country: 'DE', rating: 'low', score: 10 },
  { country: 'FR', rating: 'low', score: 20 },
] as const

describe('a shared list that the operator changes', () => {
  test('creates findings on the definitions it breaks, and does not block corrections', async () => {
    const list = await SharedList.create(g.w, 'free', shared)
    const own = await g.newList()
    const twoLists = {
      ...buildPointsMatrix(list.list_key, 'score', ['DE', 'FR']),
      factors: [
        ...buildPointsMatrix(list.list_key, 'score', ['DE', 'FR']).factors,
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
    const matrix_key = await g.newMatrix(twoLists)
    expect((await g.call(`GET /risk-matrices/${matrix_key}`)).json.attention).toEqual([])
    await list.publish(shared.slice(0, 1))
    expect((await g.call(`GET /risk-matrices/${matrix_key}`)).json.attention).toEqual([
      expect.objectContaining({ code: 'list_key_missing', pointer: '/factors/0', severity: 'error' }),
    ])
    await g.addVersion(
      own,
      pointsEntries.map((entry) => ({ ...entry, points: 4000 })),
    )
    expect((await g.activateList(own, 2)).status).toBe(201)
  })

  test('can be pinned where the definitions stay valid', async () => {
    const list = await SharedList.create(g.w, 'free', shared.slice(0, 1))
    await list.publish(shared)
    await g.newMatrix(buildPointsMatrix(list.list_key, 'score', ['DE', 'FR']))
    const pin = (version: number) =>
      g.call(`POST /reference-data/datasets/${list.list_key}/pin`, { version, reason: 'ours' })
    expect((await pin(1)).json.gates).toMatchObject([{ gate: 'referenced-by' }])
    expect((await pin(2)).status).toBe(201)
  })

  test('cannot get or lose an overlay where a matrix would become invalid', async () => {
    const list = await SharedList.create(g.w, 'free', shared.slice(0, 1))
    const path = `/reference-data/datasets/${list.list_key}/overlay`
    const putOverlay = (entries: object[]) => g.call(`PUT ${path}`, { entries, reason: 'own assessment' })
    const added = { key: 'FR', op: 'put', value: shared[1] }
    expect((await putOverlay([added])).status).toBe(200)
    await g.newMatrix(buildPointsMatrix(list.list_key, 'score', ['DE', 'FR']))
    expect((await putOverlay([added, { key: 'DE', op: 'remove' }])).json.gates).toMatchObject([
      { gate: 'referenced-by' },
    ])
    expect((await g.call(`DELETE ${path}`)).json.gates).toMatchObject([{ gate: 'referenced-by' }])
    expect((await putOverlay([{ ...added, value: { ...shared[1], score: 90 } }])).status).toBe(200)
  })
})

describe('a shared matrix', () => {
  /** Publishes each definition as a version; the last one is in force for all tenants. */
  async function sharedMatrix(...definitions: object[]): Promise<string> {
    const key = g.newKey('shared-matrix')
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
    await g.w.steward.write(fullScope(SYSTEM_TENANT, 'operator:test'), (tx) =>
      seedDefinitions(tx, [{ ...seed, cases: [], versions }], () => {}),
    )
    return key
  }
  const active = async (path: string) => (await g.call(`GET ${path}`)).json.active

  test('is pinned to a version, and unpinned', async () => {
    const list = await SharedList.create(g.w, 'free', shared)
    const [one, two] = [['DE'], ['DE', 'FR']].map((values) => buildPointsMatrix(list.list_key, 'score', values)) as [
      object,
      object,
    ]
    const path = `/risk-matrices/${await sharedMatrix(one, two)}`
    expect(await active(path)).toMatchObject({ version: 2, via: 'shared' })
    expect((await g.call(`POST ${path}/unpin`, { reason: 'none' })).json.code).toBe('transition_not_allowed')
    const pinned = await g.call(`POST ${path}/pin`, { version: 1, reason: 'in review' })
    expect([pinned.status, pinned.json.kind]).toEqual([201, 'pin'])
    expect(await active(path)).toMatchObject({ version: 1, via: 'tenant-pin' })
    const inputs = { code: 'FR' }
    const decided = await g.call('POST /evaluations', { matrix_key: path.split('/')[2], inputs })
    expect([decided.status, decided.json.code]).toEqual([409, 'inputs_refused'])
    expect((await g.call(`POST ${path}/unpin`, { reason: 'reviewed' })).status).toBe(201)
    expect(await active(path)).toMatchObject({ version: 2, via: 'shared' })
    const own = await g.newMatrix(buildPointsMatrix(await g.newList()))
    for (const [order, body] of [
      [`POST ${path}/pin`, { version: 9, reason: 'none' }],
      [`POST /risk-matrices/${own}/activations`, { version: 9, reason: 'none' }],
      [`POST /risk-matrices/${own}/rollback`, { to_version: 9, reason: 'none' }],
      [`POST /risk-matrices/${own}/versions`, { from_version: 9 }],
    ] as const) {
      const refused = await g.call(order, body)
      expect([order, refused.status, refused.json.detail]).toEqual([
        order,
        409,
        expect.stringContaining('There is no version 9'),
      ])
    }
    expect((await g.call(`POST /risk-matrices/${own}/pin`, { version: 1, reason: 'own' })).json.code).toBe(
      'transition_not_allowed',
    )
  })

  test('cannot be pinned to an invalid version, nor unpinned while the shared one is invalid', async () => {
    const list = await SharedList.create(g.w, 'free', shared.slice(0, 1))
    const [one, two] = [['DE'], ['DE', 'FR']].map((values) => buildPointsMatrix(list.list_key, 'score', values)) as [
      object,
      object,
    ]
    const falling = `/risk-matrices/${await sharedMatrix(one, two)}`
    const rising = `/risk-matrices/${await sharedMatrix(two, one)}`
    const refused = await g.call(`POST ${rising}/pin`, { version: 1, reason: 'old' })
    expect(refused.json.gates).toMatchObject([{ gate: 'proof', facts: { version: 1 } }])
    expect((await g.call(`POST ${falling}/pin`, { version: 1, reason: 'holds' })).status).toBe(201)
    expect((await g.call(`POST ${falling}/unpin`, { reason: 'follow' })).json.gates).toMatchObject([
      { gate: 'proof', facts: { version: 2 } },
    ])
  })
})
