/** The overview: each role gets its own section, figures match the rows they link to, and changes are described in words. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roles as allRoles, type Role } from '#kernel/auth/roles.ts'
import { ensureEvaluation } from '#modules/evaluations/fixtures.ts'
import { proposeActivation, runImpact } from '#modules/impact/fixtures.ts'
import { typeBody } from '#modules/reference-data/fixtures.ts'
import { newSubject } from '#modules/subjects/fixtures.ts'
import { countries, ensurePolicy } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

const getOverview = async (...roles: Role[]) =>
  t.make('GET /analytics/overview', { token: await t.token(roles.length > 0 ? roles : allRoles) })
/** The rows behind a figure. */
const listRows = async ({ rows }: { rows: { path: string; query: Record<string, string> } }) =>
  (await t.make(`GET ${rows.path.replace('/api', '')}?${new URLSearchParams({ ...rows.query, limit: '200' })}`)).items

describe('sections', () => {
  test('are those of the roles of the caller', async () => {
    const sections = async (role: Role) => {
      const overview = await getOverview(role)
      return ['approvals', 'analyst', 'policy_editor', 'auditor', 'tenant_admin'].filter(
        (name) => overview[name] !== null,
      )
    }
    expect(await sections('viewer')).toEqual([])
    expect(await sections('analyst')).toEqual(['analyst'])
    expect(await sections('policy_editor')).toEqual(['policy_editor'])
    expect(await sections('compliance_officer')).toEqual(['approvals'])
    expect(await sections('auditor')).toEqual(['auditor'])
    expect(await sections('tenant_admin')).toEqual(['approvals', 'tenant_admin'])
  })

  test('of an analyst count overrides that expire soon, and the link lists exactly these', async () => {
    const override = async (days: number) => {
      const subject_id = await newSubject(t)
      const expires_at = new Date(Date.now() + days * 86_400_000).toISOString()
      await t.make(`POST /subjects/${subject_id}/risk-override`, { body: { band: 'high', reason: 'news', expires_at } })
      return subject_id
    }
    const [soon, sooner] = [await override(10), await override(2)]
    await override(30)
    const { analyst } = await getOverview('analyst')
    expect(analyst.overrides_expiring).toMatchObject({ count: 2, is_capped: false })
    expect(analyst.next_overrides.map(({ subject_id }: { subject_id: string }) => subject_id)).toEqual([sooner, soon])
    const rows = await listRows(analyst.overrides_expiring)
    expect(new Set(rows.map(({ subject_id }: { subject_id: string }) => subject_id))).toEqual(new Set([soon, sooner]))
  })

  test('of an analyst show recent decisions that require an action', async () => {
    await ensureEvaluation(t)
    const { analyst } = await getOverview('analyst')
    const all = (await t.make('GET /evaluations?limit=200')).items
    const wanted = all.filter(({ required_actions }: { required_actions: string[] }) => required_actions.length > 0)
    expect(analyst.decisions_with_actions.map(({ evaluation_id }: { evaluation_id: string }) => evaluation_id)).toEqual(
      wanted.slice(0, 8).map(({ evaluation_id }: { evaluation_id: string }) => evaluation_id),
    )
  })

  test('of a policy editor hold the drafts of the caller', async () => {
    const definition = { inputs: [] }
    await t.make('POST /rules', { body: { rule_key: 'mine', title: 'My rule', definition } })
    await t.make('POST /providers', { body: { provider_key: 'register', title: 'My register', definition } })
    const theirs = await t.token(allRoles, t.author)
    await t.make('POST /rules', { body: { rule_key: 'theirs', title: 'Their rule', definition }, token: theirs })
    const { policy_editor } = await getOverview('policy_editor')
    expect(policy_editor.drafts).toMatchObject([
      { family: 'provider', key: 'register', title: 'My register', based_on: null },
      { family: 'rule', key: 'mine', title: 'My rule', based_on: null },
    ])
  })

  test('name the lists in force that are out of date as the lists do, to editors, officers and auditors', async () => {
    const list_key = 'old-countries'
    await t.make('POST /reference-data/types', { body: { type_key: 'old-country', ...typeBody() } })
    await t.make('POST /reference-data/datasets', {
      body: { list_key, type_key: 'old-country', title: 'Old countries', stale_after_days: 30 },
    })
    const path = `/reference-data/datasets/${list_key}`
    const { version } = await t.make(`POST ${path}/versions`, { body: { data: typeBody().examples } })
    const effective_from = '2020-01-01T00:00:00Z'
    await t.make(`POST ${path}/activations`, { body: { version, reason: 'in use for long', effective_from } })
    const { items } = await t.make('GET /reference-data/datasets?origin=own&limit=200')
    const stale = items
      .filter((list: { stale_since: string | null }) => list.stale_since !== null)
      .map(({ list_key: key, stale_since }: { list_key: string; stale_since: string }) => ({ key, stale_since }))
    expect(stale).toMatchObject([{ key: list_key }])
    for (const role of ['policy_editor', 'compliance_officer', 'auditor'] as const) {
      expect((await getOverview(role)).definitions_due).toMatchObject(stale)
    }
    expect((await getOverview('analyst')).definitions_due).toBeNull()
  })

  test('of an administrator count users by state and name unused or expiring keys', async () => {
    await t.newUser()
    await t.make('POST /api-keys', { body: { name: 'short', roles: ['service'], expires_in_days: 10 } })
    await t.make('POST /api-keys', { body: { name: 'long', roles: ['service'], expires_in_days: 300 } })
    const { tenant_admin } = await getOverview('tenant_admin')
    expect(tenant_admin.keys_to_check).toMatchObject([{ name: 'short', why: 'expiring' }])
    for (const figure of Object.values(tenant_admin.users) as Parameters<typeof listRows>[0][]) {
      expect(await listRows(figure)).toHaveLength((figure as unknown as { count: number }).count)
    }
  })

  test('of an auditor hold the last verification and what was put in force', async () => {
    await ensurePolicy(t)
    const verification_id = await t.auditRun('verification')
    const { auditor } = await getOverview('auditor')
    expect(auditor.last_verification).toMatchObject({ verification_id, intact: true, state: 'succeeded' })
    expect(auditor.policy_changes[0].summary).toMatch(/: version 1 put in force$/)
  })
})

