/** Impact runs: exact figures for thirty subjects, and when a run becomes stale. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { runBatch } from '#modules/batch-evaluations/fixtures.ts'
import { flippedBit } from '#test/support/decision-documents.ts'
import { bands, buildMatrix, countries, newPolicy, type Policy, publishList } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { runImpact } from './fixtures.ts'
import { createImpactRunJob } from './jobs.ts'
import { listPastDecisions } from './queries.ts'

let w: TestApp
let t: ExampleTenant
let policy: Policy
/** In order of subject ids. */
let decided: { subject_id: string; evaluation_id: string; country: string }[]

const PORTION = 7
beforeAll(async () => {
  // Small groups, so that thirty subjects take several steps.
  w = await startTestApp({
    modules: modules.map((module) =>
      module.name === 'impact' ? { ...module, jobs: [createImpactRunJob(PORTION)] } : module,
    ),
  })
  t = await ExampleTenant.create(w)
  policy = await newPolicy(t)
  decided = await decideThirty(t, policy.matrix_key)
})
afterAll(() => w.close())

/** Ten each of CH, DE and IR: 16 of segment retail, 9 corporate, 5 of none. */
async function decideThirty(of: ExampleTenant, matrix_key: string) {
  const made = []
  for (let n = 0; n < 30; n++) {
    const country = ['CH', 'DE', 'IR'][n % 3] as string
    const tenth = Math.floor(n / 3)
    const segment = { CH: 'retail', DE: tenth < 6 ? 'retail' : 'corporate', IR: tenth < 5 ? 'corporate' : null }[
      country
    ]
    const body = { subject_type: 'person', name: `Person ${n}`, segment, attributes: { country } }
    const { subject_id } = await of.make('POST /subjects', { body: segment === null ? without(body) : body })
    // Only the latest decision of a subject counts.
    if (n < 3) await of.make('POST /evaluations', { body: { matrix_key, subject_id, inputs: { country: 'IR' } } })
    const { evaluation_id } = await of.make('POST /evaluations', { body: { matrix_key, subject_id } })
    made.push({ subject_id, evaluation_id, country })
  }
  return made
}
const without = ({ segment: _, ...body }: Record<string, unknown>) => body

const publish = async (list_key: string, data: readonly object[], of = t): Promise<number> =>
  (await of.make(`POST /reference-data/datasets/${list_key}/versions`, { body: { data } })).version
const runListImpact = (list_key: string, version: number | string, body: object = {}, of = t): Promise<string> =>
  runImpact(of, `POST /reference-data/datasets/${list_key}/versions/${version}/impact`, body)
const getRun = (run_id: string, of = t) => of.make(`GET /reference-data/impact-runs/${run_id}`)
/** DE changes from 2000 to 5000: its subjects change from 2000 to 3500, and to the higher band. */
const tighter = countries.map((entry) => (entry.code === 'DE' ? { ...entry, score_bps: 5000 } : entry))

