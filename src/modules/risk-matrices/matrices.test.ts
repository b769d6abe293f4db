/** Definitions from their first draft to a version in force and back, through the API, on the seeded lists. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { smallMatrix, smallRule, unprovableRule } from '#test/support/small-definitions.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let token: string
beforeAll(async () => {
  w = await shareTestApp()
  token = await w.token()
})
afterAll(() => w.close())

const call = (at: string, body?: unknown, headers: Record<string, string> = {}) =>
  w.call(at, { token, headers, ...(body !== undefined && { body }) })
const toSummary = ({ status, json }: { status: number; json: { code?: string } }) =>
  `${status} ${json?.code ?? ''}`.trim()

let count = 0
async function createDraft(definition: object = smallMatrix()): Promise<string> {
  const matrix_key = `matrix-${++count}`
  const reply = await call('POST /risk-matrices', { matrix_key, title: 'Small', definition })
  expect([reply.status, reply.json.code]).toEqual([201, undefined])
  return `/risk-matrices/${matrix_key}`
}
async function publish(path: string, options: object = {}) {
  const reply = await call(`POST ${path}/versions/draft/publish`, options)
  expect([reply.status, reply.json.findings]).toEqual([201, undefined])
  return reply.json
}
/** A second version without the trigger; the first one is in force. */
async function createTwoVersions(): Promise<string> {
  const path = await createDraft()
  await publish(path)
  await call(`POST ${path}/activations`, { version: 1, reason: 'reviewed' })
  await call(`POST ${path}/versions`, { definition: { ...smallMatrix(), triggers: [] } })
  await publish(path, { label: 'without-trigger' })
  return path
}

describe('from draft to activation', () => {
  test('a matrix is drafted, published with its proof, activated and simulated', async () => {
    const path = await createDraft()
    expect((await call(`GET ${path}`)).json).toMatchObject({ origin: 'own', active: null, draft: { revision: 1 } })
    const draft = await call(`GET ${path}/versions/draft`)
    expect(draft.json).toMatchObject({ state: 'draft', findings: [], definition: smallMatrix() })
    expect(await publish(path, { note: 'first' })).toMatchObject({ version: 1, note: 'first' })
    expect(toSummary(await call(`POST ${path}/activations`, { version: 1, reason: 'reviewed' }))).toBe('201')
    const simulated = await call(`POST ${path}/versions/1/simulate`, { inputs: { country: 'DE', pep: false } })
    expect(simulated.json).toMatchObject({
      decided: true,
      outcome: { family: 'matrix', score_bps: 1500, band: 'low' },
      lists: [{ list_key: 'jurisdiction-risk' }, { list_key: 'risk-bands' }],
    })
    expect((await call(`GET ${path}`)).json).toMatchObject({
      active: { version: 1, via: 'tenant-own' },
      attention: [],
      draft: null,
    })
    expect((await call(`GET ${path}/versions/1`)).json).toMatchObject({
      definition: smallMatrix(),
      proof: { engine: 1, lists: [{ list_key: 'jurisdiction-risk', version: 1 }, { list_key: 'risk-bands' }] },
      findings: null,
    })
  })

  test('simulating, validating and testing store nothing', async () => {
    const path = await createDraft()
    const before = (await call('GET /audit/events?limit=1')).json.items
    await call(`POST ${path}/versions/draft/simulate`, { inputs: { country: 'DE', pep: true } })
    await call(`POST ${path}/versions/draft/validate`)
    await call(`POST ${path}/versions/draft/test`, {})
    expect((await call('GET /audit/events?limit=1')).json.items).toEqual(before)
  })

  test('missing, unknown and invalid inputs are findings, never an outcome', async () => {
    const path = await createDraft()
    const simulate = async (inputs: object) => {
      const { json } = await call(`POST ${path}/versions/draft/simulate`, { inputs })
      return [json.decided, json.outcome, json.findings.map(({ code }: { code: string }) => code)]
    }
    expect(await simulate({ pep: true })).toEqual([false, null, ['input_missing']])
    expect(await simulate({ country: 'XX', pep: true })).toEqual([false, null, ['input_not_allowed']])
    expect(await simulate({ country: 'DE', pep: 'no' })).toEqual([false, null, ['input_type']])
    expect(await simulate({ country: 'DE', pep: true, shoe: 1 })).toEqual([false, null, ['input_unknown']])
  })
})

