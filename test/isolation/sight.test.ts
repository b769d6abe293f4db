/**
 * Restrictions: for a person without access every operation answers as for a random id, and everything that lists, counts or finds
 * answers as in a tenant that does not have the object. What a person with access does is recorded as part of the restriction.
 */
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyExport } from '#kernel/audit/export-verifier.ts'
import { roles as allRoles } from '#kernel/auth/roles.ts'
import { fullScope, requestScope, type Scope, unrestrictedScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import type { Route } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { HOUSEKEEPING } from '#modules/tenant/index.ts'
import { chainAllEvents } from '../support/audit-chain.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import type { Example } from '../support/operation-fixture.ts'
import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'
import { callTool, connectClient } from '../support/tool-client.ts'
import { connect, getExample, sendAs, tenantRoutes } from './support.ts'

/**
 * What a person without access can tell all the same, by operation. The list is closed: whatever else differs is a fault. Jobs have
 * theirs in `job-sight.test.ts`.
 */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  previewErasure: 'A hidden hold keeps its subject: to erase what must be kept would be worse (ADR 0067, 0081).',
  createErasure: 'A hidden hold keeps its subject, as in the preview.',
  confirmErasure: 'Whatever is hidden from both people who decide keeps the subject (ADR 0076).',
  getQuarantinedPayload:
    'The content of a payload past its retention period stays while a hidden hold keeps it; the payload itself is not hidden.',
  getAuditEvent: 'The position and hashes of an event in the chain, which has a link for every event.',
  createAuditExport: 'Links and hashes of events without their content, so that the file can be verified offline.',
  getAuditExport: 'How many links the range has.',
  getAuditExportContent: 'The links themselves.',
  listAuditCheckpoints: 'Positions at which the chain was signed.',
  getAuditVerification: 'How many events the chain has.',
  listAuditVerifications: 'How many events the chain has.',
}

/** Objects that everybody may see, to which hidden ones belong. */
const ATTACHED_TO = /:(subject_id|user_id|evaluation_id|batch_id|erasure_id)\b/

let w: TestApp
let superuser: pg.Client
/** Changes rows without the triggers that keep history. */
const rewrite = (text: string, values: readonly unknown[] = []) => superuser.query(text, [...values])

type Someone = Awaited<ReturnType<TestApp['person']>>