describe('a changed country of a list', () => {
  test('changes exactly the latest decisions that read it, by band, factor and segment', async () => {
    const version = await publish(policy.country_list, tighter)
    const run = await getRun(await runListImpact(policy.country_list, version))
    const { content_hash } = await t.make(`GET /reference-data/datasets/${policy.country_list}/versions/${version}`)
    expect(run).toMatchObject({
      state: 'succeeded',
      stale: false,
      stale_because: null,
      family: 'list',
      version,
      content_hash,
    })
    expect(run.progress).toEqual({ done: 30, total: 30, unit: 'subjects' })
    const of = { family: 'matrix', key: policy.matrix_key }
    expect(run.result).toMatchObject({
      definitions: [{ ...of, version: 1, missing: [] }],
      population: { subjects: 30, taken: 30, seed: null, complete: true },
      decisions: 30,
      unusable: 0,
      flips: 10,
      score_moves: 10,
      refusals_added: 0,
      refusals_removed: 0,
      transitions: [
        { ...of, from: 'high', to: 'high', decisions: 10 },
        { ...of, from: 'low', to: 'high', decisions: 10 },
        { ...of, from: 'low', to: 'low', decisions: 10 },
      ],
      factors: [{ ...of, factor: 'country', moved: 10, raised: 10, lowered: 0, flipped: 10 }],
      segments: [
        { segment: null, decisions: 5, flips: 0, refusals_added: 0 },
        { segment: 'corporate', decisions: 9, flips: 4, refusals_added: 0 },
        { segment: 'retail', decisions: 16, flips: 6, refusals_added: 0 },
      ],
      required_actions: [],
      refusals: [],
    })
    const germans = decided.filter(({ country }) => country === 'DE')
    expect(run.result.samples.map(({ evaluation_id }: never) => evaluation_id)).toEqual(
      germans.map(({ evaluation_id }) => evaluation_id),
    )
    expect(run.no_impact).toBeNull()
    expect(run.result.samples[0]).toMatchObject({
      name: expect.any(String),
      subject_id: germans[0]?.subject_id,
      before: { result: 'low', score_bps: 2000 },
      after: { result: 'high', score_bps: 3500 },
      factors: [{ factor: 'country', before_bps: 2000, after_bps: 5000 }],
    })
    const receipt = await t.make(`GET /reference-data/receipts/${run.receipt_id}`)
    expect(receipt.manifest_hash).toBe(run.manifest_hash)
    // A run rates no subject and stores no decision.
    const risk = await t.make(`GET /subjects/${germans[0]?.subject_id}/risk`)
    expect(risk).toMatchObject({ band: 'low', rating: { evaluation_id: germans[0]?.evaluation_id } })
  })

  test('that is removed makes its decisions fail, with the reason', async () => {
    const version = await publish(policy.country_list, countries.slice(0, 2))
    const { result } = await getRun(await runListImpact(policy.country_list, version))
    expect(result).toMatchObject({ decisions: 30, flips: 0, refusals_added: 10 })
    expect(result.transitions).toContainEqual({
      family: 'matrix',
      key: policy.matrix_key,
      from: 'high',
      to: null,
      decisions: 10,
    })
    expect(result.refusals).toMatchObject([{ pointer: '/country', decisions: 10 }])
    expect(result.samples).toHaveLength(10)
    expect(result.samples[0]).toMatchObject({ before: { result: 'high' }, after: { result: null } })
    expect(result.samples[0].refusals[0].message).toContain('IR')
  })

  test('is measured on a sample with a maximum size and a repeatable seed', async () => {
    const order = { max_subjects: 12, seed: 7 }
    const [one, two] = [
      await getRun(await runListImpact(policy.country_list, 2, order)),
      await getRun(await runListImpact(policy.country_list, 2, order)),
    ]
    expect(one.result.population).toEqual({ subjects: 30, taken: 12, seed: 7, complete: false })
    expect(one.result.decisions).toBe(12)
    expect(two.result).toEqual(one.result)
    const other = await getRun(await runListImpact(policy.country_list, 2, { ...order, seed: 8 }))
    expect(other.result.decisions).toBe(12)
    expect(other.result.samples).not.toEqual(one.result.samples)
  })
})

test('compares both sides with the band of an override', async () => {
  const of = (country: string, index = 0) =>
    decided.filter((one) => one.country === country)[index]?.subject_id as string
  const override = (subject_id: string, band: string) => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    return t.make(`POST /subjects/${subject_id}/risk-override`, { body: { band, reason: 'known', expires_at } })
  }
  const outcomes = async () => (await getRun(await runListImpact(policy.country_list, 2))).result.known_outcomes
  const nobody = { decisions: 0, agreed_before: 0, agreed_after: 0, table: [] }
  expect(await outcomes()).toEqual(nobody)
  await override(of('DE'), 'high')
  await override(of('DE', 1), 'high')
  await override(of('DE', 2), 'low')
  // The latest one counts.
  await override(of('CH'), 'low')
  await override(of('CH'), 'high')
  const key = policy.matrix_key
  expect(await outcomes()).toEqual({
    decisions: 4,
    agreed_before: 1,
    agreed_after: 2,
    table: [
      { key, outcome: 'high', before: 'low', after: 'high', decisions: 2 },
      { key, outcome: 'high', before: 'low', after: 'low', decisions: 1 },
      { key, outcome: 'low', before: 'low', after: 'high', decisions: 1 },
    ],
  })
  const token = await t.token()
  for (const subject_id of [of('DE'), of('DE', 1), of('DE', 2), of('CH')]) {
    expect((await w.call(`DELETE /subjects/${subject_id}/risk-override`, { token })).status).toBe(204)
  }
  expect(await outcomes()).toEqual(nobody)
})

