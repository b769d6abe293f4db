/** Long analyses of a decision run in a thread: other requests do not wait, and no connection is held. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import esbuild from 'esbuild'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { engines } from '#decision/engines.ts'
import type { Engine } from '#decision/model.ts'
import { createControlledAnalysis } from '#test/support/controlled-analysis.ts'
import { projectRoot } from '#test/support/database.ts'
import { countries, newPolicy, type Policy, publishList } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { engineWithExtraReason } from '#test/support/extra-reason-engine.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { decide, storeDecision } from './decide/decide.ts'

let w: TestApp
let t: ExampleTenant
let analysis: ReturnType<typeof createControlledAnalysis>
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'analysis-'))

beforeAll(async () => {
  const worker = path.join(folder, 'worker.mjs')
  await esbuild.build({
    stdin: { contents: workerWithTwoEngines, resolveDir: projectRoot, loader: 'ts' },
    outfile: worker,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  })
  analysis = createControlledAnalysis(worker)
  w = await startTestApp({ scripts_dir: analysis.scripts_dir })
  t = await ExampleTenant.create(w)
})
afterAll(async () => {
  await w.close()
  analysis.remove()
  fs.rmSync(folder, { recursive: true })
})

const workerWithTwoEngines = `
  import './src/decision/analysis/analysis-worker.ts'
  import { engines } from './src/decision/engines.ts'
  import { engineWithExtraReason } from './test/support/extra-reason-engine.ts'
  engines.set(3, engineWithExtraReason)`

const evaluate = (policy: Policy) =>
  t.make('POST /evaluations', { body: { matrix_key: policy.matrix_key, inputs: { country: 'CH' } } })
/** A decision of which one list has a newer version. */
const createOutdatedDecision = async () => {
  const policy = await newPolicy(t)
  const { evaluation_id } = await evaluate(policy)
  await publishList(t, policy.country_list, countries.with(0, { code: 'CH', score_bps: 9000 }))
  return { evaluation_id, policy }
}
const questions: [string, (evaluation_id: string) => Promise<{ status: number; json: Record<string, unknown> }>][] = [
  ['what-if', async (id) => t.w.call(`POST /evaluations/${id}/what-if`, { ...(await who()), body: { search: true } })],
  ['reevaluate', async (id) => t.w.call(`POST /evaluations/${id}/reevaluate`, await who())],
]
const who = async () => ({ token: await t.token() })

describe.each(questions)('%s', (name, ask) => {
  test('holds no connection while the thread computes', async () => {
    const { evaluation_id, policy } = await createOutdatedDecision()
    const begun = analysis.begun()
    analysis.order('wait')
    const reply = ask(evaluation_id)
    await vi.waitUntil(() => analysis.begun() > begun, { timeout: 60_000 })
    // Background queries end soon; a connection held by the request would stay in use until the thread continues.
    await vi.waitUntil(() => w.runtime.database.semaphore.inUse === 0, { timeout: 30_000 })
    expect((await evaluate(policy)).outcome).toMatchObject({ band: 'high' })
    analysis.order('go')
    expect((await reply).status).toBe(200)
  })

  test('returns the problem when no thread is available', async () => {
    const { evaluation_id } = await createOutdatedDecision()
    analysis.order('die')
    const { status, json } = await ask(evaluation_id)
    analysis.order('go')
    expect([status, json['code']]).toEqual([503, 'dependency_unavailable'])
    expect((await ask(evaluation_id)).status).toBe(200)
  })

  test('reports when a limit was reached', async () => {
    const { evaluation_id, policy } = await createOutdatedDecision()
    analysis.order('full')
    const { status, json } = await ask(evaluation_id)
    analysis.order('go')
    expect(status).toBe(200)
    if (name === 'what-if') expect(json['search']).toMatchObject({ changes: [], searched: { truncated: true } })
    else expect(json['switches']).toMatchObject([{ key: policy.country_list, effect: 'unknown', alone: null }])
  })
})

test('attributes a difference to another engine version', async () => {
  const policy = await newPolicy(t)
  const all = engines as Map<number, Engine>
  all.set(3, engineWithExtraReason)
  try {
    const order = { matrix_key: policy.matrix_key, inputs: { country: 'CH' } }
    const made = await t.write(async (tx) =>
      storeDecision(w.kernel, tx, order, await decide(w.kernel, tx, order, { engine: 3 })),
    )
    const { switches } = await t.make(`POST /evaluations/${made.evaluation_id}/reevaluate`)
    expect(switches).toMatchObject([{ family: 'engine', from_version: 3, to_version: 1, effect: 'whole' }])
  } finally {
    all.delete(3)
  }
})
