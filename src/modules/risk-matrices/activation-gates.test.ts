/** Gates refuse a change that would leave an invalid definition in force. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { activationStore } from '#modules/definitions/index.ts'

import { buildPointsMatrix, PolicyFixture, pointsEntries } from '#test/support/policy-fixture.ts'

let g: PolicyFixture
beforeAll(async () => {
  g = await PolicyFixture.create()
})
afterAll(() => g.w.close())

function createDeferred() {
  let complete = () => {}
  const promise = new Promise<void>((resolve) => {
    complete = resolve
  })
  return { complete, promise }
}

describe('a list that a definition in force reads', () => {
  test('cannot be replaced by one that lacks an entry it reads', async () => {
    const list_key = await g.newList()
    const matrix_key = await g.newMatrix(buildPointsMatrix(list_key))
    await g.addVersion(list_key, [{ code: 'a', points: 1000 }])
    const { status, json } = await g.activateList(list_key, 2)
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
    const resolved = await g.call(`GET /reference-data/resolve/${list_key}`)
    expect(resolved.json.version).toBe(1)
  })

  test('can be replaced by one with other scores, but not by one without a score', async () => {
    const list_key = await g.newList()
    await g.newMatrix(buildPointsMatrix(list_key))
    await g.addVersion(
      list_key,
      pointsEntries.map((entry) => ({ ...entry, points: 5000 })),
    )
    expect((await g.activateList(list_key, 2)).status).toBe(201)
    await g.addVersion(
      list_key,
      pointsEntries.map((entry) => ({ ...entry, points: 20_000 })),
    )
    expect((await g.activateList(list_key, 3)).json.gates).toMatchObject([{ gate: 'referenced-by' }])
  })

  test('is checked as of the instant at which the change takes effect', async () => {
    const list_key = await g.newList()
    await g.newMatrix(buildPointsMatrix(list_key))
    await g.addVersion(list_key, [{ code: 'a', points: 1 }])
    const later = { effective_from: '2090-01-01T00:00:00Z' }
    expect((await g.activateList(list_key, 2, later)).json.code).toBe('gates_closed')
  })

  test('returns all gates together', async () => {
    const list_key = await g.newList()
    await g.newMatrix(buildPointsMatrix(list_key))
    await g.addVersion(list_key, [{ code: 'a', points: 1 }])
    const { json } = await g.activateList(list_key, 2, { expected_active: 7 })
    expect(json.gates.map(({ gate }: { gate: string }) => gate)).toEqual(['stale-base', 'referenced-by'])
  })

  test('changes freely while only drafts or versions not in force read it', async () => {
    const list_key = await g.newList()
    await g.newMatrix(buildPointsMatrix(list_key), false)
    await g.addVersion(list_key, [{ code: 'a', points: 1 }])
    expect((await g.activateList(list_key, 2)).status).toBe(201)
  })

  test('can only be rolled back to a version with which the definition is valid', async () => {
    const list_key = await g.newList([{ code: 'a', points: 1 }])
    await g.addVersion(list_key, pointsEntries)
    await g.activateList(list_key, 2)
    await g.newMatrix(buildPointsMatrix(list_key))
    const { status, json } = await g.call(`POST /reference-data/datasets/${list_key}/rollback`, { reason: 'back' })
    expect([status, json.gates[0].gate]).toEqual([409, 'referenced-by'])
  })
})

describe('a version of a definition', () => {
  test('is proved again with the lists in force at its start', async () => {
    const list_key = await g.newList()
    const matrix_key = await g.newMatrix(buildPointsMatrix(list_key), false)
    await g.addVersion(list_key, [{ code: 'a', points: 1 }])
    await g.activateList(list_key, 2)
    const { status, json } = await g.call(`POST /risk-matrices/${matrix_key}/activations`, { version: 1, reason: 'go' })
    expect([status, json.code]).toEqual([409, 'gates_closed'])
    expect(json.gates).toMatchObject([
      { gate: 'proof', facts: { version: 1, findings: [{ code: 'list_key_missing' }] } },
    ])
  })

  test('is proved with the scheduled versions of its lists', async () => {
    const list_key = await g.newList([...pointsEntries, { code: 'c', points: 1 }])
    const matrix_key = await g.newMatrix(buildPointsMatrix(list_key))
    await g.addVersion(list_key, pointsEntries)
    const later = { effective_from: '2090-01-01T00:00:00Z' }
    expect((await g.activateList(list_key, 2, later)).status).toBe(201)
    await g.make(`POST /risk-matrices/${matrix_key}/versions`, {
      definition: buildPointsMatrix(list_key, 'points', ['a', 'c']),
    })
    await g.make(`POST /risk-matrices/${matrix_key}/versions/draft/publish`, {})
    const { json } = await g.call(`POST /risk-matrices/${matrix_key}/activations`, { version: 2, reason: 'go' })
    expect(json.gates).toMatchObject([{ gate: 'proof', facts: { version: 2, from: '2090-01-01T00:00:00.000000Z' } }])
  })

  test('is refused when its golden cases fail', async () => {
    const list_key = await g.newList()
    const matrix_key = await g.newMatrix(buildPointsMatrix(list_key), false)
    const golden = { name: 'a is low', inputs: { code: 'a' }, expected: { band: 'low' } }
    await g.make(`POST /risk-matrices/${matrix_key}/test-cases`, golden)
    await g.addVersion(
      list_key,
      pointsEntries.map((entry) => ({ ...entry, points: 9500 })),
    )
    await g.activateList(list_key, 2)
    const { json } = await g.call(`POST /risk-matrices/${matrix_key}/activations`, { version: 1, reason: 'go' })
    expect(json.gates).toMatchObject([{ gate: 'proof', facts: { findings: [{ code: 'golden_case_failed' }] } }])
  })

  test('and a list that change concurrently: the later change sees the earlier one, so no unproved pair comes into force', async () => {
    const list_key = await g.newList([...pointsEntries, { code: 'c', points: 1 }])
    const matrix_key = await g.newMatrix(buildPointsMatrix(list_key))
    await g.addVersion(list_key, pointsEntries)
    await g.make(`POST /risk-matrices/${matrix_key}/versions`, {
      definition: buildPointsMatrix(list_key, 'points', ['a', 'c']),
    })
    await g.make(`POST /risk-matrices/${matrix_key}/versions/draft/publish`, {})
    // Each change is valid alone, but not both together. The list has changed and is not committed yet.
    const scope = fullScope(await g.w.tenant(), 'operator:test')
    const [changed, committing] = [createDeferred(), createDeferred()]
    const list = g.w.runtime.database.write(scope, async (tx) => {
      await activationStore.activateVersion(tx, { list_key, version: 2, reason: 'next' }, g.w.kernel)
      changed.complete()
      await committing.promise
    })
    await changed.promise
    const matrix = g.call(`POST /risk-matrices/${matrix_key}/activations`, { version: 2, reason: 'next' })
    const waits = () =>
      g.w.runtime.database.one(scope, (tx) =>
        tx.find(`select 1 from pg_locks where locktype = 'advisory' and not granted and database =
                   (select oid from pg_database where datname = current_database())`),
      )
    let answered = false
    await Promise.race([matrix.then(() => (answered = true)), vi.waitUntil(waits, { timeout: 30_000 })])
    expect(answered).toBe(false)
    committing.complete()
    await list
    expect((await matrix).json.gates).toMatchObject([{ gate: 'proof' }])
    expect((await g.call(`GET /risk-matrices/${matrix_key}`)).json.attention).toEqual([])
  })
})

describe('cancelling a scheduled activation', () => {
  const scheduled = (month: number) => ({ effective_from: `2090-0${month}-01T00:00:00Z` })
  const cancel = (path: string, activation_id: string) => g.call(`DELETE ${path}/activations/${activation_id}`)
  const nextVersion = async (matrix_key: string, definition: object) => {
    await g.make(`POST /risk-matrices/${matrix_key}/versions`, { definition })
    await g.make(`POST /risk-matrices/${matrix_key}/versions/draft/publish`, {})
  }

  test('is refused for a version while its lists are scheduled to change to values only it reads', async () => {
    const list_key = await g.newList([...pointsEntries, { code: 'c', points: 1 }])
    const matrix_key = await g.newMatrix(buildPointsMatrix(list_key, 'points', ['a', 'c']))
    const [matrix, list] = [`/risk-matrices/${matrix_key}`, `/reference-data/datasets/${list_key}`]
    await nextVersion(matrix_key, buildPointsMatrix(list_key))
    const next = await g.make(`POST ${matrix}/activations`, { version: 2, reason: 'next', ...scheduled(1) })
    await g.addVersion(list_key, pointsEntries)
    const shorter = await g.activateList(list_key, 2, scheduled(2))
    expect(shorter.status).toBe(201)
    const refused = await cancel(matrix, next.activation_id)
    expect([refused.status, refused.json.code]).toEqual([409, 'gates_closed'])
    expect(refused.json.gates).toMatchObject([
      { gate: 'proof', facts: { version: 1, from: '2090-02-01T00:00:00.000000Z' } },
    ])
    expect((await g.call(`GET ${matrix}`)).json.pending).toHaveLength(1)
    expect((await cancel(list, shorter.json.activation_id)).status).toBe(200)
    expect((await cancel(matrix, next.activation_id)).status).toBe(200)
  })

  test('is refused for a list while a version that needs it is scheduled', async () => {
    const list_key = await g.newList()
    const matrix_key = await g.newMatrix(buildPointsMatrix(list_key))
    const [matrix, list] = [`/risk-matrices/${matrix_key}`, `/reference-data/datasets/${list_key}`]
    await g.addVersion(list_key, [...pointsEntries, { code: 'c', points: 1 }])
    const longer = await g.activateList(list_key, 2, scheduled(1))
    // Published while the longer list is briefly in force; afterwards that list is only scheduled.
    await g.activateList(list_key, 2)
    await nextVersion(matrix_key, buildPointsMatrix(list_key, 'points', ['a', 'c']))
    await g.call(`POST ${list}/rollback`, { reason: 'back', to_version: 1, keep_scheduled: true })
    const next = await g.make(`POST ${matrix}/activations`, { version: 2, reason: 'next', ...scheduled(2) })
    const refused = await cancel(list, longer.json.activation_id)
    expect(refused.json.gates).toMatchObject([
      { gate: 'referenced-by', facts: { definitions: [{ key: matrix_key, version: 2 }] } },
    ])
    expect((await cancel(matrix, next.activation_id)).status).toBe(200)
    expect((await cancel(list, longer.json.activation_id)).status).toBe(200)
  })
})