test('shows a result of an older format without overrides', async () => {
  const { run_id } = await getRun(await runListImpact(policy.country_list, 2))
  const superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  await superuser.query('set session_replication_role = replica')
  await superuser.query(`update app.impact_run set result = result - 'known_outcomes' where run_id = $1`, [run_id])
  await superuser.end()
  const { json } = await w.call(`GET /reference-data/impact-runs/${run_id}`, { token: await t.token() })
  expect([json.result.known_outcomes, json.result.decisions]).toEqual([null, decided.length])
})

describe('a run', () => {
  test('resumes after a failed step and counts no subject twice', async () => {
    const whole = await getRun(await runListImpact(policy.country_list, 2))
    const superuser = new pg.Client(w.clone.postgres)
    await superuser.connect()
    await superuser.query(`create function app.fail_once() returns trigger language plpgsql as $$
      begin
        if new.progress_done >= 14 and new.attempts = 1 and new.state = 'running' then raise exception 'it dies here'; end if;
        return new;
      end $$;
      create trigger fail_once before update on app.job for each row execute function app.fail_once()`)
    try {
      const job = await t.make(`POST /reference-data/datasets/${policy.country_list}/versions/2/impact`, { body: {} })
      expect(await t.runToEnd(job)).toMatchObject({ state: 'succeeded', attempts: 2 })
      const run = await getRun(job.resource.split('/').at(-1))
      expect(run.result).toEqual(whole.result)
      expect(run.result).toMatchObject({ decisions: 30, flips: 10 })
    } finally {
      await superuser.query('drop trigger fail_once on app.job; drop function app.fail_once()')
      await superuser.end()
    }
  })

  test('is cancelled and retried like any job', async () => {
    const job = await t.make(`POST /reference-data/datasets/${policy.country_list}/versions/2/impact`, { body: {} })
    const run_id = job.resource.split('/').at(-1)
    await t.make(`POST /jobs/${job.job_id}/cancel`)
    expect(await getRun(run_id)).toMatchObject({ state: 'cancelled', result: null })
    await t.runToEnd(await t.make(`POST /jobs/${job.job_id}/retry`))
    expect(await getRun(run_id)).toMatchObject({ state: 'succeeded', result: { decisions: 30 } })
  })

  test('cannot be altered in the database', async () => {
    const run_id = await runListImpact(policy.country_list, 2)
    const attempt = (set: string) =>
      t.write((tx) =>
        tx.run(`update app.impact_run set ${set} where tenant_id = $1 and run_id = $2`, [tx.tenant_id, run_id]),
      )
    await expect(attempt(`result = '{}'`)).rejects.toThrow('written once')
    await expect(attempt(`cr_id = null, manifest_hash = repeat('0', 64)`)).rejects.toThrow('written once')
    const gone = t.write((tx) => tx.run('delete from app.impact_run where tenant_id = $1', [tx.tenant_id]))
    await expect(gone).rejects.toThrow()
  })

  test('is listed newest first, for its own tenant only', async () => {
    const run_id = await runListImpact(policy.country_list, 2)
    const { items } = await t.make('GET /reference-data/impact-runs?limit=1')
    expect(items).toMatchObject([{ run_id, family: 'list', key: policy.country_list, state: 'succeeded' }])
    const other = await ExampleTenant.create(w)
    const token = await other.token()
    expect((await w.call(`GET /reference-data/impact-runs/${run_id}`, { token })).status).toBe(404)
    expect((await w.call('GET /reference-data/impact-runs', { token })).json.items).toEqual([])
  })

  test('on a list that no decision used has an empty sample', async () => {
    const empty = await newPolicy(t)
    const version = await publish(empty.country_list, tighter)
    const { result, state, no_impact } = await getRun(await runListImpact(empty.country_list, version))
    expect(no_impact).toMatchObject({ reason: 'no_decisions', detail: expect.stringContaining(empty.matrix_key) })
    expect([state, result.decisions, result.flips, result.samples]).toEqual(['succeeded', 0, 0, []])
    expect(result.definitions).toMatchObject([{ key: empty.matrix_key }])
    expect(result.population).toEqual({ subjects: 0, taken: 0, seed: null, complete: true })
  })

  test('leaves out altered decisions and offboarded subjects', async () => {
    const mine = await newPolicy(t)
    const made = await decideThirty(t, mine.matrix_key)
    await t.make(`POST /subjects/${made[1]?.subject_id}/offboard`, { body: { reason: 'closed' } })
    const superuser = new pg.Client(w.clone.postgres)
    await superuser.connect()
    await superuser.query(`set session_replication_role = replica;
      update app.evaluation set document_encrypted = ${flippedBit('document_encrypted')} where evaluation_id = '${made[4]?.evaluation_id}'`)
    await superuser.end()
    const version = await publish(mine.country_list, tighter)
    const { result } = await getRun(await runListImpact(mine.country_list, version))
    expect(result).toMatchObject({ decisions: 28, unusable: 1, flips: 8, population: { subjects: 29 } })
  })
})