/** Requests and reviews that need another role, more of them than the overview counts; written directly, as the API would take minutes. */
const insertOthersWork = async (tenant: ExampleTenant) =>
  tenant.write(async (tx) => {
    const many = `select $1, gen_random_uuid(), 'roles', 'updateUserRoles', '{}'::jsonb, 'tenant_admin'`
    await tx.run(
      `insert into app.change_request (tenant_id, cr_id, action, operation, params, required_role, content_hash, approvers, created_by)
       ${many}, 'x', 1, 'user:somebody' from generate_series(1, 260)`,
      [tx.tenant_id],
    )
    await tx.run(
      `insert into app.break_glass_review (tenant_id, review_id, action, operation, params, required_role, reason, created_by, created_at)
       ${many}, 'Outage', 'user:somebody', now() + interval '1 hour' from generate_series(1, 260)`,
      [tx.tenant_id],
    )
    await tx.run(
      `insert into app.job (tenant_id, job_id, kind, state, payload, created_by, finished_at)
       select $1, gen_random_uuid(), 'housekeeping', state, '{}', 'user:somebody', now() - age
         from (select 'succeeded' as state, interval '1 minute' as age from generate_series(1, 260)
               union all select 'failed', interval '1 hour') j`,
      [tx.tenant_id],
    )
  })

test('names for each figure a request that exists', async () => {
  const figures: { rows: { operation: string; path: string } }[] = []
  JSON.stringify(await getOverview(), (_, value) => {
    if (value?.rows?.operation) figures.push(value)
    return value
  })
  expect(figures).toHaveLength(6)
  for (const { rows } of figures) {
    const route = w.kernel.routes.find(({ id }) => id === rows.operation)
    expect(`GET ${rows.path}`).toBe(`${route?.method} /api${route?.path}`)
  }
})

