/** The demo data: complete after interruptions and concurrent starts, the same counts everywhere, and the outcomes of docs/demo.md. */
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { examinePack } from '#app/cli/verify-pack.ts'
import { ApprovalRequired, DemoCaller } from '#app/demo/demo-caller.ts'
import { type DemoDataResult, seedDemoData } from '#app/demo/demo-data.ts'
import { readDemoFiles } from '#app/demo/demo-files.ts'
import { buildPortfolio } from '#app/demo/portfolio.ts'
import { demoTenants, seed } from '#app/seed.ts'
import type { Role } from '#kernel/auth/roles.ts'
import type { JobRunner } from '#kernel/job/runner.ts'
import { projectRoot } from './support/database.ts'
import { readStatedCalls, readStatedNumbers, readStatedOutcomes } from './support/demo-document.ts'
import { startTestApp, type TestApp } from './support/test-app.ts'

const [demo, empty] = demoTenants as [(typeof demoTenants)[0], (typeof demoTenants)[0]]
let app: TestApp
let runner: JobRunner
let reader: pg.Client
let url: string
let results: DemoDataResult[]

const count = async (table: string, where = 'true'): Promise<number> => {
  const { rows } = await reader.query(`select count(*)::int as n from app.${table} where tenant_id = $1 and ${where}`, [
    demo.tenant_id,
  ])
  return rows[0].n
}

const countDistinct = async (table: string, column: string): Promise<number> => {
  const { rows } = await reader.query(
    `select count(distinct ${column})::int as n from app.${table} where tenant_id = $1`,
    [demo.tenant_id],
  )
  return rows[0].n
}

const countOpenTransactions = async (): Promise<number> => {
  const { rows } = await reader.query(
    `select count(*)::int as n from pg_stat_activity
      where datname = current_database() and usename = 'app' and state <> 'idle'`,
  )
  return rows[0].n
}

/** Requests that the server finishes, also those whose caller was interrupted. */
const sent: Promise<unknown>[] = []

const addData = (signal: AbortSignal) => {
  const interrupted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  interrupted.catch(() => {})
  return seedDemoData({
    url,
    egress: {
      request: ({ signal: _, ...request }) => {
        const reply = app.kernel.egress.request(request)
        sent.push(reply)
        return Promise.race([reply, interrupted])
      },
    },
    issuer: app.kernel.issuer,
    steward: app.steward,
    connection: app.clone.steward,
    project_root: projectRoot,
    signal,
    log: app.kernel.log,
  })
}

const callAs = async (role: Role, route: string, body?: unknown) => {
  const user = demo.users.find(({ roles }) => roles.includes(role)) as (typeof demo.users)[0]
  const token = await app.token({ tenant_id: demo.tenant_id, principal: `user:${user.user_id}`, roles: [role] })
  return app.call(route, { token, ...(body !== undefined && { body }) })
}

/** A long poll ends with every change of the job, so that one is not enough. */
const waitForJob = async (job_id: string, role: Role = 'analyst') => {
  for (;;) {
    const { json: job } = await callAs(role, `GET /api/jobs/${job_id}?wait=8`)
    if (job.state !== 'queued' && job.state !== 'running') return job
  }
}

const countAll = async () => ({
  subjects: await count('subject'),
  decisions: await count('evaluation'),
  batches: await count('batch_evaluation'),
  items: await count('batch_item'),
  ratings: await count('rating', `cause in ('evaluation', 'batch')`),
  overrides: await count('rating', `cause = 'override'`),
  ended: await count('rating', `cause = 'override-ended'`),
  versions: await count('dataset_version'),
  activations: await count('activation'),
  proposals: await count('change_request'),
  impact_runs: await count('impact_run'),
  schedules: await count('batch_schedule'),
  bulk_files: await count('subject_bulk'),
  calls: await count('provider_call'),
  answers: await count('provider_answer'),
  quarantined: await count('quarantine_item', `state = 'open'`),
  credential_versions: await count('provider_credential_version'),
  alerts: await count('alert'),
  reports: await count('alert_occurrence'),
  documents: await count('document', `state = 'stored'`),
  evidence: await count('evidence_item'),
  holds: await count('hold', `state = 'active'`),
  restrictions: await count('restriction', 'is_in_force'),
  erasures: await count('erasure', `state = 'done'`),
  open_cases: await count('investigation', `state = 'open'`),
  closed_cases: await count('investigation', `state = 'closed'`),
  case_reports: await count('report', `state = 'ready'`),
  plugin_runs: await count('plugin_invocation'),
  imports: await count('dataset_import'),
  tool_calls: await count('mcp_call'),
  tool_approvals: await count('mcp_approval'),
  tool_servers: await count('tool_server'),
})