describe('the latest decision', () => {
  test('of a subject may be an item of a batch', async () => {
    const mine = await newPolicy(t)
    const [first, second] = [await decideOne(mine.matrix_key), await decideOne(mine.matrix_key)]
    const items = [{ subject_id: first, inputs: { country: 'DE' } }]
    const batch_id = await runBatch(t, { matrix_key: mine.matrix_key, items })
    const version = await publish(mine.country_list, tighter)
    const { result } = await getRun(await runListImpact(mine.country_list, version))
    expect(result).toMatchObject({ decisions: 2, flips: 1, population: { subjects: 2 } })
    expect(result.samples).toMatchObject([{ subject_id: first, evaluation_id: null, batch_id, seq: 1 }])
    // A later single decision replaces the item.
    await t.make('POST /evaluations', { body: { matrix_key: mine.matrix_key, subject_id: first } })
    await t.make('POST /evaluations', { body: { matrix_key: mine.matrix_key, subject_id: second } })
    expect((await getRun(await runListImpact(mine.country_list, version))).result).toMatchObject({
      decisions: 2,
      flips: 0,
    })
  })

  /** A subject of CH. */
  async function decideOne(matrix_key: string): Promise<string> {
    const body = { subject_type: 'person', name: 'Ada', attributes: { country: 'CH' } }
    const { subject_id } = await t.make('POST /subjects', { body })
    await t.make('POST /evaluations', { body: { matrix_key, subject_id } })
    return subject_id
  }
})

describe('a run becomes stale', () => {
  test('when anything that was in force with it changes', async () => {
    const mine = await newPolicy(t)
    const version = await publish(mine.country_list, tighter)
    const run_id = await runListImpact(mine.country_list, version)
    expect(await getRun(run_id)).toMatchObject({ stale: false })
    await publishList(t, mine.band_list, [
      { ...bands[0], to_bps: 3999 },
      { ...bands[1], from_bps: 4000 },
    ] as object[])
    expect(await getRun(run_id)).toMatchObject({ stale: true, stale_because: 'in_force' })
    const { result } = await getRun(await runListImpact(mine.country_list, version))
    expect(result.decisions).toBe(0)
  })
})

