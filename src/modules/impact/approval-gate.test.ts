/** Impact runs of change requests, and approval policies that require one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { roles } from '#kernel/auth/roles.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { bands, countries, newPolicy, type Policy, publishList } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { MEASURED_ACTIONS } from './candidates.ts'
import { runImpact } from './fixtures.ts'

const SHARED_LIST = 'jurisdiction-risk'
let w: TestApp
let t: ExampleTenant
let policy: Policy

beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
  policy = await newPolicy(t)
  for (const country of ['CH', 'DE', 'IR']) await decide(t, policy, country)
})
afterAll(() => w.close())

async function decide(of: ExampleTenant, { matrix_key }: Policy, country: string): Promise<void> {
  const body = { subject_type: 'person', name: 'Ada', attributes: { country } }
  const { subject_id } = await of.make('POST /subjects', { body })
  await of.make('POST /evaluations', { body: { matrix_key, subject_id } })
}
const tighter = countries.map((entry) => (entry.code === 'DE' ? { ...entry, score_bps: 5000 } : entry))
const publish = async (list_key: string, data: readonly object[] = tighter): Promise<number> =>
  (await t.make(`POST /reference-data/datasets/${list_key}/versions`, { body: { data } })).version

/** The author proposes under this policy; afterwards nothing needs approval. */
async function propose(at: string, body: object, rule: object, of = t): Promise<string> {
  await of.setApprovalRules([{ approvers: 1, role: 'compliance_officer', ...rule }])
  const token = await of.token(roles, of.author)
  const { cr_id } = await of.make(at, { token, body })
  await of.setApprovalRules([])
  return cr_id
}
const proposeActivation = async (list_key: string, version: number, rule: object = {}) =>
  propose(
    `POST /reference-data/datasets/${list_key}/activations`,
    { version, reason: 'reviewed' },
    {
      action: 'activation',
      ...rule,
    },
  )
const approve = async (cr_id: string, of = t) =>
  w.call(`POST /change-requests/${cr_id}/approve`, { token: await of.token(), body: {} })
const measure = (cr_id: string, of = t) => runImpact(of, `POST /change-requests/${cr_id}/impact`)
const getImpact = (cr_id: string, of = t) => of.make(`GET /change-requests/${cr_id}/impact`)