/** An administrator sets an approval policy before the data is complete: every later start stops and adds nothing. */
async function refuseAddingUnderForeignPolicy() {
  const rules = ['activation', 'risk-override'].map((action) => ({ action, role: 'compliance_officer', approvers: 1 }))
  // Under the rules of the demo data, which may be there already, a change of them would need approval.
  await app.setApprovalRules(demo.tenant_id, rules)
  const before = await countAll()
  for (let start = 1; start <= 2; start++) {
    await expect(addData(new AbortController().signal)).rejects.toThrow(
      /approval policy of the tenant demo was changed/,
    )
  }
  expect(await countAll()).toEqual(before)
  await app.setApprovalRules(demo.tenant_id, [])
}

/** Begins to add the data, and stops when the table has so many rows. */
async function interruptAt(table: string, rows: number) {
  const interruption = new AbortController()
  const interrupted = addData(interruption.signal)
  interrupted.catch(() => {})
  await vi.waitUntil(async () => (await count(table)) >= rows, { timeout: 180_000, interval: 20 })
  interruption.abort()
  await expect(interrupted).rejects.toThrow()
  // A process that is killed takes its open requests with it; here the server lives on and finishes them.
  const isQuiet = async () =>
    (await countOpenTransactions()) === 0 && (await count('job', `state in ('queued', 'running')`)) === 0
  await Promise.allSettled(sent)
  await vi.waitUntil(isQuiet, { timeout: 180_000, interval: 20 })
}

beforeAll(async () => {
  app = await startTestApp()
  await seed(app.seedContext, { demo: true })
  reader = new pg.Client(app.clone.postgres)
  await reader.connect()
  runner = app.runtime.createRunner(4, { poll_ms: 50 })
  runner.start()
  url = await app.listen()
  // Interrupted while customers are rated one by one: some requests have been answered, others have not.
  await interruptAt('evaluation', 20)
  await refuseAddingUnderForeignPolicy()
  // Interrupted again after the first part is complete, as an upgrade from a release without providers finds it; then within the cases.
  await interruptAt('provider_call', 2)
  await interruptAt('investigation', 1)
  const { signal } = new AbortController()
  results = await Promise.all([addData(signal), addData(signal)])
  // What hangs is found, and what waits for a busy machine is not taken for it.
}, 600_000)

afterAll(async () => {
  await runner?.stop(10_000)
  await reader?.end()
  await app?.close()
})

test('an interrupted run and two processes at once leave the data of one run', async () => {
  expect(results.toSorted()).toEqual(['added', 'kept'])
  const counts = await countAll()
  expect(counts).toEqual({
    // One of them was erased.
    subjects: 511,
    decisions: 54,
    batches: 10,
    items: 1106,
    ratings: 1155,
    overrides: 9,
    ended: 1,
    versions: 21,
    activations: 18,
    proposals: 13,
    impact_runs: 7,
    schedules: 1,
    bulk_files: 1,
    // Two countries were looked up for the cases, and one company.
    calls: 11,
    answers: 9,
    quarantined: 1,
    credential_versions: 1,
    alerts: 10,
    reports: 12,
    documents: 3,
    evidence: 9,
    holds: 1,
    restrictions: 1,
    erasures: 1,
    open_cases: 1,
    closed_cases: 1,
    case_reports: 1,
    plugin_runs: 4,
    imports: 1,
    tool_calls: 6,
    tool_approvals: 1,
    tool_servers: 1,
  })
  expect(await addData(new AbortController().signal)).toBe('kept')
  expect(await countAll()).toEqual(counts)
})

