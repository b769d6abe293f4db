/** Examining decisions: exact replay, re-evaluation with attribution, what-if, comparison and override. */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engine1 } from '#decision/engine-1/engine.ts'
import { engines } from '#decision/engines.ts'
import type { Engine } from '#decision/model.ts'
import { connect } from '#test/isolation/support.ts'
import {
  buildMatrix,
  countries,
  newPolicy,
  type Policy,
  publishList,
  publishMatrix,
} from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { engineWithExtraReason } from '#test/support/extra-reason-engine.ts'
import { startSecondProcess } from '#test/support/second-process.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { decide, storeDecision } from './decide/decide.ts'
import { newPerson } from './fixtures.ts'

let w: TestApp
let t: ExampleTenant
let token: string
let superuser: pg.Client

beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  token = await t.token()
  superuser = await connect(w.clone.postgres)
  await superuser.query('set session_replication_role = replica')
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const evaluate = (policy: Policy, more: object = {}) =>
  t.make('POST /evaluations', { body: { matrix_key: policy.matrix_key, inputs: { country: 'CH' }, ...more } })
const replay = (evaluation_id: string) => t.make(`POST /evaluations/${evaluation_id}/replay`)
const changeMatrix = async (policy: Policy, definition: object) => {
  await t.make(`POST /risk-matrices/${policy.matrix_key}/versions`, { body: { definition } })
  return publishMatrix(t, policy.matrix_key)
}
const lowerBands = [
  { code: 'high', from_bps: 2500, to_bps: 10000 },
  { code: 'low', from_bps: 0, to_bps: 2499 },
]
/** A matrix that scores the channel only. */
const channelOnly = (policy: Policy) => {
  const text = buildMatrix(policy)
  const [country, channel] = text.factors
  return {
    ...text,
    factors: [
      { ...country, weight_bps: 1000 },
      { ...channel, weight_bps: 9000 },
    ],
  }
}