describe('a change request', () => {
  test('shows the run of what its approval would activate', async () => {
    const version = await publish(policy.country_list)
    const cr_id = await proposeActivation(policy.country_list, version)
    const before = await t.make(`GET /change-requests/${cr_id}`)
    expect(before).toMatchObject({ require_impact: false, impact_run_id: null })
    expect((await w.call(`GET /change-requests/${cr_id}/impact`, { token: await t.token() })).status).toBe(404)
    const run_id = await measure(cr_id)
    expect(await getImpact(cr_id)).toMatchObject({
      run_id,
      cr_id,
      version,
      stale: false,
      result: { decisions: 3, flips: 1 },
    })
    expect(await t.make(`GET /change-requests/${cr_id}`)).toMatchObject({ impact_run_id: run_id, revision: 2 })
    // The dry run was rolled back: the same versions are in force.
    const { in_force } = await t.make(`GET /reference-data/datasets/${policy.country_list}/activations`)
    expect(in_force.map((span: { version: number }) => span.version)).toEqual([1])
  })

  test('shows what was measured of its version before it was proposed, while that is current', async () => {
    const own = await newPolicy(t)
    await decide(t, own, 'DE')
    const version = await publish(own.country_list)
    const other = await publish(own.country_list)
    const path = `POST /reference-data/datasets/${own.country_list}/versions`
    const run_id = await runImpact(t, `${path}/${version}/impact`)
    await runImpact(t, `${path}/${other}/impact`)
    const rule = { action: 'activation', require_impact: true, approvers: 1, role: 'compliance_officer' }
    await t.setApprovalRules([rule])
    const submit = (of: number) => t.make(`${path}/${of}/submit`, { body: { reason: 'reviewed' } })
    const submitted = await submit(version)
    expect(submitted).toMatchObject({ impact_run_id: run_id })
    expect(await t.make(`GET /change-requests/${submitted.cr_id}`)).toEqual(submitted)
    expect(await getImpact(submitted.cr_id)).toMatchObject({ run_id, version, stale: false, result: { flips: 1 } })
    const proposed = await proposeActivation(own.country_list, version, rule)
    expect(await t.make(`GET /change-requests/${proposed}`)).toMatchObject({ impact_run_id: run_id })
    expect((await approve(proposed)).json).toMatchObject({ state: 'approved' })
    // What is in force has changed since the second was measured.
    expect(await submit(other)).toMatchObject({ impact_run_id: null })
  })

  test('for an overlay is measured with the overlay applied to the shared list', async () => {
    const of = await ExampleTenant.create(w)
    const own = await newPolicy(of, SHARED_LIST)
    for (const country of ['DE', 'DE', 'CH']) await decide(of, own, country)
    // Decisions of another tenant that uses the same shared list are not read.
    await decide(t, await newPolicy(t, SHARED_LIST), 'DE')
    const entries = [{ key: 'DE', op: 'merge', value: { rating: 'high', score_bps: 9000 } }]
    const at = `PUT /reference-data/datasets/${SHARED_LIST}/overlay`
    const cr_id = await propose(at, { entries, reason: 'house view' }, { action: 'overlay' }, of)
    await measure(cr_id, of)
    const run = await getImpact(cr_id, of)
    expect(run).toMatchObject({ family: 'list', key: SHARED_LIST, stale: false })
    expect(run.overlay_hash).toBe(run.content_hash)
    expect(run.result).toMatchObject({ decisions: 3, flips: 2, segments: [{ segment: null, decisions: 3, flips: 2 }] })
    expect(run.result.samples[0].factors).toMatchObject([{ factor: 'country', after_bps: 9000 }])
    // The approval has exactly this effect.
    expect((await approve(cr_id, of)).status).toBe(200)
    const { overlay } = await of.make(`GET /reference-data/datasets/${SHARED_LIST}/overlay`)
    expect(overlay.content_hash).toBe(run.overlay_hash)
    // Removing the overlay reverts it.
    const removal = await propose(
      `DELETE /reference-data/datasets/${SHARED_LIST}/overlay`,
      undefined as never,
      {
        action: 'overlay',
      },
      of,
    )
    await measure(removal, of)
    expect((await getImpact(removal, of)).result).toMatchObject({
      decisions: 3,
      flips: 2,
      transitions: [
        { from: 'high', to: 'low', decisions: 2 },
        { from: 'low', to: 'low', decisions: 1 },
      ],
    })
  })

  test('for a matrix is measured with the matrix it would activate', async () => {
    const path = `/risk-matrices/${policy.matrix_key}`
    const { definition } = await t.make(`GET ${path}/versions/1`)
    const [country, channel] = definition.factors
    const heavier = {
      ...definition,
      factors: [
        { ...country, weight_bps: 10000 },
        { ...channel, weight_bps: 0 },
      ],
    }
    await t.make(`POST ${path}/versions`, { body: { definition: heavier } })
    const { version } = await t.make(`POST ${path}/versions/draft/publish`, { body: {} })
    const cr_id = await propose(`POST ${path}/activations`, { version, reason: 'reviewed' }, { action: 'activation' })
    await measure(cr_id)
    // The country alone counts now (CH 1000, DE 2000, IR 9000): every score but that of DE changes, and no band.
    expect((await getImpact(cr_id)).result).toMatchObject({ decisions: 3, flips: 0, score_moves: 2, factors: [] })
  })

  test('for a scheduled activation or a rollback is measured as of its effective time', async () => {
    const own = await newPolicy(t)
    for (const country of ['CH', 'DE']) await decide(t, own, country)
    const path = `/reference-data/datasets/${own.country_list}`
    const version = await publish(own.country_list)
    const later = { version, reason: 'from then on', effective_from: '2090-01-01T00:00:00Z' }
    const scheduled = await propose(`POST ${path}/activations`, later, { action: 'activation' })
    await measure(scheduled)
    expect(await getImpact(scheduled)).toMatchObject({ version, result: { decisions: 2, flips: 1 } })
    await publishList(t, own.country_list, tighter)
    expect(await getImpact(scheduled)).toMatchObject({ stale: true })
    const back = await propose(`POST ${path}/rollback`, { reason: 'too strict' }, { action: 'rollback' })
    await measure(back)
    const { version: earlier, result } = await getImpact(back)
    expect([earlier, result.decisions, result.flips]).toEqual([1, 2, 1])
    expect(result.transitions).toContainEqual(expect.objectContaining({ from: 'high', to: 'low', decisions: 1 }))
  })

  test('keeps the difference, the impact and the true start once it is approved', async () => {
    const own = await newPolicy(t)
    await decide(t, own, 'DE')
    const version = await publish(own.country_list)
    const cr_id = await proposeActivation(own.country_list, version)
    const read = () => t.make(`GET /change-requests/${cr_id}`)
    const find = async (member: string) =>
      (await read()).changes.find((change: { member: string }) => change.member === member)
    // Without an instant in the request, it starts with the approval, which is not known yet.
    expect(await find('effective_from')).toBeUndefined()
    expect(await find('version')).toEqual({ member: 'version', before: 1, after: version })
    await measure(cr_id)
    const { result } = await getImpact(cr_id)
    const { decided_at } = (await approve(cr_id)).json
    const { items } = await t.make(`GET /reference-data/datasets/${own.country_list}/activations`)
    expect((await find('effective_from')).after).toBe(items[0].effective_from)
    expect(Date.parse(items[0].effective_from)).toBeGreaterThanOrEqual(Date.parse(decided_at))
    expect(await find('version')).toEqual({ member: 'version', before: 1, after: version })
    await publishList(t, own.country_list, countries)
    expect(await getImpact(cr_id)).toMatchObject({ stale: false, stale_because: null, result })
  })

  test('names the owner of the version before, where it was shared', async () => {
    const of = await ExampleTenant.create(w)
    const at = '/reference-data/datasets'
    const { version: shared, type_key } = await of.make(`GET /reference-data/resolve/risk-bands`)
    await of.make(`POST ${at}`, { body: { list_key: 'risk-bands', type_key, title: 'Own bands' } })
    const { items } = await of.make(`GET ${at}/risk-bands/versions/${shared}/entries?origin=shared&limit=100`)
    await of.make(`POST ${at}/risk-bands/versions`, {
      body: { data: items.map(({ entry }: { entry: object }) => entry) },
    })
    const body = { version: 1, reason: 'ours' }
    const cr_id = await propose(`POST ${at}/risk-bands/activations`, body, { action: 'activation' }, of)
    const { changes } = await of.make(`GET /change-requests/${cr_id}`)
    expect(changes).toContainEqual({ member: 'origin', before: 'shared', after: 'own' })
  })

  test('returns 409 when it is stale or decided', async () => {
    const own = await newPolicy(t)
    const version = await publish(own.country_list)
    const cr_id = await proposeActivation(own.country_list, version)
    await publishList(t, own.country_list, countries)
    const start = async () => w.call(`POST /change-requests/${cr_id}/impact`, { token: await t.token(), body: {} })
    expect((await start()).json.code).toBe('approval_void')
    await t.make(`POST /change-requests/${cr_id}/reject`, { body: { reason: 'no' } })
    expect((await start()).json.code).toBe('transition_not_allowed')
  })

  test('returns 409 when it activates nothing', async () => {
    const cr_id = await t.changeRequest()
    const reply = await w.call(`POST /change-requests/${cr_id}/impact`, { token: await t.token(), body: {} })
    expect([reply.status, reply.json.code]).toEqual([409, 'transition_not_allowed'])
  })
})