// Before the tests that add decisions and calls.
test('docs/demo.md states the counts of what was added', async () => {
  const { rows: bands } = await reader.query(
    `select case when r.override_until > now() then r.override_band else r.rated_band end as band, count(*)::int as n
       from app.subject s left join app.subject_risk r using (tenant_id, subject_id)
      where s.tenant_id = $1 and s.erased_at is null group by 1`,
    [demo.tenant_id],
  )
  const countBand = (band: string | null) => bands.find((row) => row.band === band)?.n
  const isCustomer = (type: string) => `subject_type = '${type}' and erased_at is null`
  const { json: calls } = await callAs('auditor', 'GET /api/providers/calls?limit=100')
  const countCalls = (state: string) => calls.items.filter((call: { state: string }) => call.state === state).length
  const verified = `definition_key = 'customer-risk-company-verified'`
  const failedLastNight = `state = 'failed' and batch_id in (select batch_id from app.batch_evaluation where note like 'Nightly%')`
  const counts: readonly (readonly [pattern: RegExp, counted: readonly number[]])[] = [
    [
      /(\d+) customers: (\d+) persons and (\d+) companies in (\w+) segments/,
      [
        await count('subject', 'erased_at is null'),
        await count('subject', isCustomer('person')),
        await count('subject', isCustomer('company')),
        await countDistinct('subject', 'segment'),
      ],
    ],
    [
      /(\d+) single decisions, and (\d+) batches with (\d+) items/,
      [await count('evaluation'), await count('batch_evaluation'), await count('batch_item')],
    ],
    [
      /now: (\d+) low, (\d+) medium, (\d+) high, (\d+) prohibited; (\d+) not rated/,
      ['low', 'medium', 'high', 'prohibited', null].map(countBand),
    ],
    [/(\w+) batches last night,/, [await count('batch_evaluation', `note like 'Nightly rating%'`)]],
    [/(\w+) items failed/, [await count('batch_item', failedLastNight)]],
    [
      /(\w+) overrides with a reason and an expiry, (\w+) of them ended early/,
      [await count('rating', `cause = 'override'`), await count('rating', `cause = 'override-ended'`)],
    ],
    [/and (\w+) approved ones/, [await count('change_request', `state = 'approved'`)]],
    [
      /\| (\w+) investigations: (\w+) that waits for information, and (\w+) that is closed/,
      [
        await count('investigation'),
        await count('investigation', `state = 'open'`),
        await count('investigation', `state = 'closed'`),
      ],
    ],
    [/\| (\w+) documents: /, [await count('document', `state = 'stored'`)]],
    [
      /\| (\w+) calls, .*: (\w+) answered, (\w+) in quarantine, (\w+) failed, (\w+) whose outcome is unknown/,
      [await count('provider_call'), ...['answered', 'quarantined', 'failed', 'outcome_unknown'].map(countCalls)],
    ],
    [
      /calls, (\w+) of them of a shared provider/,
      [await count('provider_call', `provider_key <> 'larkfield-register'`)],
    ],
    [/(\w+) decisions that cite an answer as evidence/, [await count('evaluation', verified)]],
    [
      /(\w+) companies belong to it; (\w+) have fixed/,
      [readDemoFiles(projectRoot).providers.subjects.length, statedCalls.length],
    ],
    [
      /\| (\w+) plugins in force; (\w+) decisions and an import ran them/,
      [
        (await callAs('viewer', 'GET /api/plugins?origin=own')).json.items.filter(({ runs }: { runs: boolean }) => runs)
          .length,
        await count('evaluation', `definition_key = 'board-stability'`),
      ],
    ],
    [
      /\| (\w+) tool calls of an assistant: (\w+) succeeded, (\w+) was forbidden and (\w+) waits/,
      [
        await count('mcp_call'),
        await count('mcp_call', 'problem is null'),
        await count('mcp_call', `problem = 'tool_forbidden'`),
        await count('mcp_approval', 'decided_at is null'),
      ],
    ],
    [/from (\w+) sources: /, [await countDistinct('alert', 'source')]],
  ]
  for (const [pattern, counted] of counts) expect(readStatedNumbers(pattern), String(pattern)).toEqual(counted)
})

