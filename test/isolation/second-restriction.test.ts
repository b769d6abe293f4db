/**
 * Evidence of a case belongs to two restrictions, that of the case and that of the object it names, and so does the event that links an
 * alert: without access to both, the audit record, its exports, logs of access, streams and search are as in a tenant without it.
 */
import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyExport } from '#kernel/audit/export-verifier.ts'
import { roles as allRoles, type Role } from '#kernel/auth/roles.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { evidenceStore } from '#modules/documents/index.ts'
import { chainAllEvents } from '../support/audit-chain.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'
import { connect } from './support.ts'

let w: TestApp
let superuser: pg.Client
beforeAll(async () => {
  w = await startTestApp()
  superuser = await connect(w.clone.postgres)
  await superuser.query('set session_replication_role = replica')
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

type Someone = Awaited<ReturnType<TestApp['person']>>
const ROLES: readonly Role[] = ['analyst', 'compliance_officer', 'auditor']

async function send(who: Someone, at: string, body?: object, headers: Record<string, string> = {}): Promise<Reply> {
  const reply = await w.call(at, { token: who.token, headers, ...(body && { body }) })
  if (!at.startsWith('GET'))
    expect([at, reply.status, reply.status < 300 || reply.json]).toEqual([at, reply.status, true])
  return reply
}

/** A case that everybody sees, and a file; whoever works on it, and a colleague who was granted nothing. */
async function createCase() {
  const t = await ExampleTenant.create(w)
  const [owner, outsider] = [await w.person(t.tenant_id, ROLES), await w.person(t.tenant_id, allRoles)]
  const { subject_id } = await t.make('POST /subjects', { body: { subject_type: 'person', name: 'Ada Lovelace' } })
  const opened = await send(owner, 'POST /investigations', { subject_id, playbook_key: 'edd-person' })
  const { investigation_id } = opened.json
  const { json } = await w.call('POST /uploads?file_name=statement.txt', {
    token: owner.token,
    payload: 'Statement of the customer',
    headers: { 'content-type': 'application/octet-stream' },
  })
  return { t, owner, outsider, investigation_id, upload_id: json.upload_id as string }
}
type Case = Awaited<ReturnType<typeof createCase>>

const storeDocument = async ({ owner, upload_id }: Case): Promise<string> =>
  (await send(owner, 'POST /documents', { upload_id, title: 'Statement' })).json.document_id

const attach = async ({ owner, investigation_id }: Case, object_id: string): Promise<string> => {
  const body = {
    owner_kind: 'investigation',
    owner_id: investigation_id,
    kind: 'document',
    object_id,
    title: 'Statement',
  }
  return (await send(owner, 'POST /evidence', body)).json.evidence_id
}

/** Everything that is recorded about an item: it is attached, read, compared and detached. */
async function createEvidence(c: Case) {
  const document_id = await storeDocument(c)
  const evidence_id = await attach(c, document_id)
  await send(c.owner, `POST /evidence/${evidence_id}/verify`)
  await send(c.owner, `POST /evidence/${evidence_id}/detach`, { reason: 'Of another customer' })
  return { document_id, evidence_id }
}

const hideDocument = (who: Someone, document_id: string) => send(who, `POST /documents/${document_id}/restrict`)
const hideCase = (who: Someone, { investigation_id }: Case) =>
  send(who, `PUT /investigations/${investigation_id}/access`, { is_restricted: true, reason: 'A suspicion' })

/** Without ids, hashes, times and numbers of the chain. */
const toComparable = ({ status, json }: Reply): string =>
  `${status} ${JSON.stringify(json)}`.replace(
    /[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32,64}|\d{4}-\d\d-\d\dT[^"]*|"(seq|sequence|last)":"?\d+"?|"(next_cursor|slug)":"[^"]*"/g,
    '~',
  )

/** What a colleague reads about something that may not exist. */
async function readAll(who: Someone, { investigation_id }: Case, evidence_id: string) {
  const paths = [
    '/audit/events?limit=200',
    `/audit/events?limit=200&operation=createEvidence`,
    `/audit/objects/evidence/${evidence_id}`,
    '/audit/filters',
    `/evidence/${evidence_id}`,
    '/evidence',
    `/investigations/${investigation_id}/timeline`,
    '/events?limit=200',
    `/search?q=${evidence_id}`,
  ]
  const answers = new Map<string, string>()
  for (const path of paths)
    answers.set(
      path.replace(evidence_id, '~').replace(investigation_id, '~'),
      toComparable(await send(who, `GET ${path}`)),
    )
  return answers
}

const listOperations = async (who: Someone): Promise<string[]> =>
  (await send(who, 'GET /audit/events?limit=200')).json.items.map(({ operation }: { operation: string }) => operation)
const ABOUT_EVIDENCE = ['createEvidence', 'detachEvidence', 'verifyEvidence']
const listAboutEvidence = async (who: Someone) =>
  (await listOperations(who)).filter((operation) => operation.endsWith('Evidence')).toSorted()

describe('evidence of a document that is restricted later', () => {
  test('leaves the record of a colleague who sees the case as in a tenant without it', async () => {
    const [seen, twin] = [await createCase(), await createCase()]
    const { document_id, evidence_id } = await createEvidence(seen)
    expect(await listAboutEvidence(seen.outsider)).toEqual(ABOUT_EVIDENCE)
    await hideDocument(seen.owner, document_id)
    for (const { t } of [seen, twin]) await chainAllEvents(w, t)
    const [found, expected] = [
      await readAll(seen.outsider, seen, evidence_id),
      await readAll(twin.outsider, twin, uuidv7()),
    ]
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
    // Who has access reads it, and that it is hidden from others.
    expect(await listAboutEvidence(seen.owner)).toEqual(ABOUT_EVIDENCE)
    const { items } = (await send(seen.owner, `GET /audit/objects/evidence/${evidence_id}`)).json
    const { restriction_id } = (await send(seen.owner, `GET /documents/${document_id}`)).json
    expect(restriction_id).toEqual(expect.any(String))
    for (const item of items) expect(item).toMatchObject({ restriction_id })
    // A read of it is recorded while the restriction of the document is in force, and that of the case is not.
    expect((await send(seen.owner, `GET /evidence/${evidence_id}`)).status).toBe(200)
    const recorded = [...ABOUT_EVIDENCE, 'getEvidence'].toSorted()
    expect(await listAboutEvidence(seen.owner)).toEqual(recorded)
    await send(seen.owner, `POST /restrictions/${restriction_id}/lift`, { reason: 'Not confirmed' })
    expect(await listAboutEvidence(seen.outsider)).toEqual(recorded)
  })

  test('leaves one event of an answer to a request for information, which names it, hidden too', async () => {
    const c = await createCase()
    const at = `/investigations/${c.investigation_id}/information-requests`
    const { request_id } = (await send(c.owner, `POST ${at}`, { addressee: 'The customer', question: 'Why?' })).json
    const document_id = await storeDocument(c)
    const fulfilled = await send(c.owner, `POST ${at}/${request_id}/fulfil`, { document_id })
    const { evidence_id } = fulfilled.json
    const read = async (path: string) => JSON.stringify((await send(c.outsider, `GET ${path}`)).json)
    expect(await read('/audit/events?limit=200')).toContain(evidence_id)
    await hideDocument(c.owner, document_id)
    for (const path of ['/audit/events?limit=200', at, `/investigations/${c.investigation_id}/timeline`])
      expect(await read(path)).not.toContain(evidence_id)
    expect((await send(c.owner, `GET ${at}`)).json.items[0]).toMatchObject({ evidence_id })
  })
})

describe('an alert of a case that is restricted later', () => {
  const linkAlerts = async ({ owner, investigation_id }: Case, count: number): Promise<string[]> => {
    const alert_ids: string[] = []
    for (let n = 1; n <= count; n++) {
      const body = { source: 'desk', dedup_key: `payment ${n}`, title: 'A payment', priority: 'low' }
      alert_ids.push((await send(owner, 'POST /alerts', body)).json.alert_id)
    }
    const at = `POST /investigations/${investigation_id}/alerts`
    await send(owner, at, { alert_ids }, { 'idempotency-key': 'link' })
    return alert_ids
  }
  const hideAlert = async (who: Someone, alert_id: string): Promise<string> => {
    const { restriction_id } = (await send(who, `GET /alerts/${alert_id}`)).json
    await send(who, `POST /restrictions/${restriction_id}/impose`)
    return restriction_id
  }
  const readRecord = async (who: Someone, { investigation_id }: Case): Promise<string> => {
    const paths = ['/audit/events?limit=200', `/audit/objects/investigations/${investigation_id}`]
    const answers = await Promise.all(paths.map((path) => send(who, `GET ${path}`)))
    return JSON.stringify(answers.map(({ json }) => json))
  }

  test('leaves the record of a colleague who sees the case with the event that linked it', async () => {
    const c = await createCase()
    const [alert_id] = (await linkAlerts(c, 1)) as [string]
    expect(await readRecord(c.outsider, c)).toContain('linkInvestigationAlerts')
    const restriction_id = await hideAlert(c.owner, alert_id)
    const hidden = await readRecord(c.outsider, c)
    expect(hidden).not.toContain(alert_id)
    expect(hidden).not.toContain('linkInvestigationAlerts')
    // Who has access reads it, also in the log of access of the alert.
    expect(await readRecord(c.owner, c)).toContain(alert_id)
    const { items } = (await send(c.owner, `GET /restrictions/${restriction_id}/access-log`)).json
    expect(items.map(({ operation }: { operation: string }) => operation)).toContain('linkInvestigationAlerts')
    // After access was revoked, a repeated request is answered as for an alert that does not exist.
    const other = await w.person(c.t.tenant_id, ROLES)
    await send(c.owner, `PUT /restrictions/${restriction_id}/access/${other.user_id}`, { effect: 'grant' })
    await send(other, `PUT /restrictions/${restriction_id}/access/${c.owner.user_id}`, { effect: 'exclude' })
    const at = `POST /investigations/${c.investigation_id}/alerts`
    const headers = { 'idempotency-key': 'link' }
    const repeated = await w.call(at, { token: c.owner.token, headers, body: { alert_ids: [alert_id] } })
    expect([repeated.status, repeated.json.code]).toEqual([404, 'not_found'])
  })

  test('leaves it with the events of the other alerts of the same request', async () => {
    const c = await createCase()
    const [first, second] = (await linkAlerts(c, 2)) as [string, string]
    const before = await readRecord(c.outsider, c)
    for (const alert_id of [first, second]) expect(before).toContain(alert_id)
    await hideAlert(c.owner, first)
    const after = await readRecord(c.outsider, c)
    expect(after).not.toContain(first)
    expect(after).toContain(second)
    expect(await readRecord(c.owner, c)).toContain(first)
  })
})

describe('evidence of a case that is restricted later', () => {
  test('leaves the record of a colleague who sees the document as in a tenant without it', async () => {
    const [seen, twin] = [await createCase(), await createCase()]
    const { document_id, evidence_id } = await createEvidence(seen)
    await storeDocument(twin)
    await hideCase(seen.owner, seen)
    await hideCase(twin.owner, twin)
    for (const { t } of [seen, twin]) await chainAllEvents(w, t)
    expect((await send(seen.outsider, `GET /documents/${document_id}`)).status).toBe(200)
    const [found, expected] = [
      await readAll(seen.outsider, seen, evidence_id),
      await readAll(twin.outsider, twin, uuidv7()),
    ]
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected))
  })
})

/** An instant between what was recorded before and what is recorded after. */
async function waitForNow(): Promise<string> {
  await setTimeout(5)
  const now = new Date().toISOString()
  await setTimeout(5)
  return now
}

describe('evidence of two restrictions in force', () => {
  /** Access to the case, to the document, and to both. */
  async function createHidden() {
    const c = await createCase()
    const document_id = await storeDocument(c)
    // Of this time there is one event, that of the item.
    const from_at = await waitForNow()
    const evidence_id = await attach(c, document_id)
    const until_at = await waitForNow()
    await hideDocument(c.owner, document_id)
    await hideCase(c.owner, c)
    const { restriction_id: of_document } = (await send(c.owner, `GET /documents/${document_id}`)).json
    const { restriction_id: of_case } = (await send(c.owner, `GET /investigations/${c.investigation_id}/access`)).json
    const grant = async (...restrictions: string[]) => {
      const person = await w.person(c.t.tenant_id, ROLES)
      for (const restriction_id of restrictions)
        await send(c.owner, `PUT /restrictions/${restriction_id}/access/${person.user_id}`, { effect: 'grant' })
      return person
    }
    const [ofCase, ofDocument, ofBoth] = [
      await grant(of_case),
      await grant(of_document),
      await grant(of_case, of_document),
    ]
    return { c, range: { from_at, until_at }, evidence_id, of_case, of_document, ofCase, ofDocument, ofBoth }
  }

  test('is read and recorded only with access to both', async () => {
    const { c, evidence_id, of_case, of_document, ofCase, ofDocument, ofBoth } = await createHidden()
    const read = (who: Someone) => send(who, `GET /evidence/${evidence_id}`)
    for (const who of [ofCase, ofDocument, c.outsider]) expect((await read(who)).status).toBe(404)
    expect((await read(ofBoth)).status).toBe(200)
    const history = async (who: Someone) =>
      (await send(who, `GET /audit/objects/evidence/${evidence_id}`)).json.items.map(
        ({ operation }: { operation: string }) => operation,
      )
    for (const who of [ofCase, ofDocument, c.outsider]) expect(await history(who)).toEqual([])
    expect(await history(ofBoth)).toEqual(['getEvidence', 'createEvidence'])
    // Both logs of access have it, for whoever sees both.
    for (const restriction_id of [of_case, of_document]) {
      const log = async (who: Someone): Promise<string[]> =>
        (await send(who, `GET /restrictions/${restriction_id}/access-log`)).json.items.map(
          ({ operation }: { operation: string }) => operation,
        )
      expect(await log(ofBoth)).toEqual(expect.arrayContaining(['getEvidence', 'createEvidence']))
      expect(await log(restriction_id === of_case ? ofCase : ofDocument)).not.toContain('createEvidence')
    }
  })

  test('is a link and a hash in the export of whoever lacks one, and the export of whoever has both is theirs', async () => {
    const { c, range, evidence_id, ofCase, ofDocument, ofBoth } = await createHidden()
    await chainAllEvents(w, c.t)
    const runner = w.runtime.createRunner(1)
    const createExport = async (who: Someone, body: object) => {
      const job = (await send(who, 'POST /audit/exports', body)).json
      const at = `/audit/exports/${job.resource.split('/').at(-1)}`
      const state = async () => (await send(who, `GET /jobs/${job.job_id}`)).json.state
      await expect.poll(state).toBe('succeeded')
      const { text } = await send(who, `GET ${at}/content`)
      const lines = async function* () {
        yield* text.split('\n')
      }
      return { at, text, report: await verifyExport(lines(), w.kernel.auditKeys.public_key) }
    }
    runner.start()
    const full = await createExport(ofBoth, range)
    const cut = [await createExport(ofCase, {}), await createExport(ofDocument, {}), await createExport(c.outsider, {})]
    await runner.stop(1000)
    expect(full.report).toMatchObject({ intact: true, faults: [] })
    expect(full.text).toContain(evidence_id)
    for (const { text, report } of cut) {
      expect(report).toMatchObject({ intact: true, faults: [] })
      expect(report.withheld).toBeGreaterThan(0)
      expect(text).not.toContain(evidence_id)
    }
    const statuses = await Promise.all([ofBoth, ofCase, ofDocument].map((who) => send(who, `GET ${full.at}`)))
    expect(statuses.map(({ status }) => status)).toEqual([200, 404, 404])
  })
})

test('the stored response of an Idempotency-Key is hidden with the document', async () => {
  const c = await createCase()
  const document_id = await storeDocument(c)
  const body = { owner_kind: 'investigation', owner_id: c.investigation_id, kind: 'document', title: 'Statement' }
  const key = { 'idempotency-key': 'evidence-1' }
  const repeat = () =>
    w.call('POST /evidence', { token: c.outsider.token, body: { ...body, object_id: document_id }, headers: key })
  expect((await repeat()).status).toBe(201)
  expect((await repeat()).headers['idempotency-replayed']).toBe('true')
  await hideDocument(c.owner, document_id)
  const hidden = await repeat()
  expect([hidden.status, hidden.json.code]).toEqual([404, 'not_found'])
})

test.for(['document', 'provider_call'] as const)(
  'a job that attaches a %s of another restriction records both',
  async (kind) => {
    const c = await createCase()
    const { tenant_id } = c.t
    const of_case = (await send(c.owner, `GET /investigations/${c.investigation_id}/access`)).json.restriction_id
    await hideCase(c.owner, c)
    const call = { capability: 'registry.lookup', input: { key: 'KP' } }
    const object_id =
      kind === 'document'
        ? await storeDocument(c)
        : (await c.t.make('POST /providers/prohibited-jurisdiction-check/test', { body: call })).call_id
    // Calls have no restriction unless they are made for a case.
    const prepared = { purpose: 'Another case', is_in_force: false }
    if (kind === 'provider_call')
      await superuser.query('update app.provider_call set restriction_id = $2 where call_id = $1', [
        object_id,
        (await send(c.owner, 'POST /restrictions', prepared)).json.restriction_id,
      ])
    const item = { owner_kind: 'investigation', owner_id: c.investigation_id, kind, object_id, title: 'Found' } as const
    const scope = { tenant_id, actor: 'job:test', sight: `restriction:${of_case}` } as const
    const { evidence_id } = await w.runtime.database.write(scope, (tx) =>
      evidenceStore.attachEvidence(w.kernel, tx, item, null),
    )
    const { rows } = await superuser.query(
      `select e.operation, e.restriction_id, e.also_restriction_id = o.restriction_id as is_of_object
       from app.audit_event e, (select restriction_id from app.document where document_id = $2
                                union all select restriction_id from app.provider_call where call_id = $2) o
      where e.tenant_id = $1 and e.object_id = $3`,
      [tenant_id, object_id, evidence_id],
    )
    expect(rows).toEqual([{ operation: 'attachEvidence', restriction_id: of_case, is_of_object: true }])
  },
)
