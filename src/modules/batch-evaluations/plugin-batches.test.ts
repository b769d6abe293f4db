/** Batches and impact runs of a matrix with a plugin factor. */
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { roles } from '#kernel/auth/roles.ts'
import type { JobRunner } from '#kernel/job/runner.ts'
import { runImpact } from '#modules/impact/fixtures.ts'
import { SandboxRunner } from '#sandbox/sandbox-runner.ts'
import { createSimplePlugin } from '#test/support/example-plugin.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { waitUntil } from '#test/support/job-test-app.ts'
import { buildPluginMatrix, createActiveMatrix, createActivePlugin } from '#test/support/plugin-matrix.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { runBatch, startBatch, uploadText } from './fixtures.ts'

let w: TestApp
let t: ExampleTenant
let superuser: pg.Client
const runners: JobRunner[] = []
const GATE = 4719
const ROWS = 5000

beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  // The second step of a large batch waits here while the test holds the lock.
  await superuser.query(`create function public.wait_at_gate() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(${GATE}); return new; end $$;
    create trigger zz_gate before insert on app.batch_item for each row when (new.seq = 3900) execute function public.wait_at_gate()`)
})
afterEach(async () => {
  await superuser.query('select pg_advisory_unlock_all()')
  await Promise.all(runners.splice(0).map((runner) => runner.stop(0)))
})
afterAll(async () => {
  await superuser?.end()
  await w?.close()
})

const call = async (at: string, body?: unknown) =>
  w.call(at, { token: await t.token(), ...(body !== undefined && { body }) })
const get = async (path: string) => (await call(`GET ${path}`)).json

/** A plugin that scores by the number of directors, and fails for 666. */
async function createSimpleMatrix() {
  const plugin_key = await createActivePlugin(t, {}, createSimplePlugin)
  return { plugin_key, matrix_key: await createActiveMatrix(t, buildPluginMatrix(plugin_key)) }
}

describe('a batch', () => {
  test('runs the plugin for all items in few tasks, and fails only the items whose plugin fails', async () => {
    const { plugin_key, matrix_key } = await createSimpleMatrix()
    const tasks = vi.spyOn(SandboxRunner.prototype, 'run')
    const directors = [...Array.from({ length: 20 }, (_, n) => n), 666, 7]
    const items = directors.map((count, n) => ({
      external_id: `company-${n}`,
      inputs: { country: 'AE', directors: count },
    }))
    const batch_id = await runBatch(t, { matrix_key, items })
    expect(tasks.mock.calls.map(([task]) => task.items.length)).toEqual([21])
    const batch = await get(`/batch-evaluations/${batch_id}`)
    expect(batch).toMatchObject({ state: 'succeeded', counts: { total: 22, done: 21, failed: 1 } })
    const failed = await get(`/batch-evaluations/${batch_id}/items?state=failed`)
    expect(failed.items).toMatchObject([
      { external_id: 'company-20', findings: [{ code: 'plugin_failed', pointer: '/factors/0' }] },
    ])
    const { items: invocations } = await get(`/plugins/${plugin_key}/invocations`)
    expect(invocations).toMatchObject([{ items: 22, failed: 1, cause: { kind: 'batch', id: batch_id } }])
    const explained = await get(`/batch-evaluations/${batch_id}/items/1/explanation`)
    expect(explained.explanation.factors[0]).toMatchObject({ score_bps: 1000, plugin: { plugin_key } })
    await call(`POST /plugins/${plugin_key}/disable`, { reason: 'Wrong scores' })
    const retried = await call(`POST /batch-evaluations/${batch_id}/retry-failed`)
    expect([retried.status, retried.json.code]).toEqual([503, 'plugin_invalid'])
  })

  test('ends as failed when the plugin turns invalid midway, keeps its items, and resumes', async () => {
    const { plugin_key, matrix_key } = await createSimpleMatrix()
    const lines = Array.from({ length: ROWS }, (_, n) => `row-${n},AE,${n % 3}`)
    const upload_id = await uploadText(t, `external_id,country,directors\n${lines.join('\n')}\n`)
    await superuser.query(`select pg_advisory_lock(${GATE})`)
    const { batch_id, job } = await startBatch(t, { matrix_key, upload_id })
    const runner = w.runtime.createRunner(1)
    runners.push(runner)
    runner.start()
    await waitUntil('the second step waits for the lock', async () => {
      const { rows } = await superuser.query(`select 1 from pg_locks where locktype = 'advisory' and objid = ${GATE}
        and not granted and database = (select oid from pg_database where datname = current_database())`)
      return rows.length > 0
    })
    await call(`POST /plugins/${plugin_key}/disable`, { reason: 'Wrong scores' })
    await superuser.query(`select pg_advisory_unlock(${GATE})`)
    const ended = (job_id: string) =>
      waitUntil('the job has ended', async () => {
        const { state } = await get(`/jobs/${job_id}`)
        return state !== 'queued' && state !== 'running' && state
      })
    expect(await ended(job.job_id)).toBe('failed')
    const stopped = await get(`/batch-evaluations/${batch_id}`)
    expect(stopped.problem).toMatchObject({ code: 'plugin_invalid', plugin_key, reasons: [{ code: 'disabled' }] })
    // The step that was being stored is undone: nothing is decided after the plugin was stopped.
    expect(stopped.counts.done).toBe(2000)
    const { rows } = await superuser.query('select count(*) from app.batch_item where batch_id = $1', [batch_id])
    expect(Number(rows[0].count)).toBe(2000)
    const refused = await call(`POST /batch-evaluations/${batch_id}/resume`)
    expect([refused.status, refused.json.code, refused.json.plugin_key]).toEqual([503, 'plugin_invalid', plugin_key])

    await call(`POST /plugins/${plugin_key}/enable`, { reason: 'Repaired' })
    const resumed = await call(`POST /batch-evaluations/${batch_id}/resume`)
    expect([resumed.status, await ended(resumed.json.job_id)]).toEqual([202, 'succeeded'])
    expect((await get(`/batch-evaluations/${batch_id}`)).counts).toEqual({ total: ROWS, done: ROWS, failed: 0 })
  })

  test('says in its estimate how often plugins are called and how long that takes', async () => {
    const { matrix_key } = await createSimpleMatrix()
    const items = Array.from({ length: 450 }, (_, n) => ({ inputs: { country: 'AE', directors: n % 4 } }))
    const { json } = await call('POST /batch-evaluations/estimate', { matrix_key, items })
    expect(json).toMatchObject({ items: 450, plugin_calls: 450, plugin_seconds: 3, seconds: 4, tried: { failed: 0 } })
  })

  test('names the plugin whose version explains a difference between two batches', async () => {
    const { plugin_key, matrix_key } = await createSimpleMatrix()
    const items = [0, 5].map((directors) => ({ external_id: `c-${directors}`, inputs: { country: 'AE', directors } }))
    const first = await runBatch(t, { matrix_key, items })
    const source = 'export function factor() { return { score_bps: 1000, reason_code: "DIRECTORS" } }'
    const examples = [0, 1, 2].map((directors) => ({
      ...{ name: `example ${directors}`, input: { country: 'AE', directors } },
      output: { score_bps: 1000, reason_code: 'DIRECTORS' },
    }))
    const body = { package: createSimplePlugin(plugin_key, { version: '2.0.0', source, manifest: { examples } }) }
    await t.make(`POST /plugins/${plugin_key}/versions`, { body })
    await t.make(`POST /plugins/${plugin_key}/activations`, { body: { version: 2, reason: 'Reviewed' } })
    const second = await runBatch(t, { matrix_key, items })
    const compared = await get(`/batch-evaluations/${first}/compare/${second}`)
    expect(compared.items).toMatchObject([{ before: { score_bps: 500 }, because: [`plugin ${plugin_key}`] }])
  })
})