test('plugins and tools were used: decisions cite a plugin, a row was rejected by another, and calls name their program', async () => {
  const { json: decided } = await callAs('analyst', 'GET /api/evaluations?matrix_key=board-stability')
  const [{ evaluation_id }] = decided.items
  const { json: decision } = await callAs('analyst', `GET /api/evaluations/${evaluation_id}`)
  expect(decision.plugins).toMatchObject([{ plugin_key: 'board-turnover', result: { reason_code: 'BOARD_CHANGED' } }])
  const { json: imports } = await callAs('analyst', 'GET /api/reference-data/imports?list_key=branch-reports')
  expect(imports.items).toMatchObject([
    { adapter_key: 'plugin:branch-watchlist', counts: { accepted: 4, rejected: 1 } },
  ])
  const { json: calls } = await callAs('auditor', 'GET /api/mcp/calls')
  expect(new Set(calls.items.map(({ client }: { client: string }) => client))).toEqual(new Set(['Desk assistant 1.4']))
  expect((await callAs('tenant_admin', 'GET /api/mcp/servers')).json.items).toMatchObject([
    { server_key: 'larkfield-tools' },
  ])
})

test('the inbox has alerts of every priority, one waits for a second person, and one is known to named people only', async () => {
  const list = async (role: Role, query = '') => (await callAs(role, `GET /api/alerts?limit=50${query}`)).json.items
  const seen = await list('compliance_officer')
  expect(new Set(seen.map(({ priority }: { priority: string }) => priority)).size).toBe(4)
  expect(await list('compliance_officer', '&dismissal=waiting_for_me')).toMatchObject([{ source: 'screening' }])
  expect([seen.length, (await list('auditor')).length]).toEqual([10, 9])
  const [erasure] = (await callAs('auditor', 'GET /api/erasures')).json.items
  expect((await callAs('auditor', `GET /api/erasures/${erasure.erasure_id}/certificate`)).status).toBe(200)
})