describe('a reason code that is not in the list of reason codes', () => {
  test('is a warning at the trigger, in the draft, in the validation and in the published version', async () => {
    const path = await createDraft()
    const [trigger] = smallMatrix().triggers
    const definition = {
      ...smallMatrix(),
      triggers: [trigger, { ...trigger, key: 'again', reason_code: 'RAT_NO_SUCH' }],
    }
    const warning = {
      code: 'reason_code_unknown',
      pointer: '/triggers/1/reason_code',
      message: 'There is no reason code RAT_NO_SUCH in the list reason-codes in force; overrides refuse it.',
      severity: 'warning',
    }
    expect((await call(`PUT ${path}/versions/draft`, { definition })).json.findings).toEqual([warning])
    expect((await call(`POST ${path}/versions/draft/validate`)).json.findings).toEqual([warning])
    await publish(path)
    expect((await call(`GET ${path}/versions/1`)).json.proof.warnings).toEqual([warning])
  })
})

describe('drafts', () => {
  test('there is one at a time, updated with its revision and deleted', async () => {
    const path = await createDraft()
    expect(toSummary(await call(`POST ${path}/versions`, {}))).toBe('409 duplicate')
    const definition = { ...smallMatrix(), aggregation: 'median' }
    const edited = await call(`PUT ${path}/versions/draft`, { definition, expected_revision: 1 })
    expect([edited.status, edited.json.revision, edited.headers['etag']]).toEqual([200, 2, '"2"'])
    expect(edited.json.findings).toEqual([expect.objectContaining({ pointer: '/aggregation', severity: 'error' })])
    expect(toSummary(await call(`PUT ${path}/versions/draft`, { definition, expected_revision: 1 }))).toBe(
      '409 revision_stale',
    )
    expect(toSummary(await call(`PUT ${path}/versions/draft`, { definition }, { 'if-match': '"1"' }))).toBe(
      '412 precondition_failed',
    )
    expect((await call(`DELETE ${path}/versions/draft`)).status).toBe(204)
    expect(toSummary(await call(`GET ${path}/versions/draft`))).toBe('404 not_found')
  })

  test('are created from a version, or from the version in force', async () => {
    const path = await createTwoVersions()
    const fromForce = await call(`POST ${path}/versions`, {})
    expect(fromForce.json.definition).toEqual(smallMatrix())
    await call(`DELETE ${path}/versions/draft`)
    const fromLabel = await call(`POST ${path}/versions`, { from_version: 2 })
    expect(fromLabel.json).toMatchObject({ based_on: 2, definition: { triggers: [] } })
  })

  test('an own matrix may be created from a shared one and replaces it', async () => {
    const tenant_id = await w.makeTenant()
    const own = await w.token({ tenant_id })
    const body = { matrix_key: 'customer-risk-person', title: 'Ours', from_key: 'customer-risk-person' }
    expect((await w.call('POST /risk-matrices', { token: own, body })).json).toMatchObject({ origin: 'own' })
    const path = '/risk-matrices/customer-risk-person'
    expect((await w.call(`GET ${path}`, { token })).json.origin).toBe('shared')
    const made = await w.call(`POST ${path}/versions/draft/publish`, { token: own, body: {} })
    expect([made.status, made.json.findings]).toEqual([201, undefined])
  })

  test('a tenant cannot edit or activate a shared one, or add cases to it', async () => {
    const path = '/risk-matrices/customer-risk-person'
    const refused = '409 transition_not_allowed'
    expect(toSummary(await call(`POST ${path}/versions`, {}))).toBe(refused)
    expect(toSummary(await call(`PATCH ${path}`, { owner: 'me' }))).toBe(refused)
    expect(toSummary(await call(`POST ${path}/activations`, { version: 1, reason: 'mine' }))).toBe(refused)
    const golden = { name: 'mine', inputs: {}, expected: { band: 'low' } }
    expect(toSummary(await call(`POST ${path}/test-cases`, golden))).toBe(refused)
  })
})