describe('where the policy requires it', () => {
  const why = ({ status, json }: Awaited<ReturnType<typeof approve>>) => [
    status,
    json.code,
    json.gates?.map(({ gate, facts }: { gate: string; facts: { why: string } }) => `${gate} ${facts.why}`),
  ]

  test('refuses approval until a run has succeeded', async () => {
    const own = await newPolicy(t)
    const cr_id = await proposeActivation(own.country_list, await publish(own.country_list), { require_impact: true })
    expect(await t.make(`GET /change-requests/${cr_id}`)).toMatchObject({ require_impact: true })
    expect(why(await approve(cr_id))).toEqual([409, 'gates_closed', ['impact missing']])
    const job = await t.make(`POST /change-requests/${cr_id}/impact`, { body: {} })
    expect(why(await approve(cr_id))).toEqual([409, 'gates_closed', ['impact unfinished']])
    await t.runToEnd(job)
    // No decision ever used it: an empty sample is a valid result.
    expect((await getImpact(cr_id)).result).toMatchObject({ decisions: 0 })
    expect((await approve(cr_id)).json).toMatchObject({ state: 'approved' })
  })

  test('names only that the list was archived, and refuses approval, as no impact can be measured then', async () => {
    const list_key = `countries-${uuidv7().slice(-12)}`
    const { type_key } = await t.make(`GET /reference-data/datasets/${policy.country_list}`)
    await t.make('POST /reference-data/datasets', { body: { list_key, type_key, title: 'Countries' } })
    const cr_id = await proposeActivation(list_key, await publish(list_key), { require_impact: true })
    await t.make(`POST /reference-data/datasets/${list_key}/archive`)
    const { items } = await t.make(`GET /change-requests/${cr_id}/gates`)
    expect(items.map(({ gate, holds }: { gate: string; holds: boolean }) => [gate, holds])).toEqual([
      ['unchanged', true],
      ['author', true],
      ['frozen', false],
    ])
    expect(items[2].detail).toMatch(/^“Countries” was archived.* Reject this request, or have it withdrawn\.$/)
    for (const listed of ['/change-requests/inbox', '/change-requests?state=open']) {
      const { items: open } = await t.make(`GET ${listed}`)
      expect(open.find((one: { cr_id: string }) => one.cr_id === cr_id)).toMatchObject({ is_outdated: true })
    }
    const { inbox } = (await t.make('GET /analytics/overview')).approvals
    const shown = inbox.find((one: { cr_id: string }) => one.cr_id === cr_id)
    expect(shown).toMatchObject({
      impact: 'not_required',
      summary: expect.stringMatching(/^No longer applicable, to be rejected\./),
    })
    const { status, json } = await approve(cr_id)
    expect([status, json.code, json.gates]).toMatchObject([409, 'gates_closed', [{ gate: 'frozen' }]])
    expect((await t.make(`POST /change-requests/${cr_id}/reject`, { body: { reason: 'archived' } })).state).toBe(
      'rejected',
    )
  })

  test('names only that the version was withdrawn, and refuses the first approval of two as well', async () => {
    const list_key = `countries-${uuidv7().slice(-12)}`
    const { type_key } = await t.make(`GET /reference-data/datasets/${policy.country_list}`)
    await t.make('POST /reference-data/datasets', { body: { list_key, type_key, title: 'Countries' } })
    const version = await publish(list_key)
    const cr_ids = [
      await proposeActivation(list_key, version, { require_impact: true }),
      await proposeActivation(list_key, version, { approvers: 2 }),
    ]
    const withdrawn = { body: { state: 'withdrawn', reason: 'wrong' } }
    await t.make(`PATCH /reference-data/datasets/${list_key}/versions/${version}`, withdrawn)
    for (const cr_id of cr_ids) {
      const { items } = await t.make(`GET /change-requests/${cr_id}/gates`)
      expect(items.slice(2)).toEqual([
        {
          gate: 'execution',
          holds: false,
          detail: 'Version 1 is withdrawn. Reject this request, or have it withdrawn.',
        },
      ])
      const { json } = await approve(cr_id)
      expect([json.code, json.detail]).toEqual(['transition_not_allowed', 'Version 1 is withdrawn.'])
      expect(await t.make(`GET /change-requests/${cr_id}`)).toMatchObject({ state: 'open', approvals: [] })
    }
  })

  test('refuses approval with a stale run, and accepts a new one', async () => {
    const own = await newPolicy(t)
    const cr_id = await proposeActivation(own.country_list, await publish(own.country_list), { require_impact: true })
    await measure(cr_id)
    await publishList(t, own.band_list, [
      { ...bands[0], to_bps: 3999 },
      { ...bands[1], from_bps: 4000 },
    ] as object[])
    expect(await getImpact(cr_id)).toMatchObject({ stale: true, stale_because: 'in_force' })
    expect(why(await approve(cr_id))).toEqual([409, 'gates_closed', ['impact stale']])
    await measure(cr_id)
    expect((await approve(cr_id)).status).toBe(200)
  })

  test('is not required of contracts and providers, which rate no subject', async () => {
    const definition = { kind: 'builtin', title: 'Countries', capabilities: {} as Record<string, object> }
    definition.capabilities['registry.lookup'] = { list_key: SHARED_LIST }
    await t.make('POST /providers', { body: { provider_key: 'countries', title: 'Countries', definition } })
    await t.make('POST /providers/countries/versions/draft/publish', { body: {} })
    const body = { version: 1, reason: 'reviewed' }
    const rule = { action: 'activation', require_impact: true }
    const cr_id = await propose('POST /providers/countries/activations', body, rule)
    expect(await t.make(`GET /change-requests/${cr_id}`)).toMatchObject({ require_impact: false })
    expect((await approve(cr_id)).json).toMatchObject({ state: 'approved' })
    expect((await t.make('GET /providers/countries/activations')).items).toMatchObject([{ version: 1 }])
  })

  test('can be measured wherever it is required', () => {
    const required = modules
      .flatMap(({ routes }) => routes)
      .filter(({ governed }) => governed && MEASURED_ACTIONS.includes(governed.action) && governed.has_impact !== false)
    expect(required.length).toBeGreaterThan(5)
    const unmeasurable = required.filter(({ path }) => !/:(list_key|matrix_key|rule_key|plugin_key)\b/.test(path))
    expect(unmeasurable.map(({ id }) => id)).toEqual([])
  })

  test('can be required of measurable actions with approvers only, and never of rollbacks', async () => {
    const token = await t.token()
    const put = (rule: object) =>
      w.call('PUT /tenant/approval-policy', {
        token,
        body: { rules: [{ approvers: 1, role: 'compliance_officer', require_impact: true, ...rule }] },
      })
    for (const rule of [{ action: 'roles' }, { action: 'rollback' }, { action: 'activation', approvers: 0 }]) {
      const { status, json } = await put(rule)
      expect([rule.action, status, json.code]).toEqual([rule.action, 409, 'conflict'])
    }
    for (let n = 0; n < 2; n++) await w.person(t.tenant_id, ['compliance_officer'])
    const { json } = await put({ action: 'overlay' })
    expect(json.rules).toEqual([{ action: 'overlay', approvers: 1, role: 'compliance_officer', require_impact: true }])
    await t.setApprovalRules([])
  })
})

test('decisions never use versions that exist only in a dry run', async () => {
  const own = await newPolicy(t)
  const other = await newPolicy(t)
  const decided = async () =>
    (
      await t.make('POST /evaluations/preview', { body: { matrix_key: own.matrix_key, inputs: { country: 'DE' } } })
    ).lists.find(({ list_key }: { list_key: string }) => list_key === own.country_list).version
  expect(await decided()).toBe(1)
  const cr_id = await proposeActivation(own.country_list, await publish(own.country_list))
  await measure(cr_id)
  // No request in between, so anything the dry runs left in the caches is still there.
  await publishList(t, other.country_list, tighter)
  expect(await decided()).toBe(1)
})