describe('investigations of the demo tenant', () => {
  const findCase = async (external_id: string) => {
    const { json } = await callAs('analyst', `GET /api/investigations?subject_id=${await findSubjectId(external_id)}`)
    return (await callAs('analyst', `GET /api/investigations/${json.items[0].investigation_id}`)).json
  }

  test('an open one is half gathered: it waits for one task and for information', async () => {
    const { state, gathering, steps, counts, next_actions } = await findCase('C-90002')
    expect([state, gathering]).toEqual(['open', 'partial'])
    const keys = (name: string) =>
      (steps as { step_key: string; state: string }[])
        .filter((step) => step.state === name)
        .map(({ step_key }) => step_key)
    expect(keys('succeeded')).toEqual(['registry', 'prohibited-country', 'media', 'business', 'register-extract'])
    expect([keys('waiting'), keys('pending')]).toEqual([['owners'], ['structure', 'screening', 'rating', 'exit-plan']])
    expect(counts).toMatchObject({ information_requests_open: 1, tasks_open: 1, evidence: 3, notes: 2 })
    const proposing = next_actions.find(({ action }: { action: string }) => action === 'propose_outcome')
    expect(proposing.missing.map(({ code }: { code: string }) => code)).toContain('information_open')
  })

  test('a closed one has a sealed narrative that cites evidence, a pack that verifies, and a report that can be made again', async () => {
    const found = await findCase('P-00329')
    expect(found).toMatchObject({ state: 'closed', outcome: 'INV_NO_SUSPICION', seals: 1 })
    expect(found.closed_by).not.toBe(found.proposal.proposed_by)
    const at = `/api/investigations/${found.investigation_id}`
    const { json: narrative } = await callAs('auditor', `GET ${at}/narrative?verify=true`)
    expect(narrative.findings).toEqual([])
    expect(narrative.paragraphs.flatMap(({ cites }: { cites: string[] }) => cites)).toHaveLength(6)
    // Its texts speak of the country that the customer has, the one that the playbook looks up.
    const { json: customers } = await callAs('auditor', 'GET /api/subjects?external_id=P-00329')
    const [customer] = customers.items
    expect([customer.attributes.residence_country, customer.attributes.nationalities]).toEqual(['RS', ['RS']])
    expect(JSON.stringify(narrative.paragraphs)).toContain('Serbia is not a prohibited country')
    const { json: checkpoints } = await callAs('auditor', 'GET /api/audit/checkpoints')
    const pack = await callAs('auditor', `GET ${at}/pack`)
    const examined = await examinePack(pack.bytes, checkpoints.public_key)
    expect(examined).toMatchObject({ faults: [], evidence: 5 })
    expect([examined.proposed_by, examined.closed_by].map((actor) => examined.people[actor ?? ''])).toEqual([
      ...['Anton Analyst', 'Clara Compliance'],
    ])
    // A narrative can begin with what the alert said and providers answered, not only with when they were asked.
    const begun: string[] = narrative.skeleton.map(({ text }: { text: string }) => text)
    expect(begun.filter((text) => text.startsWith('Alert of '))).toEqual([expect.stringMatching(/, .+: .+: .+/)])
    expect(begun).toContainEqual(expect.stringMatching(/^Prohibited country: (nothing|an entry) was found \(Provider /))
    const { json: reports } = await callAs('auditor', 'GET /api/reports?template_key=investigation-pack')
    const [{ report_id, files, state }] = reports.items
    const { json: capabilities } = await callAs('auditor', 'GET /api/capabilities')
    const formats = files.map(({ format }: { format: string }) => format)
    expect([state, formats]).toEqual(['ready', capabilities.report_formats.toSorted()])
    const { json: job } = await callAs('auditor', `POST /api/reports/${report_id}/verify`)
    expect((await waitForJob(job.job_id, 'auditor')).result).toMatchObject({ is_identical: true })
  })
})

test('the second demo tenant stays empty', async () => {
  const { rows } = await reader.query('select 1 from app.subject where tenant_id = $1', [empty.tenant_id])
  expect(rows).toEqual([])
})

test('the bands, and the numbers of ratings of a customer, are as stated', async () => {
  const { rows: bands } = await reader.query(
    `select coalesce(case when r.override_until > now() then r.override_band end, r.rated_band) as band, count(*)::int as n
       from app.subject s left join app.subject_risk r using (tenant_id, subject_id)
      where s.tenant_id = $1 and s.erased_at is null group by 1`,
    [demo.tenant_id],
  )
  expect(Object.fromEntries(bands.map(({ band, n }) => [band, n]))).toEqual({
    low: 354,
    medium: 87,
    high: 51,
    prohibited: 9,
    null: 9,
  })
  const { rows: points } = await reader.query(
    `select n, count(*)::int as subjects from (select count(*)::int as n from app.rating where tenant_id = $1
        and cause in ('evaluation', 'batch') group by subject_id) x group by n order by n`,
    [demo.tenant_id],
  )
  expect(points.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5])
  expect(points.reduce((sum, { subjects }) => sum + subjects, 0)).toBe(501)
})