describe('publishing', () => {
  const refusal = async (definition: object) => {
    const path = await createDraft(definition)
    const { status, json } = await call(`POST ${path}/versions/draft/publish`, {})
    expect((await call(`GET ${path}/versions`)).json.items).toEqual([])
    return { status, code: json.code, findings: json.findings }
  }

  test('an unreadable definition is refused with the location', async () => {
    expect(await refusal({})).toMatchObject({ status: 409, code: 'definition_invalid' })
  })

  test('a list that is not in force is reported where it is read', async () => {
    const [factor] = smallMatrix().factors
    const { code, findings } = await refusal({ ...smallMatrix(), factors: [{ ...factor, list_key: 'no-such-list' }] })
    expect([code, findings]).toEqual([
      'definition_invalid',
      [expect.objectContaining({ code: 'list_not_in_force', pointer: expect.stringMatching(/^\/factors\/0/) })],
    ])
  })

  test('an input without a matching row is reported', async () => {
    const table = {
      hit_policy: 'unique',
      columns: ['amount'],
      outputs: [{ name: 'score_bps' }],
      rows: [
        { key: 'small', when: ['< 100'], then: [0] },
        { key: 'large', when: ['> 100'], then: [9000] },
      ],
    }
    const { code, findings } = await refusal({
      ...smallMatrix(),
      inputs: [...smallMatrix().inputs, { name: 'amount', title: 'Amount', type: 'integer', minimum: 0, maximum: 999 }],
      factors: [...smallMatrix().factors, { key: 'amount', title: 'Amount', form: 'table', table }],
    })
    expect(code).toBe('definition_invalid')
    expect(findings).toEqual([
      expect.objectContaining({
        pointer: expect.stringMatching(/^\/factors\/1\/table/),
        example: expect.objectContaining({ amount: 100 }),
      }),
    ])
  })

  test('a definition too large to prove is not published', async () => {
    const path = '/rules/too-large'
    await call('POST /rules', { rule_key: 'too-large', title: 'Large', definition: unprovableRule() })
    const { status, json } = await call(`POST ${path}/versions/draft/publish`, {})
    expect([status, json.code]).toEqual([409, 'not_analysable'])
  })

  test('golden cases must pass', async () => {
    const path = await createDraft()
    const golden = { name: 'a neighbour', inputs: { country: 'FR', pep: false }, expected: { band: 'high' } }
    const { case_id } = (await call(`POST ${path}/test-cases`, golden)).json
    expect(toSummary(await call(`POST ${path}/test-cases`, golden))).toBe('409 duplicate')
    const refused = await call(`POST ${path}/versions/draft/publish`, {})
    expect([refused.json.code, refused.json.findings[0].code]).toEqual(['definition_invalid', 'golden_case_failed'])
    expect(refused.json.detail).toContain('a neighbour')
    const report = (await call(`POST ${path}/versions/draft/test`, {})).json
    expect(report).toMatchObject({ passed: 0, failed: 1, results: [{ name: 'a neighbour', passed: false }] })
    expect((await call(`DELETE ${path}/test-cases/${case_id}`)).status).toBe(200)
    await publish(path)
  })

  test('a golden case that cannot be decided is reported in one sentence', async () => {
    const path = await createDraft()
    await call(`POST ${path}/test-cases`, { name: 'half', inputs: { country: 'FR' }, expected: { band: 'low' } })
    const [finding] = (await call(`POST ${path}/versions/draft/validate`)).json.findings
    expect(finding.message).toMatch(/^The golden case "half" is not met: [^.]+\.$/)
  })
})