beforeAll(async () => {
  w = await startTestApp()
  superuser = await connect(w.clone.postgres)
  await superuser.query('set session_replication_role = replica')
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const designate = (tenant_id: string, { user_id }: Someone) =>
  rewrite('update app.user_account set is_mlro = true where tenant_id = $1 and user_id = $2', [tenant_id, user_id])

const VOLATILE_HEADERS = ['x-request-id', 'ratelimit', 'ratelimit-policy', 'date', 'content-length', 'link']
/** Times, of which some are those of the answer, and cursors, which contain one. */
const VOLATILE_TEXTS = /"\d{4}-\d\d-\d\dT[^"]*"|"next_cursor":"[^"]*"|"(last_seen_at|last_used_at|latency_ms)":[^,}]*/g

/** What a caller can tell apart: everything but what names this one request, and the time of the answer. */
function toVisible({ status, headers, json, text }: Reply): string {
  const kept = Object.entries(headers).filter(([name]) => !VOLATILE_HEADERS.includes(name))
  const { instance: _, request_id: __, ...body } = json ?? { text }
  return JSON.stringify({ status, headers: Object.fromEntries(kept), body }).replace(VOLATILE_TEXTS, '~')
}

const isPaged = ({ query }: Route): boolean =>
  'limit' in ((query as { properties?: object } | undefined)?.properties ?? {})

describe('a person without access', () => {
  let t: ExampleTenant
  let outsider: Someone
  let mlro: Someone
  /** Ids of hidden rows by the name of the path parameter. */
  const hidden: Record<string, string> = {}
  let tables: string[]

  beforeAll(async () => {
    t = await ExampleTenant.create(w)
    outsider = await w.person(t.tenant_id, allRoles)
    mlro = await w.person(t.tenant_id, allRoles)
    await t.insertCanaryRows()
    await designate(t.tenant_id, mlro)
    const { rows } = await superuser.query(
      `select c.relname::text as name from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'app'::regnamespace and c.relkind = 'r' and a.attname = 'restriction_id' order by 1`,
    )
    tables = rows.map(({ name }) => name)
    const find = async (table: string, column: string) =>
      (
        await superuser.query(`select ${column}::text as id from app.${table} where tenant_id = $1 limit 1`, [
          t.tenant_id,
        ])
      ).rows[0].id as string
    hidden['restriction_id'] = await find('restriction_force', 'restriction_id')
    await hideRows()
    hidden['alert_id'] = await find('alert', 'alert_id')
    hidden['look_id'] = await find('alert_second_look', 'look_id')
    hidden['job_id'] = await find('job', 'job_id')
    hidden['event_id'] = await find('audit_event', 'event_id')
    hidden['cr_id'] = await find('change_request', 'cr_id')
    hidden['call_id'] = await find('provider_call', 'call_id')
    hidden['payload_id'] = await find('source_payload', 'payload_id')
    hidden['document_id'] = await find('document', 'document_id')
    hidden['evidence_id'] = await find('evidence_item', 'evidence_id')
    hidden['hold_id'] = await find('hold', 'hold_id')
    hidden['investigation_id'] = await find('investigation', 'investigation_id')
    hidden['report_id'] = await find('report', 'report_id')
    hidden['schedule_id'] = await find('report_schedule', 'schedule_id')
    hidden['approval_id'] = await find('mcp_approval', 'approval_id')
  })

  /** Of every table whose rows may belong to a restriction, also those that an example has inserted with one that is not in force. */
  async function hideRows() {
    // Counts of one restriction are one row; an example may have begun another that would become the same.
    await rewrite(
      `delete from app.violation_group g using app.violation_group h
        where g.tenant_id = $1 and h.tenant_id = $1 and h.restriction_id = $2 and g.restriction_id is distinct from $2
          and (g.contract_key, g.contract_version, g.pointer, g.keyword) = (h.contract_key, h.contract_version, h.pointer, h.keyword)`,
      [t.tenant_id, hidden['restriction_id']],
    )
    for (const name of tables.filter((each) => !each.startsWith('restriction')))
      await rewrite(
        `update app.${name} o set restriction_id = $2 where o.tenant_id = $1 and (o.restriction_id is null or not exists (
           select 1 from app.restriction_force f where f.tenant_id = $1 and f.restriction_id = o.restriction_id))`,
        [t.tenant_id, hidden['restriction_id']],
      )
  }

  /** Makes every hidden row that can belong to a subject one of this subject. */
  async function attachHidden(subject_id: string) {
    const { rows } = await superuser.query(
      `select c.relname::text as name from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'app'::regnamespace and c.relkind = 'r' and a.attname = 'subject_id' and c.relname::text = any ($1)`,
      [tables.filter((each) => each !== 'investigation_subject')],
    )
    expect(rows.length).toBeGreaterThan(3)
    // One case of a subject is joined by further alerts; of the others it does not matter.
    await rewrite('update app.investigation set joins = false where tenant_id = $1', [t.tenant_id])
    for (const { name } of rows)
      await rewrite(`update app.${name} set subject_id = $3 where tenant_id = $1 and restriction_id = $2`, [
        ...[t.tenant_id, hidden['restriction_id'], subject_id],
      ])
  }

  /** Restrictions of what the person has done by an operation: of its events, and of jobs for the object. */
  async function listRecorded(who: Someone, operation: string, id: string): Promise<(string | null)[]> {
    const { rows } = await superuser.query<{ restriction_id: string | null }>(
      `select restriction_id from app.audit_event where tenant_id = $1 and actor = $2 and operation = $3
       union all
       select restriction_id from app.job where tenant_id = $1 and created_by = $2 and resource like '%' || $4`,
      [t.tenant_id, who.principal, operation, id],
    )
    return rows.map(({ restriction_id }) => restriction_id)
  }

  const findHiddenParameter = ({ path }: Route): string | undefined =>
    Object.keys(hidden).find((name) => path.includes(`:${name}`))
  const named = tenantRoutes.filter(({ path }) =>
    /:(restriction_id|job_id|event_id|cr_id|call_id|payload_id|hold_id|document_id|evidence_id|alert_id|look_id|investigation_id|report_id|approval_id)\b|^\/reports\/schedules\/:/.test(
      path,
    ),
  )

  test('is refused by more than 20 operations, with rows of more than 15 tables', () => {
    expect(tables.length).toBeGreaterThan(15)
    expect(named.length).toBeGreaterThan(20)
  })

  test('has exceptions only for operations that exist', () => {
    const ids = tenantRoutes.map(({ id }) => id)
    expect(Object.keys(EXCEPTIONS).filter((id) => !ids.includes(id))).toEqual([])
  })

  test.for(named)('gets the answer for a random id from $id', async (route) => {
    const parameter = findHiddenParameter(route) as string
    const example = await getExample(route, t)
    await hideRows()
    // The example of imposing is not in force; every other one is a restriction of its own.
    const params = example.params as Record<string, string>
    const id = (parameter === 'restriction_id' ? hidden : params)[parameter] as string
    const send = (id: string, who: Someone) => {
      const placed: Example = { ...example, params: { ...example.params, [parameter]: id } }
      return sendAs(w, who.token, route, placed)
    }
    const answer = await send(id, outsider)
    expect(toVisible(answer)).toBe(toVisible(await send(uuidv7(), outsider)))
    expect(answer.status).toBe(404)
    // Lifting it would spoil the tests that follow.
    if (parameter === 'restriction_id' && route.method !== 'GET') return
    const seen = await send(id, mlro)
    if (route.method === 'GET') expect(seen.status).toBe(200)
    const recorded = await listRecorded(mlro, route.id, id)
    if (seen.status < 300) expect(recorded.length).toBeGreaterThan(0)
    expect(recorded.filter((restriction_id) => restriction_id === null)).toEqual([])
  })

  test('lists, counts and finds what a tenant without the object has', async () => {
    const readable = tenantRoutes.filter(({ method, path }) => method === 'GET' && !path.includes(':'))
    const examples = new Map<Route, Example>()
    for (const route of readable) {
      // A fixture may make things; only operations that need parameters use one.
      const plain: Example = isPaged(route) ? { query: { limit: '200' } } : {}
      const { status } = await sendAs(w, outsider.token, route, plain)
      examples.set(route, status === 422 ? await getExample(route, t) : plain)
    }
    const { subject_id } = await t.make('POST /subjects', { body: { subject_type: 'person', name: 'Erik Sample' } })
    await attachHidden(subject_id)
    for (const route of tenantRoutes) {
      if (!ATTACHED_TO.test(route.path) || named.includes(route)) continue
      // A read that is recorded changes the list of events.
      if (route.audited || (route.method !== 'GET' && !route.stores_nothing)) continue
      const example = await getExample(route, t)
      const params = example.params as Record<string, string>
      examples.set(route, 'subject_id' in params ? { ...example, params: { ...params, subject_id } } : example)
    }
    const search = tenantRoutes.find(({ id }) => id === 'listSearchResults') as Route
    const requests: [string, Route, Example][] = [...examples].map(([route, example]) => [route.id, route, example])
    for (const [name, id] of Object.entries(hidden)) requests.push([`search ${name}`, search, { query: { q: id } }])
    const read = async (who: Someone) => {
      const answers = new Map<string, string>()
      for (const [name, route, example] of requests)
        answers.set(name, toVisible(await sendAs(w, who.token, route, example)))
      return answers
    }
    const withObject = await read(outsider)
    const asOfficer = await read(mlro)
    const inForce = await rewrite('select restriction_id from app.restriction_force where tenant_id = $1', [
      t.tenant_id,
    ])
    const removed = inForce.rows.map(({ restriction_id }) => restriction_id)
    for (const name of tables)
      await rewrite(`delete from app.${name} where tenant_id = $1 and restriction_id = any($2)`, [t.tenant_id, removed])
    const without = await read(outsider)
    const steady = await read(outsider)
    const differing = requests
      .map(([name]) => name)
      .filter((name) => !(name in EXCEPTIONS) && withObject.get(name) !== without.get(name))
    expect(differing.map((name) => [name, withObject.get(name)])).toEqual(
      differing.map((name) => [name, without.get(name)]),
    )
    // Every answer is the same when it is read twice, so a difference would have been one of the rows.
    expect(requests.map(([name]) => name).filter((name) => without.get(name) !== steady.get(name))).toEqual([])
    // The comparison is not of nothing with nothing: a person with access gets other answers.
    const seen = requests.map(([name]) => name).filter((name) => asOfficer.get(name) !== withObject.get(name))
    expect(seen).toEqual(
      expect.arrayContaining([
        'listRestrictions',
        'listJobs',
        'listAuditEvents',
        'listChangeRequests',
        'listDocuments',
        'listEvidence',
        'listProviderCalls',
        'listQuarantinedPayloads',
        'listAlerts',
        'listAlertSecondLooks',
        'getAlertAgreement',
        'search alert_id',
        'listInvestigations',
        'search investigation_id',
        'listToolCalls',
        'listToolApprovals',
        'listWorkQueues',
        'listWorkClocks',
        'listEvents',
        'listHolds',
        'listReportSchedules',
        'search job_id',
      ]),
    )
  })
})

/** A restriction in force that two people of one role may see, and a third may not. */
async function createCase() {
  const t = await ExampleTenant.create(w)
  const people = await Promise.all([1, 2, 3].map(() => w.person(t.tenant_id, ['compliance_officer', 'auditor'])))
  const [owner, member, outsider] = people as [Someone, Someone, Someone]
  const made = await w.call('POST /restrictions', { token: owner.token, body: { purpose: 'Case 17' } })
  const { restriction_id } = made.json
  const access = `/restrictions/${restriction_id}/access/${member.user_id}`
  const grant = () => w.call(`PUT ${access}`, { token: owner.token, body: { effect: 'grant' } })
  const revoke = async () => expect((await w.call(`DELETE ${access}`, { token: owner.token })).status).toBe(204)
  expect((await grant()).status).toBe(200)
  const enqueue = () => t.write((tx) => w.kernel.jobs.enqueue(tx, { kind: HOUSEKEEPING, payload: {}, restriction_id }))
  return { t, owner, member, outsider, restriction_id, grant, revoke, enqueue }
}

describe('revoking access', () => {
  test('ends a long poll of that person, and not one of a colleague with the same role', async () => {
    const { t, owner, member, outsider, revoke, enqueue } = await createCase()
    const { job_id } = await enqueue()
    const poll = (who: Someone, wait: number) => w.call(`GET /jobs/${job_id}?wait=${wait}`, { token: who.token })
    expect((await poll(outsider, 0)).status).toBe(404)
    const [first, second] = [poll(owner, 8), poll(member, 8)]
    // Begun after the two and recorded before its answer: by then they wait.
    expect((await poll(member, 0)).status).toBe(200)
    await revoke()
    expect((await second).status).toBe(404)
    await t.write((tx) => tx.run('update app.job set revision = revision + 1 where job_id = $1', [job_id]))
    const answer = await first
    expect([answer.status, answer.json.revision]).toEqual([200, 2])
  })

  test('ends an event stream', async () => {
    const { t, member, revoke, enqueue } = await createCase()
    const { job_id } = await enqueue()
    const stream = w.call(`GET /jobs/${job_id}/events`, { token: member.token })
    await revoke()
    await t.write((tx) => tx.run('update app.job set revision = revision + 1 where job_id = $1', [job_id]))
    const { status, text } = await stream
    // Either the stream had begun, and ended without news, or it never began.
    if (status === 200) expect(text.match(/^event: job$/gm)).toHaveLength(1)
    else expect(status).toBe(404)
    expect(text).not.toContain('"revision":2')
  })

  test('hides the stored response of an Idempotency-Key', async () => {
    const { t, owner, member } = await createCase()
    await designate(t.tenant_id, owner)
    const create = () =>
      w.call('POST /restrictions', {
        token: member.token,
        body: { purpose: 'Case 18' },
        headers: { 'idempotency-key': 'case-18' },
      })
    const made = await create()
    expect(made.status).toBe(201)
    expect((await create()).headers['idempotency-replayed']).toBe('true')
    const access = `/restrictions/${made.json.restriction_id}/access/${member.user_id}`
    await w.call(`PUT ${access}`, { token: owner.token, body: { effect: 'exclude' } })
    const hidden = await create()
    expect([hidden.status, hidden.json.code]).toEqual([404, 'not_found'])
    expect(hidden.text).not.toContain(made.json.restriction_id)
  })
})

describe('imposing a restriction later', () => {
  test('hides what was stored before, and lifting it shows it again', async () => {
    const t = await ExampleTenant.create(w)
    const [owner, outsider] = [
      await w.person(t.tenant_id, ['compliance_officer']),
      await w.person(t.tenant_id, ['compliance_officer']),
    ]
    const made = await w.call('POST /restrictions', {
      token: owner.token,
      body: { purpose: 'Alert 4', is_in_force: false },
    })
    const { restriction_id } = made.json
    const { job_id } = await t.write((tx) =>
      w.kernel.jobs.enqueue(tx, { kind: HOUSEKEEPING, payload: {}, restriction_id }),
    )
    const read = async () => (await w.call(`GET /jobs/${job_id}`, { token: outsider.token })).status
    expect(await read()).toBe(200)
    await w.call(`POST /restrictions/${restriction_id}/impose`, { token: owner.token })
    expect(await read()).toBe(404)
    const lifted = await w.call(`POST /restrictions/${restriction_id}/lift`, {
      token: owner.token,
      body: { reason: 'Not confirmed' },
    })
    expect([lifted.status, await read()]).toEqual([200, 200])
  })
})

describe('a report of a match that has a restricted alert', () => {
  test('is answered as in a tenant without it, whatever became of that alert', async () => {
    const report = (token: string, entry: string) =>
      w.call('POST /alerts', {
        token,
        body: {
          source: 'feed',
          dedup_key: 'the same match',
          title: 'A listed name',
          priority: 'medium',
          facts: [{ name: 'entry', value: entry }],
        },
      })
    /** Without ids, salted hashes and ages. */
    const toComparable = (reply: Reply) =>
      toVisible(reply).replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}|"oldest_age_s":\d+/g, '~')
    const createPair = async () => {
      const { tenant_id } = await ExampleTenant.create(w)
      return [await w.person(tenant_id, ['compliance_officer']), await w.person(tenant_id, ['analyst'])] as const
    }
    const [owner, outsider] = await createPair()
    const [, twin] = await createPair()
    const { alert_id } = (await report(owner.token, '1')).json
    const { restriction_id } = (await w.call(`GET /alerts/${alert_id}`, { token: owner.token })).json
    const imposed = await w.call(`POST /restrictions/${restriction_id}/impose`, { token: owner.token })
    expect(imposed.status).toBe(200)
    for (const entry of ['1', '1', '2'])
      expect(toComparable(await report(outsider.token, entry))).toBe(toComparable(await report(twin.token, entry)))
    for (const at of ['GET /alerts', 'GET /work/queues', 'GET /work/clocks', 'GET /alerts?sort=urgent&state=open'])
      expect(toComparable(await w.call(at, { token: outsider.token }))).toBe(
        toComparable(await w.call(at, { token: twin.token })),
      )
    // Who has access sees both, and the hidden one has not changed.
    const seen = (await w.call('GET /alerts', { token: owner.token })).json.items
    expect(seen).toHaveLength(2)
    expect(seen.find((alert: { alert_id: string }) => alert.alert_id === alert_id)).toMatchObject({
      occurrences: 1,
      is_restricted: true,
    })
  })
})