test('decisions hold over the past year and were recorded by people of the tenant', async () => {
  const { rows } = await reader.query(
    `select min(valid_at) > now() - interval '370 days' as young, max(valid_at) <= now() as past,
            max(valid_at) - min(valid_at) > interval '300 days' as year, min(recorded_at) > now() - interval '1 hour' as recorded,
            bool_and(actor like 'user:%' or actor like 'job:%') as named
       from app.rating where tenant_id = $1 and cause in ('evaluation', 'batch')`,
    [demo.tenant_id],
  )
  expect(rows).toEqual([{ young: true, past: true, year: true, recorded: true, named: true }])
  const { rows: others } = await reader.query(
    `select distinct actor from app.audit_event where tenant_id = $1 and actor like 'user:%' and not (actor = any($2))`,
    [demo.tenant_id, demo.users.map(({ user_id }) => `user:${user_id}`)],
  )
  expect(others).toEqual([])
})

test('one list is stale, one change waits with its impact, and another was approved by an officer', async () => {
  const { json: lists } = await callAs('viewer', 'GET /api/reference-data/datasets?origin=own')
  const stale = lists.items.filter((list: { stale_since: string | null }) => list.stale_since !== null)
  expect(stale.map((list: { list_key: string }) => list.list_key)).toEqual(['legacy-product-risk'])
  const { json: changes } = await callAs('compliance_officer', 'GET /api/change-requests')
  const ofLists = changes.items.filter(({ params }: { params: object }) => 'list_key' in params)
  const [open, approved] = ['open', 'approved'].map((wanted) =>
    ofLists.find(({ state }: { state: string }) => state === wanted),
  )
  expect(approved).toMatchObject({ params: { list_key: 'internal-watchlist' }, require_impact: true })
  expect(open).toMatchObject({ params: { list_key: 'risk-bands' }, require_impact: true })
  const { json: impact } = await callAs('compliance_officer', `GET /api/change-requests/${open.cr_id}/impact`)
  expect(impact).toMatchObject({ state: 'succeeded', stale: false })
  expect(impact.result.flips).toBeGreaterThan(20)
  const { json: matrix } = await callAs('policy_editor', 'GET /api/risk-matrices/private-banking-risk')
  expect(matrix.draft).not.toBeNull()
})

const stated = readStatedOutcomes()

test('docs/demo.md states an outcome for every subject with a fixed one', () => {
  const { magic } = readDemoFiles(projectRoot)
  expect(stated.map(({ external_id }) => external_id)).toEqual(magic.subjects.map(({ external_id }) => external_id))
})

test.each(stated)('$external_id gets the outcome that docs/demo.md states', async (row) => {
  const found = await callAs('analyst', `GET /api/subjects?external_id=${row.external_id}`)
  const { subject_id } = found.json.items[0]
  const { json: risk } = await callAs('analyst', `GET /api/subjects/${subject_id}/risk`)
  expect(risk.band === null ? 'none' : `${risk.band}, by ${risk.source}`).toBe(row.in_force)
  const body = { matrix_key: row.matrix_key, subject_id }
  const reply = await callAs('analyst', 'POST /api/evaluations', body)
  expect(reply.status).toBe(row.status)
  if (row.status === 201) {
    const { band, score_bps, required_actions, reason_codes } = row
    expect(reply.json.outcome).toMatchObject({ band, score_bps, required_actions, reason_codes })
  } else {
    expect(reply.json).toMatchObject({ code: 'inputs_refused', errors: [{ pointer: '#/inputs/source_of_funds' }] })
  }
})

const statedCalls = readStatedCalls()
const findSubjectId = async (external_id: string): Promise<string> =>
  (await callAs('analyst', `GET /api/subjects?external_id=${external_id}`)).json.items[0].subject_id