describe('a backtest', () => {
  const draft = () => ({
    ...buildMatrix(policy),
    triggers: [
      {
        key: 'far',
        title: 'Far away',
        when: [{ of: 'score', test: '>= 5000' }],
        required_actions: ['source-of-funds'],
        reason_code: 'FAR',
        reason: 'The score is high.',
      },
    ],
  })

  test('of a draft reports required actions, and is stale once the draft is edited', async () => {
    const path = `/risk-matrices/${policy.matrix_key}`
    await t.make(`POST ${path}/versions`, { body: { definition: draft() } })
    const run_id = await runImpact(t, `POST ${path}/versions/draft/backtest`)
    const run = await t.make(`GET ${path}/backtests/${run_id}`)
    expect(run).toMatchObject({ family: 'matrix', key: policy.matrix_key, version: null, stale: false })
    expect(run.result).toMatchObject({
      decisions: 30,
      flips: 0,
      required_actions: [{ action: 'source-of-funds', added: 10, removed: 0 }],
    })
    expect((await t.make(`GET ${path}/backtests`)).items[0].run_id).toBe(run_id)
    await t.make(`PUT ${path}/versions/draft`, { body: { definition: { ...draft(), triggers: [] } } })
    expect(await t.make(`GET ${path}/backtests/${run_id}`)).toMatchObject({ stale: true, stale_because: 'candidate' })
    await t.make(`DELETE ${path}/versions/draft`)
  })

  test('of a rule reports hits', async () => {
    const rule_key = 'large-amount'
    const definition = (least: number) => ({
      inputs: [{ name: 'amount', title: 'Amount', type: 'integer', minimum: 0, maximum: 1000 }],
      table: {
        hit_policy: 'first',
        columns: ['amount'],
        outputs: [{ name: 'severity' }],
        rows: [{ key: 'large', when: [`>= ${least}`], then: ['high'] }],
      },
      required_actions: ['open-alert'],
      reason_code: 'LARGE',
      reason: 'The amount is large.',
    })
    const path = `/rules/${rule_key}`
    await t.make('POST /rules', { body: { rule_key, title: 'Large amount', definition: definition(500) } })
    await t.make(`POST ${path}/versions/draft/publish`, { body: {} })
    await t.make(`POST ${path}/activations`, { body: { version: 1, reason: 'reviewed' } })
    for (const amount of [100, 400, 600]) {
      const body = { subject_type: 'person', name: 'Ada', attributes: { amount } }
      const { subject_id } = await t.make('POST /subjects', { body })
      await t.make('POST /evaluations', { body: { rule_key, subject_id } })
    }
    await t.make(`POST ${path}/versions`, { body: { definition: definition(300) } })
    await t.make(`POST ${path}/versions/draft/publish`, { body: {} })
    const { result } = await t.make(`GET ${path}/backtests/${await runImpact(t, `POST ${path}/versions/2/backtest`)}`)
    const of = { family: 'rule', key: rule_key }
    expect(result).toMatchObject({
      decisions: 3,
      flips: 1,
      score_moves: 0,
      transitions: [
        { ...of, from: 'hit', to: 'hit', decisions: 1 },
        { ...of, from: 'no hit', to: 'hit', decisions: 1 },
        { ...of, from: 'no hit', to: 'no hit', decisions: 1 },
      ],
      required_actions: [{ action: 'open-alert', added: 1, removed: 0 }],
    })
    const elsewhere = await t.make(`GET ${path}/backtests`)
    const reply = await w.call(`GET /risk-matrices/${policy.matrix_key}/backtests/${elsewhere.items[0].run_id}`, {
      token: await t.token(),
    })
    expect(reply.status).toBe(404)
  })

  test('of a draft that does not compile is refused', async () => {
    const path = `/risk-matrices/${policy.matrix_key}`
    await t.make(`POST ${path}/versions`, { body: { definition: { factors: 'none' } } })
    const reply = await w.call(`POST ${path}/versions/draft/backtest`, { token: await t.token(), body: {} })
    expect([reply.status, reply.json.code]).toEqual([409, 'definition_invalid'])
    await t.make(`DELETE ${path}/versions/draft`)
  })
})

test('looks past decisions up by their keys, where the planner would rather join all of them', async () => {
  const plan = await t.write(async (tx) => {
    await tx.run('set local enable_nestloop = off')
    const explaining = {
      ...tx,
      query: async (text: string, values: readonly unknown[]) => {
        const rows = await tx.query<object>(`explain ${text}`, values)
        return rows.map((row) => ({ segment: Object.values(row).join() }))
      },
      tenant_id: tx.tenant_id,
    } as unknown as Tx
    const window = {
      definitions: [{ family: 'matrix' as const, key: policy.matrix_key }],
      ...{ from_at: '2020-01-01T00:00:00Z', until_at: '2040-01-01T00:00:00Z' },
    }
    const portion = { after: null, count: 500 }
    const rows = await listPastDecisions(explaining, window, { seed: 1, threshold: null }, portion)
    return rows.map(({ segment }) => segment)
  })
  expect(plan.length).toBeGreaterThan(20)
  // Outer joins: the batches of one subject may be joined in any way.
  expect(plan.filter((line) => /(Hash|Merge) (Left|Right) Join/.test(line ?? ''))).toEqual([])
})