describe('versions in force', () => {
  test('differences are listed part by part', async () => {
    const path = await createTwoVersions()
    const { json } = await call(`GET ${path}/diff?from=1&to=2`)
    expect(json.summary).toMatchObject({ added: 0, removed: 1, changed: 0 })
    expect(json.items).toEqual([expect.objectContaining({ op: 'removed', key: 'trigger|pep', after: null })])
  })

  test('activate, schedule, cancel, roll back', async () => {
    const path = await createTwoVersions()
    const later = { version: 2, reason: 'later', effective_from: '2090-01-01T00:00:00Z' }
    const { activation_id } = (await call(`POST ${path}/activations`, later)).json
    expect((await call(`GET ${path}`)).json).toMatchObject({ active: { version: 1 }, pending: [{ version: 2 }] })
    expect((await call(`DELETE ${path}/activations/${activation_id}`)).json.revoked_at).not.toBeNull()
    const never = { to_version: 2, reason: 'wrong', break_glass: { reason: 'now' } }
    expect((await call(`POST ${path}/rollback`, never)).json.code).toBe('version_never_in_force')
    await call(`POST ${path}/activations`, { version: 2, reason: 'now' })
    const back = await call(`POST ${path}/rollback`, { reason: 'wrong' })
    expect([back.status, back.json.activation]).toEqual([
      201,
      expect.objectContaining({ version: 1, kind: 'rollback' }),
    ])
    expect(
      (await call(`GET ${path}/activations`)).json.in_force.map(({ version }: { version: number }) => version),
    ).toEqual([1, 2, 1])
  })

  test('four eyes: a maker submits, a checker approves', async () => {
    const tenant_id = await w.makeTenant({ four_eyes: true })
    const [maker, checker] = [
      await w.token({ tenant_id, roles: ['policy_editor'] }),
      await w.token({ tenant_id, roles: ['compliance_officer'] }),
    ]
    const body = { matrix_key: 'ours', title: 'Ours', definition: smallMatrix() }
    await w.call('POST /risk-matrices', { token: maker, body })
    await w.call('POST /risk-matrices/ours/versions/draft/publish', { token: maker, body: {} })
    const proposal = await w.call('POST /risk-matrices/ours/versions/1/submit', {
      token: maker,
      body: { reason: 'new' },
    })
    expect([proposal.status, proposal.json.state]).toEqual([201, 'open'])
    const read = async () => (await w.call('GET /risk-matrices/ours', { token: maker })).json.active
    expect(await read()).toBeNull()
    await w.call(`POST /change-requests/${proposal.json.cr_id}/approve`, { token: checker, body: {} })
    expect(await read()).toMatchObject({ version: 1 })

    // Cancelling an approved schedule needs approval, and so does a longer review interval.
    const later = { version: 1, reason: 'later', effective_from: '2090-01-01T00:00:00Z' }
    const scheduled = await w.call('POST /risk-matrices/ours/activations', { token: checker, body: later })
    const other = await w.token({ tenant_id, roles: ['compliance_officer'] })
    await w.call(`POST /change-requests/${scheduled.json.cr_id}/approve`, { token: other, body: {} })
    const { items } = (await w.call('GET /risk-matrices/ours/activations', { token: maker })).json
    const cancelled = await w.call(`DELETE /risk-matrices/ours/activations/${items[0].activation_id}`, {
      token: checker,
    })
    const review = await w.call('PATCH /risk-matrices/ours', { token: maker, body: { review_every_days: 3660 } })
    expect([cancelled, review].map(({ status, json }) => [status, json.action])).toEqual([
      [202, 'activation'],
      [202, 'datasets'],
    ])
    expect((await w.call('PATCH /risk-matrices/ours', { token: maker, body: { title: 'Ours too' } })).status).toBe(200)
  })

  test('lists the lists it reads, and the definitions that read a list', async () => {
    const path = await createTwoVersions()
    const { items } = (await call(`GET ${path}/dependencies`)).json
    expect(items.map(({ list_key, in_force }: never) => [list_key, (in_force as { via: string }).via])).toEqual([
      ['jurisdiction-risk', 'shared'],
      ['risk-bands', 'shared'],
    ])
    const dependents = (await call('GET /reference-data/datasets/jurisdiction-risk/dependents')).json.items
    expect(dependents).toContainEqual(
      expect.objectContaining({ kind: 'matrix', key: path.split('/').at(-1), version: 1 }),
    )
    expect(dependents).toContainEqual(expect.objectContaining({ kind: 'matrix', key: 'customer-risk-person' }))
  })

  test('can be archived only when no version is in force', async () => {
    const path = await createTwoVersions()
    expect(toSummary(await call(`POST ${path}/archive`))).toBe('409 conflict')
    const other = await createDraft()
    expect((await call(`POST ${other}/archive`)).json).toMatchObject({ state: 'archived' })
    expect(toSummary(await call(`POST ${other}/versions/draft/publish`, {}))).toBe('409 transition_not_allowed')
  })
})