describe('providers of the demo tenant', () => {
  test('a contract was replaced, a register answers from recordings, and one credential is missing', async () => {
    const { json: contract } = await callAs('viewer', 'GET /api/source-contracts/larkfield-company-extract/activations')
    expect(contract.items.map(({ version }: { version: number }) => version)).toEqual([2, 1])
    const { json: mode } = await callAs('viewer', 'GET /api/providers/larkfield-register/mode')
    expect(mode.mode).toBe('recorded')
    const { json: credentials } = await callAs('tenant_admin', 'GET /api/provider-credentials')
    expect(credentials.items).toMatchObject([
      { provider_key: 'larkfield-register', active_version: 1, staged_version: null, gap: null },
    ])
    const { json: gaps } = await callAs('tenant_admin', 'GET /api/provider-credentials/gaps')
    expect(gaps.items).toMatchObject([{ provider_key: 'harbour-media', reason: 'absent' }])
    const { json: capabilities } = await callAs('analyst', 'GET /api/capabilities')
    expect(capabilities.providers).toEqual(['larkfield-register', 'prohibited-jurisdiction-check'])
  })

  test('calls ended in every way, and one payload waits in quarantine', async () => {
    const { json } = await callAs('auditor', 'GET /api/providers/calls?provider_key=larkfield-register')
    const states = json.items.map(({ state }: { state: string }) => state).toSorted()
    expect(states).toEqual([
      ...['answered', 'answered', 'answered', 'answered', 'answered', 'answered'],
      ...['failed', 'outcome_unknown', 'quarantined'],
    ])
    const { json: quarantine } = await callAs('compliance_officer', 'GET /api/source-contracts/quarantine')
    expect(quarantine.items).toMatchObject([
      {
        contract_key: 'larkfield-company-extract',
        state: 'open',
        violations: [{ pointer: '/country' }, { pointer: '/ownership/layers' }],
      },
    ])
  })

  test('decisions cite the answers of the register and can be replayed', async () => {
    const subject_id = await findSubjectId('PROVIDER-OWNERS-UNKNOWN')
    const { json } = await callAs('auditor', `GET /api/evaluations?subject_id=${subject_id}`)
    const [{ evaluation_id }] = json.items
    const { json: decision } = await callAs('auditor', `GET /api/evaluations/${evaluation_id}`)
    expect(decision.evidence).toMatchObject([
      { contract_key: 'larkfield-company-extract', contract_version: 2, mode: 'recorded' },
    ])
    const { json: replay } = await callAs('auditor', `POST /api/evaluations/${evaluation_id}/replay`)
    expect(replay).toMatchObject({ verdict: 'identical', evidence: [{ payload: 'verified' }] })
  })

  test('a factor and an adapter are plugins in force that run', async () => {
    const { json } = await callAs('policy_editor', 'GET /api/plugins')
    expect(json.items).toMatchObject([
      { plugin_key: 'board-turnover', kind: 'factor', runs: true, reasons: [] },
      { plugin_key: 'branch-watchlist', kind: 'adapter', runs: true, reasons: [] },
    ])
    const { json: adapters } = await callAs('policy_editor', 'GET /api/reference-data/adapters?limit=200')
    const offered = adapters.items.filter((one: { plugin: object | null }) => one.plugin !== null)
    expect(offered).toMatchObject([{ title: 'Watch list of the branches', plugin: { runs: true } }])
    const body = { input: { directors: 4, changes: 1 } }
    const ran = await callAs('policy_editor', 'POST /api/plugins/board-turnover/versions/1/run', body)
    expect([ran.status, ran.json.output]).toMatchObject([200, { score_bps: 2500, reason_code: 'BOARD_CHANGED' }])
  })

  test('approving a contract or provider waits for no impact run, approving a matrix does', async () => {
    const { json } = await callAs('compliance_officer', 'GET /api/change-requests?state=approved')
    const required = json.items.map((change: { operation: string; require_impact: boolean }) => [
      change.operation,
      change.require_impact,
    ])
    expect(Object.fromEntries(required)).toEqual({
      activateDatasetVersion: true,
      activatePluginVersion: true,
      activateRiskMatrixVersion: true,
      activateRuleVersion: true,
      activateProviderVersion: false,
      activateSourceContractVersion: false,
    })
  })

  test('a person enters the answer of the call whose outcome is unknown', async () => {
    const { json } = await callAs('auditor', 'GET /api/providers/calls?capability=extract.order')
    const [{ call_id }] = json.items
    const reply = await callAs('analyst', `POST /api/providers/calls/${call_id}/answer`, {
      result: 'found',
      media_type: 'application/json',
      content: '{"order_number":"O-100504","accepted":true}',
      reason: 'Confirmed by the register on the telephone',
    })
    expect(reply.status).toBe(202)
    await waitForJob(reply.json.job_id)
    const { json: call } = await callAs('auditor', `GET /api/providers/calls/${call_id}`)
    expect(call).toMatchObject({ state: 'answered', answer: { source: 'person' } })
  })

  test('docs/demo.md states an outcome for every subject with a fixed one', () => {
    const { subjects } = readDemoFiles(projectRoot).providers
    const fixed = subjects.map(({ external_id }) => external_id).filter((id) => id.startsWith('PROVIDER-'))
    expect(statedCalls.map(({ external_id }) => external_id)).toEqual(fixed)
  })

  test.each(statedCalls)('$external_id gets the outcome that docs/demo.md states', async (row) => {
    const subject_id = await findSubjectId(row.external_id)
    const register_number = readDemoFiles(projectRoot).providers.subjects.find(
      ({ external_id }) => external_id === row.external_id,
    )?.attributes['register_number']
    const name = row.asked === 'adverse-media-report' ? 'rule_key' : 'matrix_key'
    const reply =
      row.operation === 'POST /api/evaluations/async'
        ? await callAs('analyst', row.operation, { [name]: row.asked, subject_id })
        : await callAs('analyst', row.operation, { capability: row.asked, input: { register_number }, subject_id })
    expect(reply.status).toBe(row.status)
    if (row.status !== 202) return expect(reply.json.code).toBe(row.result)
    const job = await waitForJob(reply.json.job_id)
    expect([job.state, job.result?.band ?? job.problem?.code]).toEqual([row.job, row.result])
  })
})