describe('replay', () => {
  test('is identical after lists and matrix changed, in a process without caches', async () => {
    const policy = await newPolicy(t)
    const made = await evaluate(policy, { inputs: { country: 'IR', pep: true } })
    await publishList(
      t,
      policy.country_list,
      [...countries, { code: 'FR', score_bps: 100 }].slice(0, 2).concat([{ code: 'IR', score_bps: 1 }]),
    )
    await changeMatrix(policy, channelOnly(policy))
    const second = await startSecondProcess(w)
    const reply = await second.server.app.inject({
      method: 'POST',
      url: `/api/evaluations/${made.evaluation_id}/replay`,
      headers: { authorization: `Bearer ${token}` },
    })
    await second.close()
    expect(reply.json()).toEqual({
      evaluation_id: made.evaluation_id,
      verdict: 'identical',
      faults: [],
      differences: [],
      engine: 1,
      document_hash: made.document_hash,
      recomputed_hash: made.document_hash,
      evidence: [],
    })
  })

  test('applies the overlay as pinned, although the shared list no longer permits it', async () => {
    const overlay = {
      entries: [{ key: 'DE', op: 'merge', value: { rating: 'high', score_bps: 9000 } }],
      reason: 'ours',
    }
    await t.make('PUT /reference-data/datasets/jurisdiction-risk/overlay', { body: overlay })
    const policy = await newPolicy(t, 'jurisdiction-risk')
    const made = await evaluate(policy, { inputs: { country: 'DE' } })
    expect(made.score_bps).toBe(5500)
    await superuser.query(`update app.dataset set overlay_policy = 'none' where list_key = 'jurisdiction-risk'`)
    try {
      expect((await replay(made.evaluation_id)).verdict).toBe('identical')
    } finally {
      await superuser.query(
        `update app.dataset set overlay_policy = 'tighten_only' where list_key = 'jurisdiction-risk'`,
      )
    }
  })

  test('is identical for a rule', async () => {
    const rule_key = `rule-${Date.now()}`
    const definition = {
      inputs: [{ name: 'amount', title: 'Amount', type: 'integer', minimum: 0, maximum: 1000000 }],
      table: {
        hit_policy: 'first',
        columns: ['amount'],
        outputs: [{ name: 'severity' }],
        rows: [{ key: 'large', when: ['>= 10000'], then: ['high'], reason: 'Large.', reason_code: 'LARGE' }],
      },
      reason_code: 'CASH',
      reason: 'Cash of {amount}.',
    }
    await t.make('POST /rules', { body: { rule_key, title: 'Cash', definition } })
    const { version } = await t.make(`POST /rules/${rule_key}/versions/draft/publish`, { body: {} })
    await t.make(`POST /rules/${rule_key}/activations`, { body: { version, reason: 'reviewed' } })
    const made = await t.make('POST /evaluations', { body: { rule_key, inputs: { amount: 20000 } } })
    expect(made.outcome).toMatchObject({ family: 'rule', hit: true, band: null, score_bps: null })
    expect(await replay(made.evaluation_id)).toMatchObject({ verdict: 'identical' })
    const miss = await t.make('POST /evaluations', { body: { rule_key, inputs: { amount: 5 } } })
    expect([miss.hit, (await replay(miss.evaluation_id)).verdict]).toEqual([false, 'identical'])
  })

  test('is identical for every decision made during activations', async () => {
    const policy = await newPolicy(t)
    const moved = countries.with(0, { code: 'CH', score_bps: 9000 })
    const switching = (async () => {
      for (let n = 0; n < 2; n++) await publishList(t, policy.country_list, n % 2 === 0 ? moved : countries)
    })()
    const deciding = Array.from({ length: 16 }, async () => {
      const made = await evaluate(policy)
      return { ...(await replay(made.evaluation_id)), score_bps: made.score_bps }
    })
    const answers = await Promise.all(deciding)
    await switching
    expect(answers.filter(({ verdict }) => verdict !== 'identical')).toEqual([])
    expect(answers.filter(({ score_bps }) => ![1500, 5500].includes(score_bps))).toEqual([])
  })

  test('uses the engine that decided, also when there is a newer one', async () => {
    const policy = await newPolicy(t)
    const old = await evaluate(policy)
    const all = engines as Map<number, Engine>
    all.set(3, engineWithExtraReason)
    try {
      const order = { matrix_key: policy.matrix_key, inputs: { country: 'CH' } }
      const young = await t.write(async (tx) =>
        storeDecision(w.kernel, tx, order, await decide(w.kernel, tx, order, { engine: 3 })),
      )
      expect(young.document_hash).not.toBe(old.document_hash)
      expect(await replay(old.evaluation_id)).toMatchObject({ verdict: 'identical', engine: 1 })
      expect(await replay(young.evaluation_id)).toMatchObject({ verdict: 'identical', engine: 3 })
      all.delete(3)
      expect(await replay(young.evaluation_id)).toMatchObject({
        verdict: 'different',
        faults: ['This release has no engine 3.'],
      })
    } finally {
      all.delete(3)
    }
  })

  test('reports differences when the recomputed document differs', async () => {
    const made = await evaluate(await newPolicy(t))
    const all = engines as Map<number, Engine>
    all.set(1, engineWithExtraReason)
    try {
      const { verdict, faults, differences, recomputed_hash } = await replay(made.evaluation_id)
      expect([verdict, faults]).toEqual(['different', []])
      const before = made.outcome.reason_codes
      expect(differences).toEqual([{ pointer: '/outcome/reason_codes', before, after: [...before, 'LOUD'] }])
      expect(recomputed_hash).not.toBe(made.document_hash)
    } finally {
      all.set(1, engine1)
    }
  })
})