describe('the audit record', () => {
  async function exportAs(t: ExampleTenant, who: Someone) {
    const job = (await w.call('POST /audit/exports', { token: who.token, body: {} })).json
    const export_id = job.resource.split('/').at(-1)
    const runner = w.runtime.createRunner(1)
    runner.start()
    await expect
      .poll(async () => (await w.call(`GET /jobs/${job.job_id}`, { token: who.token })).json.state, { timeout: 60_000 })
      .toBe('succeeded')
    await runner.stop(1000)
    const { text } = await w.call(`GET /audit/exports/${export_id}/content`, { token: who.token })
    const report = await verifyExport(
      (async function* () {
        yield* text.split('\n')
      })(),
      w.kernel.auditKeys.public_key,
    )
    return { export_id, text, report, tenant_id: t.tenant_id }
  }

  test('is chained, verified and exported with hidden events, whose content only people with access get', async () => {
    const { t, owner, member, outsider, restriction_id, grant, revoke } = await createCase()
    await t.newUser()
    await chainAllEvents(w, t)
    const full = await exportAs(t, owner)
    expect([full.report.intact, full.report.withheld]).toEqual([true, 0])
    expect(full.text).toContain(restriction_id)
    const cut = await exportAs(t, outsider)
    expect(cut.report).toMatchObject({ intact: true, faults: [] })
    expect(cut.report.withheld).toBeGreaterThan(1)
    expect(cut.text).not.toContain(restriction_id)
    // The hash of a withheld event is verified: changing it is detected.
    const altered = cut.text.replace(/"event_hash":"[0-9a-f]/, '"event_hash":"')
    const lines = async function* () {
      yield* altered.split('\n')
    }
    expect((await verifyExport(lines())).faults[0]).toMatchObject({ fault: 'link_altered' })
    // An export that contains restricted events is itself restricted.
    const read = async (who: Someone) =>
      (await w.call(`GET /audit/exports/${full.export_id}`, { token: who.token })).status
    expect([await read(outsider), await read(member)]).toEqual([404, 200])
    await revoke()
    expect(await read(member)).toBe(404)
    await grant()
    const job = (await w.call('POST /audit/verify', { token: outsider.token, body: {} })).json
    const runner = w.runtime.createRunner(1)
    runner.start()
    await expect
      .poll(async () => (await w.call(`GET /jobs/${job.job_id}`, { token: outsider.token })).json.state, {
        timeout: 60_000,
      })
      .toBe('succeeded')
    await runner.stop(1000)
    const { report } = (await w.call(`GET ${job.resource.replace('/api', '')}`, { token: outsider.token })).json
    expect(report).toMatchObject({ intact: true, faults: [] })
  })
})

test('a tool call carries the restriction of its object, also before it is in force', async () => {
  const { t, owner, restriction_id, enqueue } = await createCase()
  const lifted = await w.call(`POST /restrictions/${restriction_id}/lift`, {
    token: owner.token,
    body: { reason: 'Not confirmed' },
  })
  expect(lifted.status).toBe(200)
  const { job_id } = await enqueue()
  const client = await connectClient(await w.listen(), owner.token)
  expect((await callTool(client, 'get_job', { job_id })).isError).toBe(false)
  await client.close()
  const { rows } = await superuser.query(
    `select restriction_id from app.mcp_call where tenant_id = $1 and tool = 'get_job'
     union all select restriction_id from app.audit_event where tenant_id = $1 and object_id = $2`,
    [t.tenant_id, job_id],
  )
  expect(rows).toEqual([{ restriction_id }, { restriction_id }])
})

describe('a transaction', () => {
  test('sees what its sight says, also when reads of one tenant share a connection', async () => {
    const { t, owner, outsider, restriction_id, enqueue } = await createCase()
    await enqueue()
    const { tenant_id } = t
    const options = { max: 1, prepared: true, statement_timeout_ms: 60_000, wait_ms: 60_000 }
    const database = new Database({ connection: w.clone.app, ...options })
    const count = (scope: Scope) =>
      database.one(
        scope,
        async (tx) => (await tx.query('select 1 from app.job where tenant_id = $1', [tenant_id])).length,
      )
    const job: Scope = { ...fullScope(tenant_id, 'job:x'), sight: `restriction:${restriction_id}` }
    const other: Scope = { ...fullScope(tenant_id, 'job:x'), sight: `restriction:${uuidv7()}` }
    // The type forbids an empty sight; the policy must give it nothing too.
    const unset = { ...fullScope(tenant_id, 'job:x'), sight: '' } as unknown as Scope
    const scopes: readonly Scope[] = [
      requestScope({ tenant_id, principal: owner.principal }),
      requestScope({ tenant_id, principal: outsider.principal }),
      job,
      other,
      fullScope(tenant_id, 'operator:test'),
      unrestrictedScope(tenant_id, 'job:x'),
      unset,
    ]
    const seen = await Promise.all(scopes.map(count))
    await database.end()
    expect(seen).toEqual([1, 0, 1, 0, 1, 0, 0])
  })

  test('cannot store what belongs to a hidden row', async () => {
    const { t, outsider, restriction_id } = await createCase()
    const scope = requestScope({ tenant_id: t.tenant_id, principal: outsider.principal })
    const store = w.runtime.database.write(scope, (tx) =>
      w.kernel.jobs.enqueue(tx, { kind: HOUSEKEEPING, payload: {}, restriction_id }),
    )
    await expect(store).rejects.toMatchObject({ code: '42501' })
  })
})