describe('rules', () => {
  test('return hit or no hit, and a description in plain words', async () => {
    await call('POST /rules', { rule_key: 'small', title: 'Small', definition: smallRule() })
    await publish('/rules/small')
    const { reading } = (await call('GET /rules/small/versions/1')).json
    expect(reading).toEqual([
      'When Country is on the list eu-high-risk-third-countries and Amount is at least 1000.00: the rule hits ({amount} with {country}.).',
      'A hit requires: open-alert.',
    ])
    const cases = [{ inputs: { country: 'AF', amount: '2000.00' } }, { inputs: { country: 'FR', amount: '2000.00' } }]
    const { results } = (await call('POST /rules/small/versions/1/test', { cases })).json
    expect(results.map(({ outcome }: { outcome: { hit: boolean } }) => outcome.hit)).toEqual([true, false])
  })

  test('the listed condition forms are those the engine reads', async () => {
    const { tests, lists, hit_policies } = (await call('GET /rules/functions')).json
    expect(tests.map(({ form, example }: never) => [form, example])).toContainEqual(['compare', '>= 1000.00'])
    expect(hit_policies).toHaveLength(5)
    expect(lists).toContainEqual(expect.objectContaining({ list_key: 'countries' }))
    expect(toSummary(await call('POST /rules', { rule_key: 'functions', title: 'No' }))).toBe('409 list_key_reserved')
  })
})

describe('the seeded definitions of an installation', () => {
  test.each(['/risk-matrices', '/rules'])('%s: are in force and proved, and their golden cases pass', async (path) => {
    const { items } = (await call(`GET ${path}?origin=shared`)).json
    expect(items.length).toBeGreaterThan(1)
    for (const item of items) {
      const key = item.matrix_key ?? item.rule_key
      const one = (await call(`GET ${path}/${key}`)).json
      expect([key, one.active, one.attention]).toEqual([
        key,
        expect.objectContaining({ via: 'shared', version: item.head_version }),
        [],
      ])
      const report = (await call(`POST ${path}/${key}/versions/${item.head_version}/test`, {})).json
      const faults = report.results.flatMap(({ differences }: { differences: string[] }) => differences)
      expect([key, report.failed, faults]).toEqual([key, 0, []])
      expect(report.passed).toBeGreaterThan(1)
      const verdict = (await call(`POST ${path}/${key}/versions/${item.head_version}/validate`)).json
      expect([key, verdict.findings]).toEqual([key, []])
    }
  })
})
