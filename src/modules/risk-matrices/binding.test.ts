/**
 * Resolving, binding and deciding: one statement per resolution, consistent versions, replay from a receipt, large lists by
 * key.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import { resolver } from '#modules/definitions/index.ts'

import { createSimplePlugin } from '#test/support/example-plugin.ts'
import { pluginFactor } from '#test/support/plugin-matrix.ts'
import { smallMatrix, smallRule } from '#test/support/small-definitions.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { getResolution, getResolutionPins, restoreResolution, toPointers } from './binding/bind-definition.ts'
import { decideWith } from './binding/decide-with.ts'

let w: TestApp
let token: string
let tenant_id: string
beforeAll(async () => {
  w = await startTestApp()
  tenant_id = await w.tenant()
  token = await w.token()
  const schema = {
    type: 'object',
    properties: {
      code: { type: 'string', maxLength: 50 },
      points: { type: 'integer', minimum: 0, maximum: 10_000 },
      text: { type: 'string', maxLength: 500 },
    },
    required: ['code', 'points'],
    additionalProperties: false,
  }
  const type = { type_key: 'points', title: 'Points', description: 'Points.', schema, key_pointers: ['/code'] }
  await make('POST /reference-data/types', { ...type, examples: [{ code: 'a', points: 1 }] })
})
afterAll(() => w.close())

async function make(at: string, body: unknown) {
  const reply = await w.call(at, { token, body })
  if (reply.status >= 300) throw new Error(`${at}: ${reply.status} ${reply.text}`)
  return reply.json
}
const read = <T>(body: (tx: Tx) => Promise<T>): Promise<T> =>
  w.runtime.database.read(fullScope(tenant_id, 'operator:test'), body)
const write = <T>(body: (tx: Tx) => Promise<T>): Promise<T> =>
  w.runtime.database.write(fullScope(tenant_id, 'operator:test'), body)

let count = 0
const points = (a: number) => [
  { code: 'a', points: a },
  { code: 'b', points: 9000 },
]
async function newList(data: object[] = points(1000)): Promise<string> {
  const list_key = `points-${++count}`
  await make('POST /reference-data/datasets', { list_key, type_key: 'points', title: 'Points' })
  await putInForce(list_key, data)
  return list_key
}
async function putInForce(list_key: string, data: object[]): Promise<void> {
  const path = `/reference-data/datasets/${list_key}`
  const { version } = await make(`POST ${path}/versions`, { data })
  await make(`POST ${path}/activations`, { version, reason: 'test' })
}
const buildLookupMatrix = (list_key: string) => ({
  ...smallMatrix(),
  inputs: [{ name: 'code', title: 'Code', type: 'enum', values: ['a', 'b'] }],
  factors: [
    { key: 'code', title: 'Code', form: 'lookup', list_key, inputs: ['code'], field: 'points', on_missing: 'fail' },
  ],
  triggers: [],
})
async function newMatrix(definition: object): Promise<string> {
  const key = `bound-${++count}`
  await make('POST /risk-matrices', { matrix_key: key, title: 'Bound', definition })
  await publish(key)
  return key
}
async function publish(key: string): Promise<void> {
  const { version } = await make(`POST /risk-matrices/${key}/versions/draft/publish`, {})
  await make(`POST /risk-matrices/${key}/activations`, { version, reason: 'test' })
}
const computeScore = async (tx: Tx, key: string, code = 'a') => {
  const decision = await decideWith(w.kernel, tx, await getResolution(w.kernel, tx, { family: 'matrix', key }), {
    code,
  })
  return decision.ok && decision.outcome.family === 'matrix' ? decision.outcome.score_bps : decision
}

describe('resolving', () => {
  test('sends one statement once the definition is cached', async () => {
    const key = await newMatrix(buildLookupMatrix(await newList()))
    const sent: string[] = []
    const countStatements = (tx: Tx): Tx => ({
      ...tx,
      query: (text, values) => {
        sent.push(text)
        return tx.query(text, values)
      },
      find: (text, values) => {
        sent.push(text)
        return tx.find(text, values)
      },
    })
    await read(async (tx) => computeScore(tx, key))
    await read(async (tx) => computeScore(countStatements(tx), key))
    expect(sent).toHaveLength(1)
    expect(await read((tx) => computeScore(tx, key))).toBe(1000)
  })

  test('resolves all lists again when the version in force reads other lists', async () => {
    const [first, second] = [await newList(points(1000)), await newList(points(2000))]
    const key = await newMatrix(buildLookupMatrix(first))
    expect(await read((tx) => computeScore(tx, key))).toBe(1000)
    await make(`POST /risk-matrices/${key}/versions`, { definition: buildLookupMatrix(second) })
    await publish(key)
    const { lists, definition } = await read((tx) => getResolution(w.kernel, tx, { family: 'matrix', key }))
    expect([definition.version, [...lists.keys()]]).toEqual([2, [second, 'risk-bands']])
    expect(await read((tx) => computeScore(tx, key))).toBe(2000)
  })

  test('returns the same map of lists until one of them changes', async () => {
    const list_key = await newList(points(1000))
    const key = await newMatrix(buildLookupMatrix(list_key))
    const resolved = () => read((tx) => getResolution(w.kernel, tx, { family: 'matrix', key }))
    await resolved()
    const [first, second] = [await resolved(), await resolved()]
    expect(second.lists).toBe(first.lists)
    expect(getResolutionPins(second)).toBe(getResolutionPins(first))
    expect(second.definition.now).not.toBe(first.definition.now)
    expect([...second.lists.values()].filter((list) => 'now' in list)).toEqual([])
    expect(new Set(toPointers(second).map(({ now }) => now))).toEqual(new Set([second.definition.now]))
    await putInForce(list_key, points(2000))
    const third = await resolved()
    expect([first, third].map(({ lists }) => lists.get(list_key)?.version)).toEqual([1, 2])
    expect(getResolutionPins(third)).not.toEqual(getResolutionPins(first))
  })

  test('uses a scheduled list from its start, without any write', async () => {
    const list_key = await newList(points(1000))
    const key = await newMatrix(buildLookupMatrix(list_key))
    const path = `/reference-data/datasets/${list_key}`
    const { version } = await make(`POST ${path}/versions`, { data: points(3000) })
    const effective_from = new Date(Date.now() + 1500).toISOString()
    await make(`POST ${path}/activations`, { version, reason: 'test', effective_from })
    await expect.poll(() => read((tx) => computeScore(tx, key)), { timeout: 20_000, interval: 50 }).toBe(3000)
  })

  test('caches nothing from a rolled-back transaction', async () => {
    const list_key = await newList(points(1000))
    const key = await newMatrix(buildLookupMatrix(list_key))
    expect(await read((tx) => computeScore(tx, key))).toBe(1000)
    const data = [{ code: 'a', points: 2000 }]
    const { version } = await make(`POST /reference-data/datasets/${list_key}/versions`, { data })
    const request = { version, reason: 'breaks the matrix' }
    const refused = await w.call(`POST /reference-data/datasets/${list_key}/activations`, { token, body: request })
    expect(refused.json.code).toBe('gates_closed')
    // As many activations as were rolled back, of another list.
    await newList()
    expect(await read((tx) => computeScore(tx, key))).toBe(1000)
  })

  test('valid time and known time apply to the definition and its lists', async () => {
    const list_key = await newList(points(1000))
    const key = await newMatrix(buildLookupMatrix(list_key))
    const [{ now }] = (await read((tx) => tx.query<{ now: string }>('select clock_timestamp() as now'))) as [
      { now: string },
    ]
    await putInForce(list_key, points(3000))
    const at = (clocks: object) =>
      write((tx) => getResolution(w.kernel, tx, { family: 'matrix', key, ...clocks })).then(
        ({ lists }) => lists.get(list_key)?.version,
      )
    expect([await at({}), await at({ valid_at: now }), await at({ known_at: now })]).toEqual([2, 1, 1])
  })

  test('fails for a missing definition, one not in force, and one that reads a list not in force', async () => {
    const getProblemCode = async (key: string) =>
      read((tx) => getResolution(w.kernel, tx, { family: 'matrix', key })).then(
        () => 'resolved',
        (error) => (error instanceof Problem ? [error.code, error.extra.members] : error),
      )
    expect(await getProblemCode('never-heard-of')).toEqual(['not_found', undefined])
    await make('POST /risk-matrices', { matrix_key: 'only-drafted', title: 'Draft' })
    expect(await getProblemCode('only-drafted')).toEqual(['nothing_in_force', undefined])
    const list_key = await newList()
    const key = await newMatrix(buildLookupMatrix(list_key))
    await write((tx) =>
      tx.run('update app.activation set revoked_at = now(), revoked_by = $2 where tenant_id = $1 and list_key = $3', [
        tenant_id,
        'operator:test',
        list_key,
      ]),
    )
    expect(await getProblemCode(key)).toEqual(['nothing_in_force', { list_key }])
  })
})

describe('a receipt', () => {
  test('pins the definition with its family, and gives the same decision after everything has changed', async () => {
    const list_key = await newList(points(1000))
    const key = await newMatrix(buildLookupMatrix(list_key))
    const { receipt, before } = await write(async (tx) => {
      const resolution = await getResolution(w.kernel, tx, { family: 'matrix', key })
      return {
        receipt: await resolver.createReceipt(tx, 'test', toPointers(resolution), {}),
        before: await decideWith(w.kernel, tx, resolution, { code: 'a' }),
      }
    })
    await putInForce(list_key, points(7000))
    await make(`POST /risk-matrices/${key}/versions`, {
      definition: { ...buildLookupMatrix(list_key), aggregation: 'sum' },
    })
    await publish(key)
    const manifest = JSON.parse(receipt.manifest)
    expect(manifest).toContainEqual(expect.objectContaining({ family: 'matrix', list_key: key, version: 1 }))
    const [again, pinned] = await read(async (tx) => {
      const resolution = await restoreResolution(w.kernel, tx, manifest, { plugins: 'pinned' })
      return [await decideWith(w.kernel, tx, resolution, { code: 'a' }), getResolutionPins(resolution)]
    })
    expect(again).toEqual(before)
    expect(pinned).toEqual(manifest)
    const shown = await w.call(`GET /reference-data/receipts/${receipt.receipt_id}`, { token })
    expect(shown.json.lists).toContainEqual(expect.objectContaining({ family: 'matrix', list_key: key }))
  })

  test('fails when the stored content differs from what was pinned', async () => {
    const key = await newMatrix(buildLookupMatrix(await newList()))
    const manifest = await read(async (tx) =>
      getResolutionPins(await getResolution(w.kernel, tx, { family: 'matrix', key })),
    )
    for (const place of manifest.keys()) {
      const forged = manifest.map((pin, index) =>
        index === place
          ? { ...pin, content_hash: pin.content_hash.replace(/^./, (c) => (c === '0' ? '1' : '0')) }
          : pin,
      )
      await expect(read((tx) => restoreResolution(w.kernel, tx, forged, { plugins: 'pinned' }))).rejects.toMatchObject({
        code: 'content_corrupt',
      })
    }
    const foreign = manifest.map((pin) => ({ ...pin, dataset_tenant_id: '00000000-0000-7000-8000-000000000001' }))
    await expect(read((tx) => restoreResolution(w.kernel, tx, foreign, { plugins: 'pinned' }))).rejects.toMatchObject({
      code: 'content_corrupt',
    })
  })
})

describe('a list too large to cache', () => {
  test('is read by key', async () => {
    const text = 'x'.repeat(400)
    const data = Array.from({ length: 2000 }, (_, n) => ({ code: `c${n}`, points: n, text }))
    const list_key = await newList(data)
    const path = `/reference-data/datasets/${list_key}`
    for (const from of [2000, 4000]) {
      const more = Array.from({ length: 2000 }, (_, n) => ({ code: `c${from + n}`, points: 1, text }))
      data.push(...more)
    }
    // Inline versions are smaller than the limit, so an import extends the list.
    const headers = { 'content-type': 'application/octet-stream' }
    const payload = data.map((entry) => JSON.stringify(entry)).join('\n')
    const upload = await w.call('POST /uploads?file_name=large.ndjson', { token, payload, headers })
    const body = { list_key, upload_id: upload.json.upload_id, adapter_key: 'ndjson' }
    const job = await make('POST /reference-data/imports', body)
    const runner = w.runtime.createRunner(2)
    runner.start()
    let { state } = job
    while (state === 'queued' || state === 'running') {
      state = (await w.call(`GET /jobs/${job.job_id}?wait=8`, { token })).json.state
    }
    await runner.stop(5000)
    await make(`POST ${path}/activations`, { version: 2, reason: 'large' })
    const rule = smallRule()
    const definition = {
      ...rule,
      inputs: [{ name: 'code', title: 'Code', type: 'string' }],
      table: {
        ...rule.table,
        columns: ['code'],
        rows: [{ key: 'listed', when: [`in list(${list_key})`], then: ['high'] }],
      },
    }
    await make('POST /rules', { rule_key: 'large', title: 'Large', definition })
    const simulate = async (code: string) =>
      (await make('POST /rules/large/versions/draft/simulate', { inputs: { code } })).outcome?.hit
    expect([await simulate('c5999'), await simulate('c6000')]).toEqual([true, false])
    // A plugin that follows a chain of entries needs a round for each.
    const source = `export function factor({ code }, lists) {
      let [key, steps] = [code, 0]
      for (let entry; steps < 12 && (entry = lists.get('${list_key}', key)) !== null; steps++) key = 'c' + (entry.points + 1)
      return { score_bps: steps, reason_code: 'CHAIN' }
    }`
    const entries = { [list_key]: { c1: { points: 1 }, c2: null, c9: null } }
    const examples = [
      { name: 'one step', input: { code: 'c1' }, lists: entries, output: { score_bps: 1, reason_code: 'CHAIN' } },
      { name: 'none', input: { code: 'c2' }, lists: entries, output: { score_bps: 0, reason_code: 'CHAIN' } },
      { name: 'none either', input: { code: 'c9' }, lists: entries, output: { score_bps: 0, reason_code: 'CHAIN' } },
    ]
    const inputs = { type: 'object', properties: { code: { type: 'string' } } }
    const manifest = { inputs, examples, permissions: { lists: [list_key] } }
    const plugin = createSimplePlugin('chain', { source, manifest })
    await make('POST /plugins', { plugin_key: 'chain', package: plugin })
    await w.call('PUT /plugins/chain/grants', { token, body: { lists: [list_key], hosts: [], reason: 'Reviewed' } })
    await make('POST /plugins/chain/activations', { version: 1, reason: 'Reviewed' })
    const factor = { ...pluginFactor('chain'), inputs: ['code'] }
    const chained = { ...buildLookupMatrix(list_key), inputs: definition.inputs, factors: [factor] }
    await make('POST /risk-matrices', { matrix_key: 'chain', title: 'Chain', definition: chained })
    const follow = async (code: string) =>
      (await make('POST /risk-matrices/chain/versions/draft/simulate', { inputs: { code } })).outcome?.score_bps
    expect([await follow('c10'), await follow('c5998'), await follow('none')]).toEqual([12, 12, 0])
  })
})