describe('a change request that waits', () => {
  test('is described with versions, differences and measured impact, to approvers and to its author', async () => {
    await ensureEvaluation(t)
    const [country, ...others] = countries as Record<string, unknown>[]
    const cr_id = await proposeActivation(t, { require_impact: true }, [
      { ...country, score_bps: 9_999 },
      ...others,
      { code: 'ZZ', score_bps: 10 },
    ] as object[])
    const find = async () => {
      const { approvals } = await getOverview('compliance_officer')
      expect(await listRows(approvals.waiting)).toHaveLength(approvals.waiting.count)
      return approvals.inbox.find((change: { cr_id: string }) => change.cr_id === cr_id)
    }
    expect(await find()).toMatchObject({ impact: 'missing', approvals: 0, approvers: 1 })
    await runImpact(t, `POST /change-requests/${cr_id}/impact`)
    const measured = await find()
    expect(measured.impact).toBe('measured')
    expect(measured.summary).toMatch(/: version 1 → \d+, 1 added, 1 changed, .*customer/)
    const author = await t.token(['policy_editor'], t.author)
    const { proposals, approvals } = await t.make('GET /analytics/overview', { token: author })
    expect(proposals).toMatchObject([{ cr_id, summary: measured.summary }])
    expect(approvals).toBeNull()
  })

  test('is to be rejected or withdrawn when another change came into force first', async () => {
    const [first, second] = [
      await proposeActivation(t, {}, [{ code: 'AA', score_bps: 1 }]),
      await proposeActivation(t, {}, [{ code: 'AA', score_bps: 2 }]),
    ]
    const waiting = async () => (await getOverview('compliance_officer')).approvals
    const count = (await waiting()).waiting.count
    await t.make(`POST /change-requests/${first}/approve`, { body: {} })
    const { inbox, waiting: figure } = await waiting()
    expect(inbox.find(({ cr_id }: { cr_id: string }) => cr_id === second).summary).toMatch(
      /^No longer applicable, to be/,
    )
    expect(figure.count).toBe(count - 1)
    expect(await listRows(figure)).toHaveLength(figure.count)
    const author = await t.token(['policy_editor'], t.author)
    const { proposals } = await t.make('GET /analytics/overview', { token: author })
    expect(proposals.find(({ cr_id }: { cr_id: string }) => cr_id === second).summary).toMatch(/^No longer applicable/)
  })

  test('is found behind any number of requests for other roles', async () => {
    const busy = await ExampleTenant.create(w)
    await insertOthersWork(busy)
    const cr_id = await busy.newChangeRequest('compliance_officer')
    await busy.newReview('compliance_officer')
    const officer = await busy.make('GET /analytics/overview', { token: await busy.token(['compliance_officer']) })
    expect(officer.approvals).toMatchObject({
      waiting: { count: 1, is_capped: false },
      inbox: [{ cr_id }],
      emergency_changes: { count: 1, is_capped: false },
    })
    const admin = await busy.make('GET /analytics/overview', { token: await busy.token(['tenant_admin']) })
    expect(admin.approvals).toMatchObject({
      waiting: { count: 200, is_capped: true },
      emergency_changes: { count: 200, is_capped: true },
    })
    expect(admin.tenant_admin.failed_jobs).toMatchObject([{ kind: 'housekeeping', reason: null }])
  })

  test('names its customer only to those who may read customers', async () => {
    const subject_id = await newSubject(t)
    const { name } = await t.make(`GET /subjects/${subject_id}`)
    await t.setApprovalRules([{ action: 'risk-override', approvers: 1, role: 'tenant_admin' }])
    const expires_at = new Date(Date.now() + 86_400_000).toISOString()
    const token = await t.token(['analyst'], t.author)
    const body = { band: 'high', reason: 'news', expires_at }
    const { cr_id } = await t.make(`POST /subjects/${subject_id}/risk-override`, { token, body })
    await t.setApprovalRules([])
    const summarise = async (...roles: Role[]) =>
      (await getOverview(...roles)).approvals.inbox.find((change: { cr_id: string }) => change.cr_id === cr_id).summary
    expect(await summarise('tenant_admin')).toBe('A customer: override the rating, high')
    expect(await summarise('tenant_admin', 'viewer')).toBe(`${name}: override the rating, high`)
    await t.make(`POST /change-requests/${cr_id}/withdraw`, { token, body: {} })
  })

  test('is redacted for an author who lost the role, as the change request is', async () => {
    const cr_id = await proposeActivation(t, { require_impact: true })
    const read = async (roles: Role[], path: string) => t.make(`GET ${path}`, { token: await t.token(roles, t.author) })
    const find = async (roles: Role[]) =>
      (await read(roles, '/analytics/overview')).proposals.find((change: { cr_id: string }) => change.cr_id === cr_id)
    expect(await find(['policy_editor'])).toMatchObject({ operation: 'activateDatasetVersion', impact: 'missing' })
    expect(await read(['viewer'], `/change-requests/${cr_id}`)).toEqual({
      cr_id,
      action: 'activation',
      state: 'open',
      restriction_id: null,
    })
    expect(await find(['viewer'])).toEqual({
      cr_id,
      action: 'activation',
      operation: null,
      restriction_id: null,
      summary: 'Activation: your roles do not show what changes',
      approvals: null,
      approvers: null,
      impact: null,
      created_at: expect.any(String),
      created_by: t.author,
    })
    const token = await t.token(allRoles, t.author)
    await t.make(`POST /change-requests/${cr_id}/withdraw`, { token, body: {} })
  })
})
