/** Decisions of matrices with a factor that a plugin scores: pinned, replayed exactly, and refused while the plugin cannot run. */
import fs from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashBuild, SANDBOX_HASH, sandboxBuilds } from '#sandbox/builds.ts'
import { projectRoot } from '#test/support/database.ts'
import { readDecision } from '#test/support/decision-documents.ts'
import { createSimplePlugin } from '#test/support/example-plugin.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import {
  buildPluginMatrix,
  createActiveMatrix,
  createActivePlugin,
  createPluginMatrix,
  type PluginMatrix,
} from '#test/support/plugin-matrix.ts'
import { type Reply, startTestApp, type TestApp } from '#test/support/test-app.ts'
import { threadsDir } from '#test/support/threads.ts'

let w: TestApp
let t: ExampleTenant
let owner: pg.Client
let known: PluginMatrix
const scripts_dir = fs.mkdtempSync(path.join(threadsDir, 'two-builds-'))

beforeAll(async () => {
  for (const file of fs.readdirSync(threadsDir).filter((name) => name.endsWith('.mjs') && name !== 'sandbox.mjs'))
    fs.symlinkSync(path.join(threadsDir, file), path.join(scripts_dir, file))
  await build({
    entryPoints: [path.join(projectRoot, 'test/support/sandbox-with-two-builds.ts')],
    outfile: path.join(scripts_dir, 'sandbox.mjs'),
    ...{ bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'warning' },
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  })
  w = await startTestApp({ scripts_dir })
  t = await ExampleTenant.create(w)
  owner = new pg.Client(w.clone.postgres)
  await owner.connect()
  known = await createPluginMatrix(t)
})
afterAll(async () => {
  await owner?.end()
  await w?.close()
  fs.rmSync(scripts_dir, { recursive: true })
})

const call = async (at: string, body?: unknown): Promise<Reply> =>
  w.call(at, { token: await t.token(), ...(body !== undefined && { body }) })
const evaluate = (inputs: object, matrix_key = known.matrix_key) => call('POST /evaluations', { matrix_key, inputs })
const replay = async (evaluation_id: string) => (await call(`POST /evaluations/${evaluation_id}/replay`)).json
const readDocument = (evaluation_id: string) => readDecision(w, { tenant_id: t.tenant_id, evaluation_id })
const countRows = async (table: string): Promise<number> =>
  Number((await owner.query(`select count(*) from ${table} where tenant_id = $1`, [t.tenant_id])).rows[0].count)
const disable = (plugin_key: string) => call(`POST /plugins/${plugin_key}/disable`, { reason: 'Wrong scores' })
const enable = (plugin_key: string) => call(`POST /plugins/${plugin_key}/enable`, { reason: 'Repaired' })