describe('re-evaluation', () => {
  const again = (evaluation_id: string) => t.make(`POST /evaluations/${evaluation_id}/reevaluate`)

  test('gives the same outcome when nothing changed', async () => {
    const made = await evaluate(await newPolicy(t))
    expect(await again(made.evaluation_id)).toMatchObject({
      same_outcome: true,
      changes: [],
      switches: [],
    })
  })

  test('attributes the difference to the list that causes it', async () => {
    const policy = await newPolicy(t)
    const made = await evaluate(policy)
    await publishList(t, policy.country_list, countries.with(0, { code: 'CH', score_bps: 9000 }))
    await publishList(t, policy.band_list, lowerBands)
    const answer = await again(made.evaluation_id)
    expect(answer).toMatchObject({ same_outcome: false, before: { band: 'low', score_bps: 1500 } })
    expect(answer.after).toMatchObject({ outcome: { band: 'high', score_bps: 5500 }, findings: [] })
    const reported = Object.fromEntries(answer.switches.map((one: never) => [one['key'], one]))
    expect(reported[policy.country_list]).toMatchObject({ from_version: 1, to_version: 2, effect: 'whole' })
    expect(reported[policy.band_list]).toMatchObject({
      from_version: 1,
      to_version: 2,
      effect: 'none',
      changes: [],
    })
    expect(reported[policy.country_list].alone.outcome).toMatchObject({ band: 'high', score_bps: 5500 })
  })

  test('distinguishes single causes from causes that act only together', async () => {
    const policy = await newPolicy(t)
    const made = await evaluate(policy)
    await publishList(t, policy.country_list, countries.with(0, { code: 'CH', score_bps: 3200 }))
    await publishList(t, policy.band_list, lowerBands)
    const answer = await again(made.evaluation_id)
    expect(answer.after.outcome).toMatchObject({ band: 'high', score_bps: 2600 })
    const effects = answer.switches.map(({ key, effect }: { key: string; effect: string }) => [key, effect])
    expect(Object.fromEntries(effects)).toEqual({ [policy.country_list]: 'part', [policy.band_list]: 'joint' })
  })

  test('attributes a difference to the matrix, and reports inputs that are refused now', async () => {
    const policy = await newPolicy(t)
    const made = await evaluate(policy)
    const text = channelOnly(policy)
    const inputs = [...text.inputs, { name: 'age', title: 'Age', type: 'integer', minimum: 0, maximum: 200 }]
    await changeMatrix(policy, { ...text, inputs })
    const answer = await again(made.evaluation_id)
    expect(answer.after).toMatchObject({ outcome: null, findings: [{ code: 'input_missing', pointer: '/age' }] })
    expect(answer.switches).toMatchObject([
      { family: 'matrix', key: policy.matrix_key, from_version: 1, to_version: 2, effect: 'whole' },
    ])
  })
})

describe('what-if', () => {
  const whatIf = (evaluation_id: string, body: object) => t.make(`POST /evaluations/${evaluation_id}/what-if`, { body })

  test('decides with other inputs, other versions, and both', async () => {
    const policy = await newPolicy(t)
    await publishList(t, policy.country_list, countries.with(0, { code: 'CH', score_bps: 9000 }))
    const made = await evaluate(policy)
    expect(made.outcome).toMatchObject({ band: 'high', score_bps: 5500 })
    const inputs = { inputs: { country: 'DE', channel: 'branch' } }
    const lists = { lists: [{ list_key: policy.country_list, version: 1 }] }
    expect((await whatIf(made.evaluation_id, inputs)).after.outcome).toMatchObject({ band: 'low', score_bps: 1000 })
    expect((await whatIf(made.evaluation_id, lists)).after.outcome).toMatchObject({ band: 'low', score_bps: 1500 })
    const both = await whatIf(made.evaluation_id, { inputs: { pep: true }, ...lists })
    expect(both.after.outcome).toMatchObject({ band: 'high', score_bps: 1500, scored_band: 'low' })
    const gone = await whatIf(made.evaluation_id, { inputs: { country: null } })
    expect(gone.after).toMatchObject({ outcome: null, findings: [{ code: 'input_missing' }] })
    for (const body of [
      { definition_version: 99 },
      { lists: [{ list_key: policy.country_list, version: 99 }] },
      { lists: [{ list_key: 'countries', version: 1 }] },
    ]) {
      const path = `POST /evaluations/${made.evaluation_id}/what-if`
      expect((await w.call(path, { token, body })).json.code).toBe('conflict')
    }
  })
})