test('customers have unique invented names, none of them on the demonstration sanctions list', () => {
  const { portfolio, magic } = readDemoFiles(projectRoot)
  const customers = buildPortfolio({ portfolio, magic }).filter(({ group }) => group !== 'magic')
  const names = new Set(customers.map(({ name }) => name))
  expect(names.size).toBe(customers.length)
  const list = JSON.parse(fs.readFileSync(path.join(projectRoot, 'db/seed/lists/demo-sanctions.json'), 'utf8'))
  const listed = list.versions.flatMap(({ entries }: { entries: { names: { name: string }[] }[] }) =>
    entries.flatMap((entry) => entry.names.map(({ name }) => name)),
  )
  expect(listed.filter((name: string) => names.has(name))).toEqual([])
})

test('a change that needs approval ends the run and leaves no open change request', async () => {
  const { signal } = new AbortController()
  const caller = new DemoCaller({ url, issuer: app.kernel.issuer, tenant: demo, signal, egress: app.kernel.egress })
  const open = await count('change_request', `state = 'open'`)
  const body = { version: 1, reason: 'Again' }
  const change = caller.post('compliance_officer', '/api/reference-data/datasets/internal-watchlist/activations', body)
  await expect(change).rejects.toBeInstanceOf(ApprovalRequired)
  expect(await count('change_request', `state = 'open'`)).toBe(open)
  expect(await count('change_request', `state = 'withdrawn'`)).toBe(1)
})

test('providers are not added under a foreign approval policy, and adding them again changes nothing', async () => {
  const entry = `where subject = 'demo-data' and seed_hash = 'demo/providers'`
  const before = await countAll()
  await reader.query(`set app.actor = 'operator:test'`)
  await reader.query(`delete from app.seed_ledger ${entry}`)
  await app.setApprovalRules(demo.tenant_id, [{ action: 'activation', role: 'compliance_officer', approvers: 2 }])
  expect(await addData(new AbortController().signal)).toBe('kept')
  const { rows } = await reader.query(`select 1 from app.seed_ledger ${entry}`)
  expect(rows).toEqual([])
  await app.setApprovalRules(demo.tenant_id, readDemoFiles(projectRoot).policy.approval_rules)
  expect(await addData(new AbortController().signal)).toBe('added')
  expect(await countAll()).toEqual(before)
})