describe('an evaluation', () => {
  test('runs the plugin and pins it with the lists it read in document and receipt', async () => {
    const { status, json } = await evaluate({ country: 'AE', directors: 1 })
    expect([status, json.detail]).toEqual([201, undefined])
    expect(json).toMatchObject({ engine: 2, score_bps: 2500, reason_codes: ['FEW_DIRECTORS'] })
    const document = await readDocument(json.evaluation_id)
    expect(document).toMatchObject({ format: 'probity-decision/2', engine: 2 })
    const { rows } = await owner.query('select manifest from app.resolution_receipt where receipt_id = $1', [
      json.receipt.receipt_id,
    ])
    const pins = JSON.parse(rows[0].manifest) as { family?: string; list_key: string }[]
    const pin = pins.find(({ family }) => family === 'plugin')
    expect(document['plugins']).toEqual([
      {
        plugin_key: known.plugin_key,
        via: 'tenant-own',
        version: 1,
        content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        configuration_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        sandbox_hash: SANDBOX_HASH,
        factor: 'shell',
        result: { score_bps: 2500, reason_code: 'FEW_DIRECTORS', values: {} },
        fuel: expect.any(Number),
      },
    ])
    expect(pin).toMatchObject({ list_key: known.plugin_key, version: 1, sandbox_hash: SANDBOX_HASH })
    expect(json.plugins).toEqual(document['plugins'])
    expect(json.lists.map(({ list_key }: { list_key: string }) => list_key)).toEqual([
      'jurisdiction-risk',
      'risk-bands',
    ])
    expect(document.used).toContainEqual({
      list_key: 'jurisdiction-risk',
      key: 'AE',
      field: null,
      value: true,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(await replay(json.evaluation_id)).toMatchObject({ verdict: 'identical', engine: 2, faults: [] })
  })

  test('runs the plugin in the job of an evaluation that asks providers', async () => {
    const job = await t.make('POST /evaluations/async', {
      body: { matrix_key: known.matrix_key, inputs: { country: 'AE', directors: 0 } },
    })
    await t.runToEnd(job)
    const { result } = (await call(`GET /jobs/${job.job_id}`)).json
    const { json } = await call(`GET /evaluations/${result.evaluation_id}`)
    expect([json.score_bps, json.plugins[0].factor]).toEqual([2500, 'shell'])
  })

  test('keeps engine 1 for a matrix without a plugin factor', async () => {
    const { json } = await call('POST /evaluations/preview', {
      matrix_key: await createActiveMatrix(t, { ...buildPluginMatrix('none'), factors: [pepFactor] }),
      inputs: { country: 'AE' },
    })
    expect([json.engine, json.plugins]).toEqual([1, []])
  })

  test('decides with the version in force, and replays earlier decisions with theirs', async () => {
    const { plugin_key, matrix_key } = await createPluginMatrix(t)
    const before = (await evaluate({ country: 'AE' }, matrix_key)).json
    const source = 'export function factor() { return { score_bps: 7000, reason_code: "FIXED", values: { rule: 3 } } }'
    const examples = [1, 2, 3].map((n) => ({
      ...{ name: `example ${n}`, input: { country: 'AE', directors: n } },
      output: { score_bps: 7000, reason_code: 'FIXED', values: { rule: 3 } },
    }))
    const manifest = { examples, permissions: {} }
    const body = { package: createSimplePlugin(plugin_key, { version: '2.0.0', source, manifest }) }
    expect((await call(`POST /plugins/${plugin_key}/versions`, body)).status).toBe(201)
    await call(`POST /plugins/${plugin_key}/activations`, { version: 2, reason: 'Reviewed' })
    const after = (await evaluate({ country: 'AE' }, matrix_key)).json
    expect([before.score_bps, after.score_bps, after.plugins[0].version]).toEqual([1500, 7000, 2])
    expect(after.explanation.factors[0].reason).toBe(
      `The plugin ${plugin_key} gives 7000 basis points. Values: rule 3.`,
    )
    for (const { evaluation_id } of [before, after]) expect((await replay(evaluation_id)).verdict).toBe('identical')
    const again = await call(`POST /evaluations/${before.evaluation_id}/reevaluate`)
    expect(again.json.switches).toMatchObject([
      // Version 2 looks up no list.
      { family: 'list', key: 'jurisdiction-risk', to_version: null, effect: 'none' },
      { family: 'plugin', key: plugin_key, from_version: 1, to_version: 2, effect: 'whole' },
    ])
  })

  test('decides with the configuration in force, and replays with the pinned one', async () => {
    const { plugin_key, matrix_key } = await createPluginMatrix(t)
    const before = (await evaluate({ country: 'AE', directors: 0 }, matrix_key)).json
    const configuration = { surcharge_bps: 300 }
    expect((await call(`PUT /plugins/${plugin_key}/configuration`, { configuration, reason: 'Lower' })).status).toBe(
      200,
    )
    const after = (await evaluate({ country: 'AE', directors: 0 }, matrix_key)).json
    expect([before.score_bps, after.score_bps]).toEqual([2500, 1800])
    expect((await replay(before.evaluation_id)).verdict).toBe('identical')
  })

  test('refuses with 503 and stores nothing while the plugin is disabled; other matrices decide', async () => {
    const { plugin_key, matrix_key } = await createPluginMatrix(t)
    const made = (await evaluate({ country: 'AE' }, matrix_key)).json
    await disable(plugin_key)
    const before = await countRows('app.evaluation')
    const refused = await evaluate({ country: 'AE' }, matrix_key)
    expect(refused.json).toMatchObject({
      status: 503,
      code: 'plugin_invalid',
      plugin_key,
      version: 1,
      retryable: false,
    })
    expect(refused.json.reasons).toMatchObject([{ code: 'disabled' }])
    expect(refused.headers['retry-after']).toBeUndefined()
    for (const at of ['POST /evaluations/preview', 'POST /evaluations/async', 'POST /batch-evaluations/estimate']) {
      const items = at.includes('batch') ? { items: [{ inputs: { country: 'AE' } }] } : { inputs: { country: 'AE' } }
      expect((await call(at, { matrix_key, ...items })).json.code, at).toBe('plugin_invalid')
    }
    expect((await call(`POST /evaluations/${made.evaluation_id}/what-if`, {})).json.code).toBe('plugin_invalid')
    expect(await countRows('app.evaluation')).toBe(before)
    // A replay uses what was pinned, whether or not it may still run.
    expect((await replay(made.evaluation_id)).verdict).toBe('identical')
    expect((await evaluate({ country: 'AE' })).status).toBe(201)
    await enable(plugin_key)
    expect((await evaluate({ country: 'AE' }, matrix_key)).status).toBe(201)
  })

  test('reports faults of the request before a plugin that cannot run', async () => {
    const { plugin_key, matrix_key } = await createPluginMatrix(t)
    await disable(plugin_key)
    const faulty = await evaluate({ country: 'AE', directors: -1 }, matrix_key)
    expect([faulty.status, faulty.json.code]).toEqual([409, 'inputs_refused'])
    const subject_id = '0190d7a0-5b1c-7000-8000-000000000000'
    const unknown = await call('POST /evaluations', { matrix_key, subject_id, inputs: { country: 'AE' } })
    expect(unknown.status).toBe(404)
  })

  test('answers 503 when the plugin fails, and records why', async () => {
    const plugin_key = await createActivePlugin(t, {}, createSimplePlugin)
    const matrix_key = await createActiveMatrix(t, buildPluginMatrix(plugin_key))
    const failed = await evaluate({ country: 'AE', directors: 666 }, matrix_key)
    expect(failed.json).toMatchObject({ status: 503, code: 'plugin_failed', plugin_key, version: 1, reason: 'threw' })
    const decided = await evaluate({ country: 'AE', directors: 2 }, matrix_key)
    expect(decided.status).toBe(201)
    const { items } = (await call(`GET /plugins/${plugin_key}/invocations`)).json
    expect(items.filter(({ failed: count }: { failed: number }) => count > 0)).toMatchObject([
      { cause: { kind: 'evaluation', id: null }, failures: [{ reason: 'threw' }] },
    ])
    expect(items[0]).toMatchObject({ cause: { kind: 'evaluation', id: decided.json.evaluation_id }, failed: 0 })
  })
})

describe('examination', () => {
  test('what-if searches no input of the plugin and says so', async () => {
    const { evaluation_id } = (await evaluate({ country: 'AE', directors: 3 })).json
    const { json } = await call(`POST /evaluations/${evaluation_id}/what-if`, { search: true })
    expect(json.search.searched).toMatchObject({
      inputs: ['pep'],
      not_searched: ['country', 'directors'],
      plugin_factors: ['shell'],
    })
    expect(json.search.changes).toMatchObject([{ changed: [{ name: 'pep', to: true }], result: 'medium' }])
    const other = await call(`POST /evaluations/${evaluation_id}/what-if`, { inputs: { directors: 0 } })
    expect(other.json.after.outcome.score_bps).toBe(2500)
  })

  test('a certificate and a pack hold the plugin, and verify', async () => {
    const { evaluation_id } = (await evaluate({ country: 'AE', directors: 4 })).json
    const { json } = await call(`GET /evaluations/${evaluation_id}/certificate`)
    expect(json.document.plugins).toMatchObject([{ plugin_key: known.plugin_key, factor: 'shell' }])
    expect((await call(`GET /evaluations/${evaluation_id}/pack`)).status).toBe(200)
  })

  test('notices an altered plugin version', async () => {
    const { plugin_key, matrix_key } = await createPluginMatrix(t)
    const { evaluation_id } = (await evaluate({ country: 'AE' }, matrix_key)).json
    await owner.query(`set session_replication_role = replica`)
    await owner.query(
      `update app.dataset_entry e set data = replace(data, '5000', '6000') from app.dataset d
        where d.tenant_id = e.tenant_id and d.dataset_id = e.dataset_id and d.family = 'plugin' and d.list_key = $1`,
      [plugin_key],
    )
    await owner.query(`set session_replication_role = origin`)
    const { verdict, faults } = await replay(evaluation_id)
    expect([verdict, faults]).toEqual(['tampered', [`Version 1 of plugin ${plugin_key} is no longer what was pinned.`]])
  })
})

test('replays with the build of the sandbox that decided, also after an upgrade', async () => {
  const { upgradedBuild } = await import('#test/support/sandbox-with-two-builds.ts')
  const former = hashBuild(upgradedBuild)
  const builds = sandboxBuilds as Map<string, unknown>
  builds.set(former, upgradedBuild)
  try {
    const source = `export function factor() {
      return { score_bps: typeof UPGRADED === 'undefined' ? 4000 : 500, reason_code: 'BUILD' }
    }`
    const examples = [1, 2, 3].map((n) => ({
      ...{ name: `example ${n}`, input: { country: 'AE', directors: n } },
      output: { score_bps: 4000, reason_code: 'BUILD' },
    }))
    const options = { source, manifest: { examples, permissions: {} } }
    const plugin_key = await createActivePlugin(t, options, createSimplePlugin)
    const matrix_key = await createActiveMatrix(t, buildPluginMatrix(plugin_key))
    // As an earlier release leaves it: validated under the former build only.
    const moveValidation = async (from: string, to: string) => {
      await owner.query(`set session_replication_role = replica`)
      await owner.query(
        `update app.plugin_validation v set sandbox_hash = $3 from app.dataset d where d.tenant_id = v.tenant_id
            and d.dataset_id = v.dataset_id and d.list_key = $1 and v.sandbox_hash = $2`,
        [plugin_key, from, to],
      )
      await owner.query(`update app.activation_epoch set epoch = epoch + 1 where tenant_id = $1`, [t.tenant_id])
      await owner.query(`set session_replication_role = origin`)
    }
    await moveValidation(SANDBOX_HASH, former)
    const before = (await evaluate({ country: 'AE' }, matrix_key)).json
    await moveValidation(former, SANDBOX_HASH)
    const after = (await evaluate({ country: 'AE' }, matrix_key)).json
    expect([before, after].map(({ plugins }) => plugins[0].sandbox_hash)).toEqual([former, SANDBOX_HASH])
    expect([before.score_bps, after.score_bps]).toEqual([500, 4000])
    for (const { evaluation_id } of [before, after]) expect((await replay(evaluation_id)).verdict).toBe('identical')
  } finally {
    builds.delete(former)
  }
})

const pepFactor = {
  ...{
    key: 'pep',
    title: 'PEP',
    form: 'score_map',
    input: 'pep',
    scores: { true: 4000, false: 0 },
    on_missing: 'fail',
  },
}