test('finds the smallest change of inputs that changes the band, and reports the search space', async () => {
  const policy = await newPolicy(t)
  const made = await evaluate(policy)
  const path = `POST /evaluations/${made.evaluation_id}/what-if`
  const { search } = await t.make(path, { body: { search: true } })
  expect(search.changes.map(({ changed, result }: never) => [changed, result])).toEqual([
    [[{ name: 'country', from: 'CH', to: 'IR' }], 'high'],
    [[{ name: 'pep', from: false, to: true }], 'high'],
  ])
  expect(search.searched).toMatchObject({ inputs: ['country', 'channel', 'pep'], together: 1, truncated: false })
  const none = await t.make(path, { body: { search: true, band: 'unheard-of' } })
  expect(none.search).toMatchObject({ changes: [], searched: { together: 2 } })
  expect((await t.make(path, { body: {} })).search).toBeNull()
})

test('compares two decisions field by field', async () => {
  const policy = await newPolicy(t)
  const [one, two] = [await evaluate(policy), await evaluate(policy, { inputs: { country: 'IR' } })]
  const evaluation_ids = [one.evaluation_id, two.evaluation_id]
  const compared = await t.make('POST /evaluations/compare', { body: { evaluation_ids } })
  expect(compared).toMatchObject({ same_outcome: false, same_inputs: false, same_versions: true })
  expect(compared.changes).toContainEqual({ pointer: '/inputs/country', before: 'CH', after: 'IR' })
  expect(compared.changes).toContainEqual({ pointer: '/outcome/band', before: 'low', after: 'high' })
})

describe('an override', () => {
  const body = { band: 'high', reason: 'adverse media', expires_at: new Date(Date.now() + 3_600_000).toISOString() }

  test('changes the rating of the subject and not the decision', async () => {
    const policy = await newPolicy(t)
    const subject_id = await newPerson(t)
    const made = await evaluate(policy, { subject_id })
    const rating = await t.make(`POST /evaluations/${made.evaluation_id}/override`, { body })
    expect(rating).toMatchObject({ subject_id, band: 'high', cause: 'override', reason: 'adverse media' })
    expect(await t.make(`GET /subjects/${subject_id}/risk`)).toMatchObject({ band: 'high', source: 'override' })
    expect((await t.make(`GET /evaluations/${made.evaluation_id}`)).band).toBe('low')
  })

  test('needs approval where the policy requires it', async () => {
    const policy = await newPolicy(t)
    const subject_id = await newPerson(t)
    const { evaluation_id } = await evaluate(policy, { subject_id })
    const govern = (approvers: number) =>
      t.setApprovalRules([{ action: 'risk-override', approvers, role: 'compliance_officer' }])
    await govern(1)
    const asked = await w.call(`POST /evaluations/${evaluation_id}/override`, { token, body })
    expect([asked.status, asked.json.operation]).toEqual([202, 'overrideEvaluation'])
    expect((await t.make(`GET /subjects/${subject_id}/risk`)).source).toBe('rating')
    const checker = await w.token({ tenant_id: t.tenant_id, roles: ['compliance_officer'] })
    const approved = await w.call(`POST /change-requests/${asked.json.cr_id}/approve`, { token: checker, body: {} })
    expect(approved.status).toBe(200)
    expect(await t.make(`GET /subjects/${subject_id}/risk`)).toMatchObject({ band: 'high', source: 'override' })
    await govern(0)
  })

  test('needs a subject', async () => {
    const made = await evaluate(await newPolicy(t))
    const reply = await w.call(`POST /evaluations/${made.evaluation_id}/override`, { token, body })
    expect(reply.json.code).toBe('transition_not_allowed')
  })
})