test('an impact run decides its subjects with the plugin in few tasks', async () => {
  const { matrix_key } = await createSimpleMatrix()
  for (const directors of [0, 3, 9]) {
    const body = { subject_type: 'company', name: `Company ${directors}`, attributes: { country: 'AE', directors } }
    const { subject_id } = await t.make('POST /subjects', { body })
    await t.make('POST /evaluations', { body: { matrix_key, subject_id } })
  }
  const tasks = vi.spyOn(SandboxRunner.prototype, 'run')
  const run_id = await runImpact(t, `POST /risk-matrices/${matrix_key}/versions/1/backtest`)
  // The results of the evaluations are still known; a task of the run has all its items.
  expect(tasks.mock.calls.length).toBeLessThanOrEqual(1)
  const { result, state } = await get(`/risk-matrices/${matrix_key}/backtests/${run_id}`)
  expect([state, result.decisions, result.flips, result.refusals_added]).toEqual(['succeeded', 3, 0, 0])
})

test('a change request that puts another version of a plugin in force is measured before it is approved', async () => {
  const { plugin_key, matrix_key } = await createSimpleMatrix()
  for (const directors of [0, 3, 9]) {
    const body = { subject_type: 'company', name: `Firm ${directors}`, attributes: { country: 'AE', directors } }
    const { subject_id } = await t.make('POST /subjects', { body })
    await t.make('POST /evaluations', { body: { matrix_key, subject_id } })
  }
  // Companies with nine directors score as high as possible.
  const { manifest, files } = createSimplePlugin(plugin_key, { version: '2.0.0' })
  const many = `if (directors === 9) return { score_bps: 10000, reason_code: 'MANY' }\n  if (directors === 666)`
  const source = files['main.js'].replace('if (directors === 666)', many)
  const changed = { manifest, files: { 'main.js': source } }
  const uploaded = await t.make(`POST /plugins/${plugin_key}/versions`, { body: { package: changed } })
  expect([uploaded.version, uploaded.reasons]).toEqual([2, []])
  const rule = { action: 'activation', approvers: 1, role: 'compliance_officer', require_impact: true }
  await t.setApprovalRules([rule])
  const token = await t.token(roles, t.author)
  const { cr_id } = await t.make(`POST /plugins/${plugin_key}/activations`, {
    ...{ token, body: { version: 2, reason: 'Reviewed' } },
  })
  const approve = () => call(`POST /change-requests/${cr_id}/approve`, {})
  const refused = await approve()
  expect([refused.status, refused.json.code]).toEqual([409, 'gates_closed'])
  await runImpact(t, `POST /change-requests/${cr_id}/impact`)
  const { family, key, version, stale, result } = await get(`/change-requests/${cr_id}/impact`)
  expect([family, key, version, stale]).toEqual(['plugin', plugin_key, 2, false])
  expect(result).toMatchObject({
    ...{ decisions: 3, flips: 1, refusals_added: 0 },
    definitions: [{ family: 'matrix', key: matrix_key, version: 1, missing: [] }],
  })
  expect((await approve()).status).toBe(200)
  await t.setApprovalRules([])
  // Nothing was in force while it was measured but what the decisions used.
  expect((await get(`/plugins/${plugin_key}`)).active.version).toBe(2)
})
