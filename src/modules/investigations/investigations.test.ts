/** Investigations over the API: opening and joining, who closes, narrative, tasks, merging and access. */
import { hash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { examinePack } from '#app/cli/verify-pack.ts'
import { main } from '#app/main.ts'
import { type SignedManifest, signManifest } from '#kernel/audit/signed-manifest.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { fullScope, requestScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import { PACK_FORMAT, PACK_FORMATS, SEAL_FORMATS } from '#kernel/pack-formats.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { toJsonFile, zipFiles } from '#kernel/zip-files.ts'
import { escalateByPolicy, raiseAlert } from '#modules/alerts/index.ts'
import { newUpload } from '#modules/documents/fixtures.ts'
import { createReportFormat } from '#modules/reports/report-format.ts'
import { readArchive } from '#plugin/read-archive.ts'
import { codesOf, createCaseTeam, type Someone, settleSteps as settle } from '#test/support/case-team.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'
import { createMemoryLedger } from '#test/support/memory-ledger.ts'
import { countGathering } from './gathering/queries.ts'
import { chooseTrigger, escalates } from './opening/triggers.ts'
import type { StepRow } from './queries.ts'
import { arrangeReport } from './report/arrange-case.ts'
import { collectCase } from './report/collect-case.ts'
import { describeEvidenceContent } from './report/evidence-content.ts'
import { toStepView } from './view.ts'

let w: JobTestApp

beforeAll(async () => {
  w = await startJobTestApp({ erasureLedger: createMemoryLedger([]) })
})
afterAll(() => w.close())

const createTeam = () => createCaseTeam(w)

describe('opening', () => {
  test('answers 202 with the case and its job, and a second request joins', async () => {
    const { t, open, newSubject, read, officer, send } = await createTeam()
    const subject_id = await newSubject()
    const first = await open(undefined, { subject_id })
    expect(first.status).toBe(202)
    const { investigation_id, job_id, reference } = first.json
    expect(first.headers).toMatchObject({
      location: `/api/investigations/${investigation_id}`,
      link: `</api/jobs/${job_id}>; rel="monitor"`,
    })
    const joined = await open(officer, { subject_id })
    expect([joined.status, joined.json]).toEqual([
      200,
      { investigation_id, reference, joined: true, job_id, job: `/api/jobs/${job_id}`, warnings: [] },
    ])
    const other = await open(officer, { subject_id, priority: 'critical', title: 'Urgent' })
    expect(other.json.warnings).toMatchObject([
      { code: 'joined_unchanged', detail: expect.stringContaining('title and priority') },
    ])
    const at = `/investigations/${investigation_id}`
    for (const title of ['   ', '\u200b']) expect((await open(officer, { subject_id, title })).status).toBe(422)
    const blank = { paragraphs: [{ kind: 'assessment', text: ' ', cites: [] }] }
    expect((await send(officer, `PUT ${at}/narrative`, blank)).status).toBe(422)
    const viewer = await w.person(t.tenant_id, ['viewer', 'auditor'])
    expect((await send(officer, `POST ${at}/assign`, { user_id: viewer.user_id })).json).toMatchObject({
      code: 'transition_not_allowed',
      detail: expect.stringContaining('analyst'),
    })
    const seen = await read(investigation_id)
    expect(seen).toMatchObject({
      state: 'open',
      gathering: 'running',
      origin: 'request',
      main_action: 'propose_outcome',
    })
    const proposing = seen.next_actions.find(({ action }: { action: string }) => action === 'propose_outcome')
    expect(proposing.is_permitted).toBe(false)
    expect(proposing.missing.map(({ code }: { code: string }) => code)).toEqual(
      expect.arrayContaining(['gathering_running', 'step_open', 'narrative_missing']),
    )
  })
})

async function readFiles(archive: Buffer): Promise<ReadonlyMap<string, Buffer>> {
  const read = await readArchive(archive, 1_000_000)
  if (!('files' in read)) throw new Error(read.message)
  return read.files
}
/** Without what signing adds. */
const toFacts = ({
  format: _f,
  key_id: _k,
  public_key: _p,
  earlier_keys: _e,
  signature: _s,
  ...facts
}: SignedManifest) => facts as Record<string, unknown>
const toFirstFormat = ({ is_test: _t, files: _f, ...seal }: Record<string, unknown>) => seal

/** As the service would sign these files; with a seal of the first format where `change` makes one. */
function signPack(files: ReadonlyMap<string, Buffer>, change?: typeof toFirstFormat): Promise<Buffer> {
  const [seal, manifest] = ['seal.json', 'manifest.json'].map((name) => JSON.parse(`${files.get(name)}`))
  const { auditKeys } = w.kernel
  const sealed = change ? signManifest(auditKeys, SEAL_FORMATS[0], change(toFacts(seal))) : seal
  const shown = [...files]
    .filter(([name]) => name !== 'manifest.json' && name !== 'seal.json')
    .map(([name, bytes]) => ({ name, bytes }))
  const named = [...shown, toJsonFile('seal.json', sealed)]
  const { state: _s, changed: _c, shows: _w, salt: _a, ...first } = toFacts(manifest)
  const facts = {
    ...(change ? first : toFacts(manifest)),
    seal_hash: hash('sha256', canonicalJson(sealed), 'hex'),
    files: named.map(({ name, bytes }) => ({ name, size_bytes: bytes.length, sha256: hash('sha256', bytes, 'hex') })),
  }
  const signed = signManifest(auditKeys, change ? PACK_FORMATS[0] : PACK_FORMAT, facts)
  return zipFiles([...named, toJsonFile('manifest.json', signed)])
}

/** One digit or letter of one file is another one, or its end. */
async function alterFile(archive: Buffer, name: string): Promise<Buffer> {
  const files = await readFiles(archive)
  const change = (text: string) => text.replace(/[0-9a-f](?=[0-9a-f]{8})|$/, (digit) => (digit === 'a' ? 'b' : 'a'))
  return zipFiles(
    [...files].map(([file, bytes]) => ({
      name: file,
      bytes: file === name ? Buffer.from(change(bytes.toString())) : bytes,
    })),
  )
}
const ASSESSMENT = { paragraphs: [{ kind: 'assessment', text: 'Nothing remarkable.', cites: [] }] }

/** As a worker does it, over all tenants. */
async function runScans(): Promise<void> {
  for (const scanner of w.runtime.createScanners()) await scanner.runOnce()
}

describe('without a person', () => {
  /** A matrix asks to freeze and report. */
  const FACTS = {
    ...{ residence_country: 'DE', nationalities: ['DE'], products: ['salary-account'], channel: 'branch' },
    ...{ annual_turnover: '60000.00', years_known: 5, source_of_funds: 'salary', adverse_media: 'none' },
    screening: 'true-match',
  }
  /** A playbook in force that has an outcome for some persons only. */
  async function publishNarrow(t: ExampleTenant, subject_types = ['person']): Promise<number> {
    const definition = {
      ...{ title: 'Narrow', subject_types, facts: [] },
      steps: [
        { key: 'look', kind: 'task', required: true, with: { title: 'Look', role: 'analyst' } },
        { key: 'free', kind: 'task', required: true, with: { title: 'More', role: 'analyst' } },
      ],
      outcomes: [{ code: 'INV_NO_SUSPICION', when: { segment: '"retail"' }, needs: ['look'] }],
    }
    if (subject_types.includes('person'))
      await t.make('POST /playbooks', { body: { playbook_key: 'narrow', title: 'Narrow', definition } })
    else {
      await t.make('POST /playbooks/narrow/versions', { body: {} })
      await t.make('PUT /playbooks/narrow/versions/draft', { body: { definition } })
    }
    const { version } = await t.make('POST /playbooks/narrow/versions/draft/publish', { body: {} })
    return version
  }
  const activate = (version: number) => ({ body: { version, reason: 'Reviewed' } })
  const setEntries = (t: ExampleTenant, list_key: string, entries: readonly object[]) =>
    t.make(`PUT /reference-data/datasets/${list_key}/overlay`, { body: { entries, reason: 'House view' } })
  const listCases = async (t: ExampleTenant, query = '') =>
    (await t.make(`GET /investigations?limit=200${query}`)).items

  test('a trigger of a matrix opens a case, also behind alerts and entries that open none', async () => {
    const { t, analyst, send, newSubject } = await createTeam()
    await t.make('POST /playbooks/narrow/activations', activate(await publishNarrow(t)))
    const narrow = { code: 'prohibited-band', alert_rule: 'prohibited-band', subject_type: '*', playbook: 'narrow' }
    await setEntries(t, 'investigation-triggers', [
      { key: 'freeze-and-report|*', op: 'merge', value: { is_automatic: true } },
      {
        ...{ key: 'prohibited-band|*', op: 'put' },
        value: { ...narrow, is_automatic: true, rationale: 'No outcome for everybody.' },
      },
    ])
    const others = await newSubject()
    await t.write(async (tx) => {
      for (let index = 0; index < 60; index++)
        await raiseAlert(w.kernel, tx, {
          ...{ source: 'feed', dedup_key: `${index}`, title: 'Large payment', facts: {}, priority: 'low' },
          ...{ explanation: { sentence: 'Large', fields: [], references: [] }, subject_id: others },
        })
    })
    // Older than what opens a case, and refused each time.
    const person = {
      ...{ subject_type: 'person', name: 'Bob', external_id: uuidv7(), segment: 'corporate', attributes: FACTS },
    }
    const { subject_id } = await t.make('POST /subjects', { body: person })
    await t.write(async (tx) => {
      for (let index = 0; index < 51; index++)
        await raiseAlert(w.kernel, tx, {
          ...{ source: 'matrix', dedup_key: `refused ${index}`, title: 'Band', facts: {}, priority: 'low' },
          ...{
            explanation: { sentence: 'Band', fields: [], references: [] },
            subject_id,
            rule_code: 'prohibited-band',
          },
        })
    })
    const decided = await t.make('POST /evaluations', { body: { matrix_key: 'customer-risk-person', subject_id } })
    expect(decided.outcome.required_actions).toContain('freeze-and-report')
    await runScans()
    await runScans()
    const cases = await listCases(t)
    expect(cases).toMatchObject([
      { subject: { subject_id }, origin: 'trigger', playbook: { key: 'sanctions-match' }, state: 'open' },
    ])
    const { alerts, priority } = (await send(analyst, `GET /investigations/${cases[0].investigation_id}`)).json
    expect([alerts.length, priority]).toEqual([1, 'critical'])
    const { items } = await t.make(`GET /audit/events?operation=escalateAlert`)
    expect(items).toMatchObject([{ object_id: alerts[0].alert_id, actor: 'job:investigation-triggers' }])
  })

  test('a schedule opens what is due, leaves recent and open cases alone, and survives an entry that cannot', async () => {
    const { t, newSubject, send, officer } = await createTeam()
    const [due, hidden] = [await newSubject(), await newSubject(), await newSubject()]
    await t.make('POST /playbooks/narrow/activations', activate(await publishNarrow(t)))
    const value = { subject_type: 'person', every_days: 30, rationale: 'Test' }
    const toEntries = (broken: object) => [
      { key: 'broken', op: 'put', value: { ...value, code: 'broken', ...broken } },
      { key: 'monthly', op: 'put', value: { ...value, code: 'monthly', playbook: 'edd-person' } },
    ]
    for (const broken of [{ playbook: 'no-such-playbook' }, { playbook: 'edd-person', subject_type: 'company' }]) {
      const body = { entries: toEntries(broken), reason: 'House view' }
      const refused = await send(officer, 'PUT /reference-data/datasets/investigation-schedules/overlay', body)
      expect(refused.json.gates).toMatchObject([{ gate: 'proof', detail: expect.stringContaining('broken') }])
    }
    await setEntries(t, 'investigation-schedules', toEntries({ playbook: 'narrow', segment: 'corporate' }))
    const other = { subject_type: 'person', name: 'Eve', segment: 'corporate' }
    const unclosable = (await t.make('POST /subjects', { body: other })).subject_id
    const left = await send(
      officer,
      'POST /playbooks/narrow/activations',
      activate(await publishNarrow(t, ['company'])).body,
    )
    expect(left.json.gates).toMatchObject([{ gate: 'referenced-by', detail: expect.stringContaining('broken') }])
    const owner = new pg.Client(w.clone.postgres)
    await owner.connect()
    // Known for a month: the service itself never changes when a subject was created.
    await owner.query(`set session_replication_role = replica`)
    await owner.query(`update app.subject set created_at = now() - interval '31 days' where subject_id = any ($1)`, [
      [due, hidden, unclosable],
    ])
    await owner.end()
    await t.make('POST /investigations', {
      body: { subject_id: hidden, playbook_key: 'edd-person', is_restricted: true },
    })
    const run = async () => {
      const job_id = await w.enqueue(t.tenant_id, 'investigation.open-due')
      w.startRunner(1)
      const { state, result } = await w.ended(t.tenant_id, job_id)
      await w.clear()
      return [state, result]
    }
    expect(await run()).toEqual(['succeeded', { opened: 3, failed: ['broken'] }])
    expect(await run()).toEqual(['succeeded', { opened: 0, failed: ['broken'] }])
    const cases = await listCases(t)
    expect(
      cases
        .map((each: { subject: { subject_id: string }; origin: string }) => [each.subject.subject_id, each.origin])
        .toSorted(),
    ).toEqual(
      [
        [due, 'schedule'],
        [hidden, 'request'],
        [hidden, 'schedule'],
        [unclosable, 'schedule'],
      ].toSorted(),
    )
    // Nobody could close such a case, whoever opens it or does without a step.
    const ask = (subject_id: string) => send(officer, 'POST /investigations', { subject_id, playbook_key: 'narrow' })
    expect((await ask(unclosable)).json).toMatchObject({ code: 'conflict', detail: expect.stringContaining('outcome') })
    const opened = (await ask(due)).json
    const waive = (key: string) =>
      send(officer, `POST /investigations/${opened.investigation_id}/steps/${key}/waive`, { reason: 'Seen' })
    expect((await waive('look')).json).toMatchObject({ code: 'transition_not_allowed' })
    expect((await waive('free')).status).toBe(200)
  })

  test('a case that has waited long enough goes on, with its clocks', async () => {
    const { t, analyst, open, send, read } = await createTeam()
    const { investigation_id } = (await open()).json
    const until = new Date(Date.now() + 60_000).toISOString()
    await send(analyst, `POST /investigations/${investigation_id}/wait`, { waiting_for: 'authority', until })
    await runScans()
    expect((await read(investigation_id)).waiting_for).toBe('authority')
    await t.write((tx) =>
      tx.run(
        `update app.investigation set waiting_until = now() - interval '1 s', revision = revision + 1 where tenant_id = $1`,
        [tx.tenant_id],
      ),
    )
    await runScans()
    const seen = await read(investigation_id)
    expect(seen.waiting_for).toBeNull()
    expect(seen.clocks.map(({ state }: { state: string }) => state)).not.toContain('paused')
    const { items } = await t.make('GET /audit/events?operation=resumeInvestigation')
    expect(items).toMatchObject([{ object_id: investigation_id, actor: 'job:investigation-resume' }])
  })
})

/** About the subject of the case, and attached to it. */
async function attachDocument(t: ExampleTenant, investigation_id: string, title: string, content: string) {
  const { subject } = await t.make(`GET /investigations/${investigation_id}`)
  const upload_id = await newUpload(t, 'a.txt', content)
  const stored = { upload_id, title, subject_id: subject.subject_id }
  const { document_id } = await t.make('POST /documents', { body: stored })
  const named = { owner_kind: 'investigation', owner_id: investigation_id, kind: 'document', object_id: document_id }
  return (await t.make('POST /evidence', { body: { ...named, title } })).evidence_id as string
}

describe('the way to an outcome', () => {
  test('lists every guard, takes two people, seals, and opens again under the next number', async () => {
    const { t, analyst, officer, second, send, open, read } = await createTeam()
    const { investigation_id } = (await open()).json
    const at = `/investigations/${investigation_id}`
    const propose = (who: Someone, outcome = 'INV_NO_SUSPICION') => send(who, `POST ${at}/propose-outcome`, { outcome })
    const early = await propose(analyst)
    expect([early.status, early.json.code]).toEqual([409, 'transition_not_allowed'])
    expect(codesOf(early)).toEqual(expect.arrayContaining(['gathering_running', 'step_open', 'narrative_missing']))
    await settle(t, investigation_id)
    const added_task = await send(analyst, `POST ${at}/tasks`, { title: 'Look at the funds' })
    await send(analyst, `PATCH ${at}/tasks/${added_task.json.task_id}`, { state: 'done', result: 'Funds are clean' })

    // A fact needs evidence of this case, attached and unchanged.
    const reference = {
      kind: 'external_reference',
      title: 'Register',
      reference: 'HRB 17',
      source: 'Court',
      obtained_at: '2026-01-02T00:00:00Z',
    }
    const item = await send(analyst, 'POST /evidence', {
      owner_kind: 'investigation',
      owner_id: investigation_id,
      ...reference,
    })
    expect(item.status).toBe(201)
    const passport = await attachDocument(t, investigation_id, 'Passport', 'Passport of Ada Lovelace')
    const write = (cites: string[]) =>
      send(analyst, `PUT ${at}/narrative`, { paragraphs: [{ kind: 'fact', text: 'Registered in 2020.', cites }] })
    expect((await write([])).json.findings).toMatchObject([
      { code: 'fact_without_citation', pointer: '#/narrative/paragraphs/0' },
    ])
    expect(codesOf(await propose(analyst))).toEqual(['fact_without_citation'])
    // The skeleton says what was found, and a paragraph of it that nobody finished does not count.
    const { skeleton } = (await send(analyst, `GET ${at}/narrative`)).json
    expect(skeleton.map(({ text }: { text: string }) => text)).toEqual(
      expect.arrayContaining([
        'Register: Court, obtained on 2 Jan 2026.',
        'Look at the funds: Funds are clean',
        expect.stringMatching(/^Why: the case was opened on \d+ \w+ \d+ at the request of a person/),
      ]),
    )
    const begun = { paragraphs: [{ kind: 'assessment', text: 'Conclusion: ', cites: [] }] }
    expect((await send(analyst, `PUT ${at}/narrative`, begun)).json.findings).toMatchObject([
      { code: 'paragraph_unfinished', pointer: '#/narrative/paragraphs/0' },
    ])
    expect(codesOf(await propose(analyst))).toEqual(['paragraph_unfinished'])
    const { evidence_id } = item.json
    expect((await write([evidence_id])).json).toMatchObject({ version: 3, findings: [] })
    await send(analyst, `POST /evidence/${evidence_id}/detach`, { reason: 'Another company' })
    expect(codesOf(await propose(analyst))).toEqual(['citation_detached'])
    const again = await send(analyst, 'POST /evidence', {
      owner_kind: 'investigation',
      owner_id: investigation_id,
      ...reference,
    })
    expect((await write([again.json.evidence_id])).json.findings).toEqual([])
    expect((await send(analyst, `PUT ${at}/narrative`, { ...ASSESSMENT, expected_version: 1 })).status).toBe(409)
    expect(codesOf(await propose(analyst, 'INV_UNKNOWN'))).toEqual(['outcome_not_allowed'])

    // The officer who proposed cannot close, whatever happens; another one can, if nothing has changed.
    const proposed = (await propose(officer)).json
    expect(proposed).toMatchObject({
      state: 'proposed',
      proposal: { outcome: 'INV_NO_SUSPICION', proposed_by: officer.principal },
    })
    const { proposal_hash } = proposed.proposal
    const close = (who: Someone, hash = proposal_hash) =>
      send(who, `POST ${at}/close`, { proposal_hash: hash, note: 'Agreed' })
    expect((await close(officer)).json.code).toBe('approval_own_request')
    expect((await close(analyst)).json.code).toBe('role_required')
    expect((await close(second, 'f'.repeat(64))).json).toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('Return it so that it can be proposed again'),
    })
    expect((await send(second, `POST ${at}/withdraw-proposal`, {})).json.code).toBe('transition_not_allowed')
    expect((await read(investigation_id, second)).main_action).toBe('close')
    // Nothing comes or goes under what was proposed.
    const attached = { owner_kind: 'investigation', owner_id: investigation_id, ...reference }
    for (const [act, body] of [
      ['POST /evidence', { ...attached, title: 'New' }],
      [`POST /evidence/${again.json.evidence_id}/detach`, { reason: 'Not needed' }],
    ] as const) {
      const { status, json } = await send(analyst, act, body)
      expect([act, status, json.detail]).toEqual([act, 409, 'An outcome is proposed; return it first.'])
    }
    const closed = await close(second)
    expect([closed.status, closed.json.state, closed.json.seals]).toEqual([200, 'closed', 1])
    expect(
      (await send(analyst, 'POST /evidence', { owner_kind: 'investigation', owner_id: investigation_id, ...reference }))
        .status,
    ).toBe(409)
    expect((await send(analyst, `POST ${at}/notes`, { text: 'Too late' })).status).toBe(409)

    // The archive is verified with the file and the key alone; each altered file is noticed.
    const pack = await w.call(`GET ${at}/pack`, { token: officer.token })
    expect([pack.status, pack.headers['content-disposition']]).toEqual([
      200,
      `attachment; filename="${closed.json.reference}.zip"`,
    ])
    const key = w.kernel.auditKeys.public_key
    const report = await examinePack(pack.bytes, key)
    expect(report).toMatchObject({
      faults: [],
      seal_no: 1,
      outcome: 'INV_NO_SUSPICION',
      closed_by: second.principal,
      evidence: 2,
    })
    expect(report.named).toEqual([expect.objectContaining({ no: 'E2', evidence_id: passport, title: 'Passport' })])
    const content = ['playbook', 'steps', 'tasks', 'information-requests', 'evidence', 'timeline', 'closing']
    for (const name of [...content.map((each) => `${each}.json`), 'seal.json', 'narrative.json', 'manifest.json'])
      expect((await examinePack(await alterFile(pack.bytes, name), key)).faults).not.toEqual([])
    expect((await examinePack(pack.bytes, 'A'.repeat(43))).faults).toHaveLength(2)
    // Somebody who has a file learns which evidence it is.
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-pack-'))
    const save = (name: string, bytes: Buffer | string) => {
      fs.writeFileSync(path.join(folder, name), bytes)
      return path.join(folder, name)
    }
    const verify = async (archive: Buffer, document: string) => {
      const out: string[] = []
      const terminal = { out: (line: string) => void out.push(line), note: (line: string) => void out.push(line) }
      const words = ['verify', 'pack', save('pack.zip', archive), '--document', save('a.txt', document)]
      return { code: await main(words, {}, terminal), out: out.join('\n') }
    }
    const matched = await verify(pack.bytes, 'Passport of Ada Lovelace')
    expect([matched.code, matched.out]).toEqual([0, expect.stringContaining(`is E2, “Passport” (${passport})`)])
    const unknown = await verify(pack.bytes, 'Passport of somebody')
    expect([unknown.code, unknown.out]).toEqual([1, expect.stringMatching(/\nNO EVIDENCE: /)])
    const untrue = await verify(await alterFile(pack.bytes, 'documents.json'), 'Passport of Ada Lovelace')
    expect([untrue.code, untrue.out]).toEqual([1, expect.not.stringContaining('E2')])
    fs.rmSync(folder, { recursive: true })
    // The first place of a name is the local header of the file, which some programs show.
    const renamed = Buffer.from(pack.bytes)
    renamed.write('tosks.json', renamed.indexOf('tasks.json'))
    expect((await examinePack(renamed, key)).faults).toEqual([expect.stringContaining('tasks.json')])
    // Whatever the two files hold is answered by what is wrong with them.
    const entries = [...(await readFiles(pack.bytes))].map(([name, bytes]) => ({ name, bytes }))
    const examineWith = async (name: string, content: string) =>
      (
        await examinePack(
          await zipFiles(entries.map((one) => (one.name === name ? { name, bytes: Buffer.from(content) } : one))),
        )
      ).faults
    for (const name of ['manifest.json', 'seal.json']) {
      for (const content of ['[]', '[{}]', 'null', '7'])
        expect([content, await examineWith(name, content)]).toEqual([content, [`${name} is not a JSON object.`]])
      expect(await examineWith(name, '{')).toEqual([expect.stringContaining(`${name}: The JSON ends too early.`)])
      // Without the repetition it is the file that was signed.
      const signed = `${entries.find((one) => one.name === name)?.bytes}`
      expect(await examineWith(name, signed.replace('{', '{"state":"open","\\u0073tate":"open",'))).toEqual([
        expect.stringContaining(`${name}: The name "state" appears twice`),
      ])
      expect(await examineWith(name, '{}')).toContainEqual(
        `${name}: public_key is missing or not of the form that an archive has.`,
      )
    }
    const shaped = JSON.stringify({
      ...JSON.parse(`${(await readFiles(pack.bytes)).get('manifest.json')}`),
      files: [null],
    })
    expect(await examineWith('manifest.json', shaped)).toEqual([
      'manifest.json: files is missing or not of the form that an archive has.',
    ])
    const seal = (await send(officer, `GET ${at}/seal`)).json
    expect(seal).toMatchObject({ seal_no: 1, earlier: [], outcome: 'INV_NO_SUSPICION' })

    const reopened = await send(second, `POST ${at}/reopen`, { note: 'New payments' })
    expect([reopened.json.state, reopened.json.seals, reopened.json.outcome]).toEqual(['open', 1, null])
    const findSecondClock = async () =>
      (await read(investigation_id)).clocks.find(
        ({ clock_key }: { clock_key: string }) => clock_key === 'first-action-2',
      )
    expect((await findSecondClock()).state).toBe('running')

    // A reader of the report learns on its first lines that it was closed, and what became of that.
    const collected = await w.kernel.transactions.read(fullScope(t.tenant_id, 'job:test'), (tx) =>
      collectCase(w.kernel, tx, investigation_id),
    )
    const format = createReportFormat('en-GB', 'UTC')
    const { blocks } = arrangeReport(collected, format)
    expect(blocks[0]).toMatchObject({
      title: 'Closed, sealed and opened again',
      text: expect.stringMatching(
        /^Closed .+ by .+, proposed by .+, with the outcome No suspicion \(INV_NO_SUSPICION\); sealed as number 1\. Opened again .+ by .+ because: “New payments”\./,
      ),
    })
    const said = describeEvidenceContent('document', collected.contents[passport], { format, names: {} })
    expect(said).toBe('Document, text/plain, 24 bytes, stored')

    // What was sealed is shown as it was, and said to have changed; the same where somebody altered rows behind the service.
    const { task_id } = (await send(analyst, `GET ${at}/tasks`)).json.items[0]
    for (const body of [{ state: 'open' }, { state: 'done', result: 'Funds are stolen' }])
      expect((await send(analyst, `PATCH ${at}/tasks/${task_id}`, body)).status).toBe(200)
    expect((await findSecondClock()).state).toBe('met')
    const later = await w.call(`GET ${at}/pack`, { token: officer.token })
    expect(await examinePack(later.bytes, key)).toMatchObject({
      faults: [],
      changed: ['the case is open', 'tasks.json'],
    })
    const shown = await readFiles(later.bytes)
    expect(`${shown.get('tasks.json')}`).toContain('Funds are clean')
    expect(`${shown.get('since-seal.json')}`).toContain('New payments')
    expect(JSON.parse(`${shown.get('closing.json')}`)).toMatchObject({ closed_by: second.principal, note: 'Agreed' })
    // The service signs nothing else as sealed; an earlier format is verified as far as it goes.
    const forged = new Map(shown).set('tasks.json', Buffer.from('[]'))
    expect((await examinePack(await signPack(forged), key)).faults).toEqual(['tasks.json is not what was sealed.'])
    const old = await signPack(shown, toFirstFormat)
    expect(await examinePack(old, key)).toMatchObject({ faults: [], limits: [expect.stringContaining('first format')] })
    const changedOld = await examinePack(await signPack(forged, toFirstFormat), key)
    expect(changedOld.faults).toEqual([expect.stringContaining('tasks.json is not what was sealed')])
    const next = (await propose(analyst)).json.proposal
    expect((await send(officer, `POST ${at}/return`, { note: 'Look at March' })).json.state).toBe('open')
    const last = (await propose(analyst)).json.proposal
    expect(last.proposal_hash).toBe(next.proposal_hash)
    // Two who may close it at the same moment: one of them does, and it is sealed once.
    const both = await Promise.all([officer, second].map((who) => close(who, last.proposal_hash)))
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(both.find(({ status }) => status === 200)?.json.seals).toBe(2)
    // The package of each seal stays, by its number.
    const numberOf = async (query: string) => {
      const { bytes } = await w.call(`GET ${at}/pack${query}`, { token: officer.token })
      return JSON.parse(`${(await readFiles(bytes)).get('manifest.json')}`).seal_no
    }
    expect([await numberOf(''), await numberOf('?seal_no=1')]).toEqual([2, 1])
    expect((await w.call(`GET ${at}/pack?seal_no=3`, { token: officer.token })).status).toBe(404)
    expect(codesOf(both.find(({ status }) => status === 409) ?? { json: {} })).toContain('state')
    expect((await read(investigation_id, second)).seals).toBe(2)
    const { items } = (await send(officer, `GET ${at}/timeline?limit=200`)).json
    expect(items.find(({ kind }: { kind: string }) => kind === 'reopened').note).toBe('New payments')
    expect(items.filter(({ kind }: { kind: string }) => kind === 'closed')).toHaveLength(2)
    expect(items.map(({ kind }: { kind: string }) => kind)).toEqual(
      expect.arrayContaining(['closed', 'returned', 'evidence_detached', 'opened']),
    )
  })

  test('whatever a person does with the case first ends its clock first-action, and nothing else does', async () => {
    const { t, analyst, officer, send, open, read, newSubject } = await createTeam()
    const findClock = async (id: string) =>
      (await read(id)).clocks.find(({ clock_key }: { clock_key: string }) => clock_key === 'first-action').state
    const evidence = { kind: 'external_reference', title: 'Letter', reference: '17', source: 'Post' }
    const reason = 'The list is not needed here'
    const narrative = { paragraphs: [{ kind: 'assessment', text: 'It fits the business.', cites: [] }] }
    const acts: readonly [Someone, (id: string) => string, (id: string) => object][] = [
      [analyst, (id) => `PATCH /investigations/${id}`, () => ({ priority: 'high' })],
      [analyst, (id) => `POST /investigations/${id}/notes`, () => ({ text: 'Called the branch' })],
      [analyst, (id) => `PUT /investigations/${id}/narrative`, () => narrative],
      [analyst, (id) => `POST /investigations/${id}/tasks`, () => ({ title: 'Look' })],
      [officer, (id) => `POST /investigations/${id}/steps/source-of-funds/waive`, () => ({ reason })],
      [
        analyst,
        () => 'POST /evidence',
        (owner_id) => ({ ...evidence, owner_kind: 'investigation', owner_id, obtained_at: '2026-01-01T00:00:00Z' }),
      ],
    ]
    for (const [who, at, body] of acts) {
      const subject_id = await newSubject()
      const { investigation_id } = (await open(analyst, { subject_id })).json
      await open(officer, { subject_id })
      const { status } = await send(who, at(investigation_id), body(investigation_id))
      expect([at('x'), status < 300, await findClock(investigation_id)]).toEqual([at('x'), true, 'met'])
    }
    const untouched = (await open()).json
    expect((await send(officer, `PATCH /investigations/${untouched.investigation_id}`, { title: ' ' })).status).toBe(
      422,
    )
    expect((await send(officer, `POST /investigations/${untouched.investigation_id}/resume`, {})).status).toBe(409)
    await settle(t, untouched.investigation_id)
    expect(await findClock(untouched.investigation_id)).toBe('running')
  })

  test('waits with paused clocks, and a task of a step ends it', async () => {
    const { t, analyst, send, open, read } = await createTeam()
    const { investigation_id } = (await open()).json
    const at = `/investigations/${investigation_id}`
    expect(
      (await send(analyst, `POST ${at}/wait`, { waiting_for: 'authority', note: 'Letter sent' })).json.waiting_for,
    ).toBe('authority')
    expect((await read(investigation_id)).clocks.map(({ state }: { state: string }) => state)).toContain('paused')
    expect((await send(analyst, `POST ${at}/wait`, { waiting_for: 'other' })).status).toBe(409)
    expect((await send(analyst, `POST ${at}/resume`, {})).json.waiting_for).toBeNull()
    const task = await send(analyst, `POST ${at}/tasks`, {
      title: 'Look',
      checklist: ['One', 'Two'],
      is_required: true,
    })
    const patch = (body: object) => send(analyst, `PATCH ${at}/tasks/${task.json.task_id}`, body)
    expect((await patch({ state: 'done' })).status).toBe(409)
    expect((await patch({ state: 'cancelled' })).status).toBe(409)
    expect((await patch({ state: 'done', checklist: [true, true] })).json.state).toBe('done')
    const asked = await send(analyst, `POST ${at}/information-requests`, {
      addressee: 'Branch',
      question: 'Which contract?',
    })
    expect((await read(investigation_id)).next_actions[0].missing.map(({ code }: { code: string }) => code)).toContain(
      'information_open',
    )
    const service = await t.token(['service'])
    const fulfilled = await w.call(`POST ${at}/information-requests/${asked.json.request_id}/fulfil`, {
      token: service,
      body: { answer: 'Number 17' },
    })
    expect([fulfilled.status, fulfilled.json.state, fulfilled.text.includes('Number 17')]).toEqual([
      200,
      'fulfilled',
      false,
    ])
  })
})

describe('an own playbook', () => {
  const task = (key: string, more: object = {}) => ({
    ...{ key, kind: 'task', with: { title: 'Look at it', role: 'analyst' } },
    ...more,
  })
  /** In force, with another version each time. */
  async function publish(t: ExampleTenant, parts: object, version = 1): Promise<void> {
    const definition = { title: 'Own', subject_types: ['person'], facts: [], ...parts }
    if (version === 1) await t.make('POST /playbooks', { body: { playbook_key: 'own', title: 'Own', definition } })
    else {
      await t.make('POST /playbooks/own/versions', { body: {} })
      await t.make('PUT /playbooks/own/versions/draft', { body: { definition } })
    }
    await t.make('POST /playbooks/own/versions/draft/publish', { body: {} })
    await t.make('POST /playbooks/own/activations', { body: { version, reason: 'Reviewed' } })
  }
  /** As the job leaves steps; `states`: those that one goes through. */
  const setSteps = (t: ExampleTenant, id: string, steps: Readonly<Record<string, readonly string[]>>) =>
    t.write(async (tx) => {
      for (const [key, sets] of Object.entries(steps))
        for (const set of sets)
          await tx.run(
            `update app.investigation_step set ${set}, revision = revision + 1 where tenant_id = $1 and investigation_id = $2 and step_key = $3`,
            [tx.tenant_id, id, key],
          )
      await tx.run(
        `update app.investigation set gathering = 'partial' where tenant_id = $1 and investigation_id = $2`,
        [tx.tenant_id, id],
      )
    })
  const RUN = `state = 'running', started_at = now()`
  /** As the gauge is read. */
  const readWaiting = async (): Promise<number> => {
    const limits = { max: 1, prepared: false, statement_timeout_ms: 60_000, wait_ms: 60_000 }
    const worker = new Database({ connection: w.clone.worker, ...limits })
    const { waiting } = await worker.one(fullScope(SYSTEM_TENANT, 'operator:test'), countGathering)
    await worker.end()
    return waiting
  }

  test('a step that failed for good and that every outcome needs is waived by one person, and the case closed by others', async () => {
    const { t, analyst, officer, second, send, newSubject } = await createTeam()
    const outcomes = ['INV_NO_SUSPICION', 'INV_SUSPICION'].map((code) => ({ code, needs: ['ask'] }))
    await publish(t, { steps: [task('ask', { required: true }), task('more')], outcomes })
    const opened = await send(analyst, 'POST /investigations', { subject_id: await newSubject(), playbook_key: 'own' })
    const { investigation_id } = opened.json
    const at = `/investigations/${investigation_id}`
    const waive = () => send(officer, `POST ${at}/steps/ask/waive`, { reason: 'The provider is gone' })
    await setSteps(t, investigation_id, { more: [`state = 'waiting', started_at = now()`] })
    // What can still be done is not done without.
    expect((await waive()).json.detail).toContain('Every outcome that is left')
    const failed = `state = 'failed', ended_at = now(), problem = '{"code":"dependency_unavailable"}'`
    await setSteps(t, investigation_id, { ask: [RUN, failed] })
    expect((await waive()).json.state).toBe('waived')
    await setSteps(t, investigation_id, {})
    await send(analyst, `PUT ${at}/narrative`, ASSESSMENT)
    const propose = (more: object = {}) =>
      send(analyst, `POST ${at}/propose-outcome`, { outcome: 'INV_NO_SUSPICION', ...more })
    const bare = await propose()
    expect([codesOf(bare), bare.json.errors[0].pointer]).toEqual([['reason_required'], '#/note'])
    const { proposal } = (await propose({ note: 'The register is public and was read on paper' })).json
    expect(proposal.without).toEqual(['ask'])
    const close = (who: Someone) => send(who, `POST ${at}/close`, { proposal_hash: proposal.proposal_hash })
    expect((await close(officer)).json).toMatchObject({
      code: 'approval_own_request',
      detail: expect.stringContaining('You waived'),
    })
    const waiting = await readWaiting()
    expect(waiting).toBeGreaterThan(0)
    expect((await close(second)).json.state).toBe('closed')
    // What nobody waits for any more is not counted.
    expect(await readWaiting()).toBe(waiting - 1)
    expect((await send(officer, `GET ${at}/seal`)).json.manifest).toMatchObject({ without: ['ask'] })
  })

  test('what an outcome needs is left out by its condition until the case is closed, and waived where it could not be asked', async () => {
    const { t, analyst, officer, second, send, newSubject } = await createTeam()
    const steps = [task('ask', { when: { segment: '"vip"' } }), task('more')]
    await publish(t, { steps, outcomes: [{ code: 'INV_NO_SUSPICION', needs: ['ask'] }] })
    const open = async (left_out: string) => {
      const subject_id = await newSubject()
      const setSegment = (segment: string) => send(analyst, `PATCH /subjects/${subject_id}`, { segment })
      await setSegment('vip')
      const { investigation_id } = (await send(analyst, 'POST /investigations', { subject_id, playbook_key: 'own' }))
        .json
      const at = `/investigations/${investigation_id}`
      await send(analyst, `PUT ${at}/narrative`, ASSESSMENT)
      await setSteps(t, investigation_id, { ask: [`state = 'skipped', ended_at = now()${left_out}`] })
      const propose = () =>
        send(analyst, `POST ${at}/propose-outcome`, { outcome: 'INV_NO_SUSPICION', note: 'Known from the register' })
      return { at, investigation_id, setSegment, propose }
    }
    const changed = await open('')
    await changed.setSegment('retail')
    const { proposal } = (await changed.propose()).json
    expect(proposal.without).toEqual(['ask'])
    await changed.setSegment('vip')
    const closed = await send(officer, `POST ${changed.at}/close`, { proposal_hash: proposal.proposal_hash })
    expect(codesOf(closed)).toEqual(['step_applies'])
    const unasked = await open(`, problem = '{"code":"provider_credential_missing"}'`)
    expect(codesOf(await unasked.propose())).toEqual(['outcome_needs_step'])
    const waived = await send(officer, `POST ${unasked.at}/steps/ask/waive`, {
      reason: 'No contract with the provider',
    })
    expect(waived.json.state).toBe('waived')
    await setSteps(t, unasked.investigation_id, {})
    const { json } = await unasked.propose()
    expect(json.proposal.without).toEqual(['ask'])
    const body = { proposal_hash: json.proposal.proposal_hash }
    expect((await send(second, `POST ${unasked.at}/close`, body)).json.state).toBe('closed')
  })

  test('a waiver of an untried step does not count for the last outcome, and is taken back', async () => {
    const { t, analyst, officer, send, newSubject } = await createTeam()
    const outcomes = [
      { code: 'INV_NO_SUSPICION', needs: ['ask'] },
      { code: 'INV_SUSPICION', when: { segment: '"retail"' } },
    ]
    await publish(t, { steps: [task('ask'), task('more')], outcomes })
    const subject_id = await newSubject()
    const setSegment = (segment: string) => send(analyst, `PATCH /subjects/${subject_id}`, { segment })
    await setSegment('retail')
    const { investigation_id } = (await send(analyst, 'POST /investigations', { subject_id, playbook_key: 'own' })).json
    const at = `/investigations/${investigation_id}`
    await setSteps(t, investigation_id, {})
    const waived = await send(officer, `POST ${at}/steps/ask/waive`, { reason: 'Another outcome is left' })
    expect(waived.json.state).toBe('waived')
    await setSegment('vip')
    await send(analyst, `PUT ${at}/narrative`, ASSESSMENT)
    await setSteps(t, investigation_id, {})
    const refused = await send(analyst, `POST ${at}/propose-outcome`, { outcome: 'INV_NO_SUSPICION', note: 'No other' })
    expect([refused.status, codesOf(refused), refused.json.errors[0].pointer]).toEqual([
      409,
      ['step_not_tried'],
      '#/steps/ask',
    ])
    expect((await send(analyst, `POST ${at}/steps/ask/retry`)).status).toBe(202)
    expect((await send(analyst, `GET ${at}/steps`)).json.items[0]).toMatchObject({ state: 'pending', waiver: null })
  })

  test('a step that was left out and applies when somebody closes keeps the case, and the pinned version says which outcomes it has', async () => {
    const { t, analyst, officer, send, newSubject } = await createTeam()
    const code = 'INV_X_LOCAL'
    const value = { code, area: 'investigation', title: 'Local', text: 'A local outcome.', outcome: 'lower' }
    const entries = [{ op: 'put', key: code, value }]
    const reasonCodes = '/reference-data/datasets/reason-codes/overlay'
    await t.make(`PUT ${reasonCodes}`, { body: { entries, reason: 'House view' } })
    const vip = { required: true, when: { segment: '"vip"' } }
    const content = { steps: [task('pep', vip), task('more')], outcomes: [code] }
    await publish(t, content)
    const subject_id = await newSubject()
    const setSegment = (segment: string) => send(analyst, `PATCH /subjects/${subject_id}`, { segment })
    await setSegment('retail')
    const opened = await send(analyst, 'POST /investigations', { subject_id, playbook_key: 'own' })
    const at = `/investigations/${opened.json.investigation_id}`
    // A later version has another outcome, and the list loses the code of the first.
    await publish(t, { ...content, outcomes: ['INV_NO_SUSPICION'] }, 2)
    await t.make(`DELETE ${reasonCodes}?reason=House%20view`)
    await setSteps(t, opened.json.investigation_id, { pep: [`state = 'skipped', ended_at = now()`] })
    await send(analyst, `PUT ${at}/narrative`, ASSESSMENT)
    expect((await send(analyst, `GET ${at}`)).json.outcomes).toEqual([code])
    const { proposal } = (await send(analyst, `POST ${at}/propose-outcome`, { outcome: code })).json
    const close = () => send(officer, `POST ${at}/close`, { proposal_hash: proposal.proposal_hash })
    await setSegment('vip')
    expect(codesOf(await close())).toEqual(['step_applies'])
    await setSegment('retail')
    expect((await close()).json).toMatchObject({ state: 'closed', outcome: code })
  })
})

test.each([
  ['open', { state: 'pending' }, null],
  ['merged', { state: 'pending' }, 'case_merged'],
  ['closed', { state: 'waiting' }, 'case_closed'],
  ['closed', { state: 'succeeded' }, null],
  ['open', { state: 'skipped' }, 'condition_not_met'],
  ['open', { state: 'skipped', problem: { code: 'plugin_invalid' } }, 'not_asked'],
  ['open', { state: 'waived', waive_reason: 'Seen on paper' }, 'waived'],
] as const)('of a case that is %s, a step %o has the reason %s and no run time', (state, step, code) => {
  const times = { started_at: '2026-01-01T00:00:00Z', ended_at: null }
  const row = { kind: 'provider', definition: {}, problem: null, ...times, ...step } as unknown as StepRow
  const { reason, run_ms } = toStepView({ state }, row)
  expect([reason?.code ?? null, run_ms]).toEqual([code, null])
})

test('an erasure of the subject waits for its open cases, and leaves what was decided and nothing about the person', async () => {
  const { t, analyst, officer, second, send, newSubject, read } = await createTeam()
  const subject_id = await newSubject()
  const openBy = async (playbook_key: string) =>
    (await send(analyst, 'POST /investigations', { subject_id, playbook_key, title: 'Ada and her payments' })).json
  const [ended, running] = [await openBy('edd-person'), await openBy('sanctions-match')]
  const at = `/investigations/${ended.investigation_id}`
  const TEXT = 'Ada was seen in Turin'
  for (const { investigation_id } of [ended, running])
    await send(analyst, `POST /investigations/${investigation_id}/notes`, { text: TEXT })
  await send(analyst, `POST /investigations/${running.investigation_id}/tasks`, { title: TEXT })
  const question = { addressee: 'Branch', question: TEXT }
  const requests = `/investigations/${running.investigation_id}/information-requests`
  const { request_id } = (await send(analyst, `POST ${requests}`, question)).json
  const end = async (investigation_id: string, outcome: string) => {
    const path = `/investigations/${investigation_id}`
    await settle(t, investigation_id)
    await send(analyst, `PUT ${path}/narrative`, { paragraphs: [{ kind: 'assessment', text: TEXT, cites: [] }] })
    const { proposal } = (await send(analyst, `POST ${path}/propose-outcome`, { outcome })).json
    expect((await send(officer, `POST ${path}/close`, { proposal_hash: proposal.proposal_hash })).status).toBe(200)
  }
  await end(ended.investigation_id, 'INV_NO_SUSPICION')
  const sealed = (await send(officer, `GET ${at}/seal`)).json
  const kept = await send(officer, `POST /subjects/${subject_id}/erase`, { reason: 'Asked for' })
  expect([kept.status, kept.json.code]).toEqual([409, 'open_case'])
  await send(analyst, `POST ${requests}/${request_id}/fulfil`, {})
  await end(running.investigation_id, 'INV_FALSE_MATCH')

  const { erasure_id } = (await send(officer, `POST /subjects/${subject_id}/erase`, { reason: 'Asked for' })).json
  const confirmed = await send(second, `POST /erasures/${erasure_id}/confirm`)
  expect(confirmed.status, confirmed.text).toBe(202)
  w.startRunner(1)
  expect((await w.ended(t.tenant_id, confirmed.json.job_id)).state).toBe('succeeded')
  const samples = (await w.runtime.metrics.registry.metrics()).split('\n')
  const sample = (name: string) => Number(samples.find((line) => line.startsWith(`${name} `))?.split(' ')[1])
  expect(sample('probity_investigations_open{state="open"}')).toBeGreaterThan(0)
  expect(sample('probity_investigations_oldest_open_seconds{state="open"}')).toBeGreaterThan(0)
  expect(sample('probity_investigations_closed_total{outcome="INV_NO_SUSPICION"}')).toBeGreaterThan(0)
  await w.clear()

  const paths = ['', '/notes', '/tasks', '/information-requests', '/narrative', '/timeline?limit=200', '/steps']
  for (const { investigation_id } of [ended, running])
    for (const path of paths) {
      const { status, text } = await send(officer, `GET /investigations/${investigation_id}${path}`)
      expect([path, status, /Ada|Turin/.test(text)]).toEqual([path, path === '/narrative' ? 410 : 200, false])
    }
  expect(await read(ended.investigation_id)).toMatchObject({ state: 'closed', outcome: 'INV_NO_SUSPICION', seals: 1 })
  expect((await send(officer, `GET ${at}/seal`)).json).toEqual(sealed)
  expect(await read(running.investigation_id)).toMatchObject({ state: 'closed', title: 'erased' })
  expect((await send(analyst, 'POST /investigations', { subject_id, playbook_key: 'edd-person' })).status).toBe(410)
})

describe('an alert', () => {
  const reportAbout = (subject_id: string) => ({
    source: 'feed',
    dedup_key: uuidv7(),
    title: 'A listed name',
    priority: 'high',
    subject_id,
  })

  test('opens or joins the case of its subject when it is escalated, and shares the restriction of a new one', async () => {
    const { t, analyst, officer, send, newSubject, read } = await createTeam()
    const subject_id = await newSubject()
    const escalate = async (body: object = {}) => {
      const { alert_id } = (await send(analyst, 'POST /alerts', reportAbout(subject_id))).json
      return (await send(analyst, `POST /alerts/${alert_id}/escalate`, { note: 'Look into it', ...body })).json
    }
    const first = await escalate()
    const opened = await read(first.investigation_id)
    expect(opened).toMatchObject({
      origin: 'alert',
      priority: 'high',
      restriction_id: (await send(officer, `GET /alerts/${first.alert_id}`)).json.restriction_id,
      playbook: { key: 'edd-person' },
      title: 'A listed name',
    })
    // Why it was escalated is read in the case too.
    const { items } = (await send(officer, `GET /investigations/${first.investigation_id}/notes`)).json
    expect(items).toMatchObject([{ text: 'Look into it', created_by: analyst.principal }])
    const second = await escalate()
    expect(second.investigation_id).toBe(first.investigation_id)
    expect((await read(first.investigation_id)).alerts).toHaveLength(2)
    // What joined leaves nothing in the case: it may be restricted later, alone.
    expect((await send(officer, `GET /investigations/${first.investigation_id}/notes`)).json.items).toHaveLength(1)
    const { restriction_id } = (await send(officer, `GET /alerts/${second.alert_id}`)).json
    expect((await send(officer, `POST /restrictions/${restriction_id}/impose`)).status).toBe(200)
    const { text } = await send(analyst, `GET /investigations/${first.investigation_id}/timeline?limit=200`)
    expect([text.includes('"kind":"opened"'), text.includes(second.alert_id)]).toEqual([true, false])
    expect((await send(officer, `POST /restrictions/${restriction_id}/lift`, { reason: 'No suspicion' })).status).toBe(
      200,
    )
    expect((await escalate({ playbook_key: 'sanctions-match' })).investigation_id).not.toBe(first.investigation_id)
    // Both are hidden together; an alert that joined does not name the hidden case.
    await send(officer, `PUT /investigations/${first.investigation_id}/access`, {
      is_restricted: true,
      reason: 'Suspicion',
    })
    expect((await send(analyst, `GET /alerts/${first.alert_id}`)).status).toBe(404)
    expect((await send(analyst, `GET /alerts/${second.alert_id}`)).json).toMatchObject({
      state: 'escalated',
      investigation_id: null,
    })
    const none = (await send(analyst, 'POST /alerts', { ...reportAbout(subject_id), subject_id: null })).json
    expect(
      (await send(analyst, `POST /alerts/${none.alert_id}/escalate`, { note: 'Look', playbook_key: 'edd-person' }))
        .status,
    ).toBe(409)
    expect((await send(analyst, `POST /alerts/${none.alert_id}/escalate`, { note: 'Look' })).json).toMatchObject({
      state: 'escalated',
      investigation_id: null,
    })

    // By a list, without a person.
    const { alert_id } = (await send(analyst, 'POST /alerts', reportAbout(await newSubject()))).json
    const byPolicy = () =>
      t.write((tx) => escalateByPolicy(w.kernel, tx, alert_id, { playbook_key: 'edd-person', escalates }))
    expect([await byPolicy(), await byPolicy()]).toEqual([true, false])
    const { investigation_id } = (await send(analyst, `GET /alerts/${alert_id}`)).json
    expect((await read(investigation_id)).origin).toBe('trigger')
  })

  test('is investigated by the most specific entry of the list', () => {
    const entry = (alert_rule: string, subject_type: string, playbook: string) => ({
      code: playbook,
      alert_rule,
      subject_type,
      playbook,
      is_automatic: false,
    })
    const triggers = [
      entry('*', '*', 'any'),
      entry('*', 'person', 'person'),
      entry('match', '*', 'match'),
      entry('match', 'company', 'both'),
    ]
    const choose = (rule_code: string | null, subject_type: string) =>
      chooseTrigger(triggers, { rule_code, subject_type })?.playbook
    expect([
      choose('match', 'company'),
      choose('match', 'person'),
      choose(null, 'person'),
      choose('x', 'other'),
    ]).toEqual(['both', 'match', 'person', 'any'])
    expect(chooseTrigger([], { rule_code: 'match', subject_type: 'person' })).toBeUndefined()
  })
})

describe('access', () => {
  test('restricting a case hides it and all of it, and merging keeps who may see both', async () => {
    const { t, analyst, officer, second, send, open, read, newSubject } = await createTeam()
    const [one, two] = [(await open()).json, (await open()).json]
    const mergeInto = (from: { investigation_id: string }, into: { investigation_id: string }) =>
      send(officer, `POST /investigations/${from.investigation_id}/merge`, {
        into: into.investigation_id,
        note: 'The same',
      })
    const restrict = (id: string, who: Someone, people: string[]) =>
      send(who, `PUT /investigations/${id}/access`, { is_restricted: true, people, reason: 'Suspicion' })
    expect((await restrict(one.investigation_id, officer, [second.user_id])).json.is_restricted).toBe(true)
    expect((await send(analyst, `GET /investigations/${one.investigation_id}`)).status).toBe(404)
    expect((await send(analyst, `GET /jobs/${one.job_id}`)).status).toBe(404)
    expect((await restrict(two.investigation_id, officer, [analyst.user_id])).status).toBe(200)
    expect((await read(two.investigation_id)).counts.people_with_access).toBe(2)
    // What runs would be lost.
    expect(codesOf(await mergeInto(one, two))).toEqual(['gathering_running'])
    await settle(t, one.investigation_id)
    // Nobody who sees the first may miss the second: they would learn of a hidden case.
    expect((await mergeInto(one, two)).json.code).toBe('conflict')
    const free = (await open()).json
    await settle(t, free.investigation_id)
    expect((await mergeInto(free, two)).json.code).toBe('conflict')
    expect((await read(free.investigation_id)).state).toBe('open')
    const grant = { user_id: second.user_id, reason: 'Works on the first' }
    const grants = `POST /investigations/${two.investigation_id}/access/grants`
    const viewer = await w.person(t.tenant_id, ['viewer'])
    for (const useless of [
      await send(officer, grants, { ...grant, user_id: viewer.user_id }),
      await restrict(two.investigation_id, officer, [analyst.user_id, viewer.user_id]),
    ])
      expect([useless.status, useless.json.detail]).toEqual([409, expect.stringContaining('the role viewer')])
    expect((await send(officer, grants, grant)).status).toBe(201)
    const merged = await mergeInto(one, two)
    expect([merged.status, merged.json.state, merged.json.merged_into]).toEqual([200, 'merged', two.investigation_id])
    // The analyst could not see the first one.
    expect((await send(analyst, `GET /investigations/${two.investigation_id}`)).status).toBe(404)
    expect((await send(second, `GET /investigations/${one.investigation_id}`)).json.merged_into).toBe(
      two.investigation_id,
    )
    // An open case that is merged with a restricted one becomes restricted.
    const [three, four] = [(await open()).json, (await open(undefined, { subject_id: await newSubject() })).json]
    await restrict(three.investigation_id, officer, [second.user_id])
    await settle(t, three.investigation_id)
    expect((await mergeInto(three, four)).status).toBe(200)
    expect((await send(analyst, `GET /investigations/${four.investigation_id}`)).status).toBe(404)
    expect((await send(second, `GET /investigations/${four.investigation_id}`)).status).toBe(200)
    const log = (await send(officer, `GET /investigations/${four.investigation_id}/access-log`)).json.items
    expect(log.map(({ operation }: { operation: string }) => operation)).toContain('getInvestigation')
  })

  test('what is restricted after it was linked is not shown in a case that everybody sees', async () => {
    const { t, analyst, officer, second, send, open, read } = await createTeam()
    const { investigation_id } = (await open()).json
    const at = `/investigations/${investigation_id}`
    await settle(t, investigation_id)
    const alert = { source: 'desk', dedup_key: uuidv7(), title: 'Hidden later', priority: 'medium' }
    const { alert_id } = (await send(officer, 'POST /alerts', alert)).json
    const { restriction_id } = (await send(officer, `GET /alerts/${alert_id}`)).json
    expect((await send(analyst, `POST ${at}/alerts`, { alert_ids: [alert_id] })).status).toBe(200)
    const { upload_id } = (
      await w.call('POST /uploads?file_name=a.txt', {
        token: officer.token,
        body: Buffer.from(uuidv7()),
        headers: { 'content-type': 'application/octet-stream' },
      })
    ).json
    const { document_id } = (await send(officer, 'POST /documents', { upload_id, title: 'A paper', restriction_id }))
      .json
    const attached = { owner_kind: 'investigation', owner_id: investigation_id, kind: 'document', title: 'Paper' }
    const { evidence_id } = (await send(officer, 'POST /evidence', { ...attached, object_id: document_id })).json
    const paragraphs = [{ kind: 'fact', text: 'It is so.', cites: [evidence_id] }]
    expect((await send(officer, `PUT ${at}/narrative`, { paragraphs })).json.findings).toEqual([])
    expect((await read(investigation_id)).counts).toMatchObject({ alerts: 1, evidence: 1 })
    expect((await send(officer, `POST /restrictions/${restriction_id}/impose`)).status).toBe(200)

    const seen = await read(investigation_id)
    expect([seen.alerts, seen.counts.alerts, seen.counts.evidence]).toEqual([[], 0, 0])
    for (const path of [`${at}/timeline?limit=200`, `/evidence?owner_id=${investigation_id}`]) {
      const { text } = await send(analyst, `GET ${path}`)
      expect([path, [alert_id, document_id].filter((id) => text.includes(id))]).toEqual([path, []])
    }
    expect((await send(analyst, `GET /evidence/${evidence_id}`)).status).toBe(404)
    // A reader without access sees neither its id nor a count; its author sees it.
    const { json: shown, text: narrative } = await send(analyst, `GET ${at}/narrative`)
    expect([shown.paragraphs[0].cites, shown.findings.length, narrative.includes(evidence_id)]).toEqual([[], 1, false])
    expect((await send(officer, `GET ${at}/narrative`)).json.paragraphs).toEqual(paragraphs)
    const report = await w.runtime.database.read(requestScope({ ...t, principal: analyst.principal }), (tx) =>
      collectCase(w.kernel, tx, investigation_id),
    )
    expect([report.narrative?.paragraphs, JSON.stringify(report).includes(evidence_id)]).toEqual([
      [{ kind: 'fact', text: 'It is so.', cites: [], cites_more: true }],
      false,
    ])
    const outcome = { outcome: 'INV_NO_SUSPICION' }
    const refused = await send(analyst, `POST ${at}/propose-outcome`, outcome)
    expect([codesOf(refused), refused.json.detail]).toEqual([
      ['citation_unknown'],
      expect.stringContaining('available to you'),
    ])
    // Who has access proposes; nobody closes on what they cannot read, or reads a seal that names it.
    const { proposal } = (await send(officer, `POST ${at}/propose-outcome`, outcome)).json
    const close = (who: Someone) => send(who, `POST ${at}/close`, { proposal_hash: proposal.proposal_hash })
    expect(codesOf(await close(second))).toEqual(['citation_unknown', 'evidence_not_available'])
    const grant = { effect: 'grant', reason: 'Decides' }
    const place = `/restrictions/${restriction_id}/access/${second.user_id}`
    expect((await send(officer, `PUT ${place}`, grant)).status).toBe(200)
    expect((await close(second)).json.state).toBe('closed')
    const third = await w.person(t.tenant_id, ['compliance_officer'])
    for (const path of ['seal', 'pack'])
      expect([
        (await send(third, `GET ${at}/${path}`)).status,
        (await send(second, `GET ${at}/${path}`)).status,
      ]).toEqual([409, 200])
    // An alert alone: the seal would name it too.
    const other = (await open()).json.investigation_id
    await settle(t, other)
    await send(officer, `PUT /investigations/${other}/narrative`, ASSESSMENT)
    const linked = (await send(officer, 'POST /alerts', { ...alert, dedup_key: uuidv7() })).json.alert_id
    expect((await send(officer, `POST /investigations/${other}/alerts`, { alert_ids: [linked] })).status).toBe(200)
    const { restriction_id: hiding } = (await send(officer, `GET /alerts/${linked}`)).json
    expect((await send(officer, `POST /restrictions/${hiding}/impose`)).status).toBe(200)
    const { proposal: later } = (await send(officer, `POST /investigations/${other}/propose-outcome`, outcome)).json
    const closeOther = (who: Someone) =>
      send(who, `POST /investigations/${other}/close`, { proposal_hash: later.proposal_hash })
    expect(codesOf(await closeOther(third))).toEqual(['evidence_not_available'])
    await send(officer, `PUT /restrictions/${hiding}/access/${third.user_id}`, grant)
    expect((await closeOther(third)).json.state).toBe('closed')
  })

  test('a restricted case changes no answer to anybody else, and its people learn who asked', async () => {
    const { t, officer, second, send, newSubject, open, read } = await createTeam()
    const everyRole = ['analyst', 'compliance_officer', 'auditor', 'policy_editor', 'tenant_admin'] as const
    const outsider = await w.person(t.tenant_id, everyRole)
    const subject_id = await newSubject()
    const openFor = (who: Someone, more: object = {}) =>
      send(who, 'POST /investigations', { subject_id, playbook_key: 'edd-person', ...more })
    const visible = (await open(outsider)).json
    const paths = [
      '/investigations?limit=200',
      '/work/queues',
      '/work/clocks',
      '/work/mine',
      '/work/people',
      '/jobs',
      '/events',
      '/restrictions',
      '/evidence',
      '/holds',
      '/providers/calls',
      '/audit/events?limit=200&operation=createInvestigation',
      '/search?q=Ada',
      '/playbooks/edd-person/statistics',
      '/analytics/overview',
      `/subjects/${subject_id}`,
      `/subjects/${subject_id}/timeline`,
      `/audit/objects/subjects/${subject_id}`,
    ]
    const look = async () => {
      const seen: Record<string, unknown> = {}
      for (const path of paths) {
        const { status, json } = await send(outsider, `GET ${path}`)
        seen[path] = [
          status,
          JSON.parse(JSON.stringify(json, (key, value) => (/_at$|^at$|_s$/.test(key) ? null : value))),
        ]
      }
      return seen
    }
    const before = await look()
    expect(Object.entries(before).filter(([, answer]) => (answer as [number])[0] !== 200)).toEqual([])
    const hidden = (await openFor(officer, { is_restricted: true })).json
    const { restriction_id } = await read(hidden.investigation_id, officer)
    await send(officer, `POST /investigations/${hidden.investigation_id}/notes`, { text: 'Nobody else may know' })
    expect(await look()).toEqual(before)

    // Joining, merging, and filters by its ids: as if it were not there.
    for (const [at, body] of [
      [`GET /investigations/${hidden.investigation_id}`],
      [`GET /jobs/${hidden.job_id}`],
      [`GET /restrictions/${restriction_id}`],
      [`POST /investigations/${visible.investigation_id}/merge`, { into: hidden.investigation_id, note: 'Same' }],
    ] as const) {
      const known = await send(outsider, at, body)
      const swap = (text: string) =>
        text
          .replace(hidden.investigation_id, uuidv7())
          .replace(hidden.job_id, uuidv7())
          .replace(restriction_id, uuidv7())
      const random = await send(outsider, swap(at), body && JSON.parse(swap(JSON.stringify(body))))
      expect([at, known.status, known.json.code]).toEqual([at, random.status, random.json.code])
      expect(known.status).toBeGreaterThanOrEqual(404)
    }
    const opened = await openFor(outsider)
    expect([opened.status, opened.json.joined]).toEqual([202, false])
    // An officer with access joins the case that everybody sees, not this one.
    expect((await openFor(officer)).json.investigation_id).toBe(opened.json.investigation_id)
    const { items } = (await send(officer, `GET /investigations/${hidden.investigation_id}/timeline?limit=100`)).json
    const notices = items.filter(({ kind }: { kind: string }) => kind === 'other_case_requested')
    expect(notices.map(({ recorded_by, data }: Record<string, unknown>) => [recorded_by, data])).toEqual([
      [officer.principal, { investigation_id: opened.json.investigation_id }],
      [outsider.principal, { investigation_id: opened.json.investigation_id }],
    ])
    const theirs = (await send(outsider, `GET /investigations/${opened.json.investigation_id}/timeline`)).text
    expect(theirs).not.toContain(hidden.investigation_id)
    // The other case is restricted to somebody else: its id is gone from this one.
    const narrow = { is_restricted: true, people: [], reason: 'Suspicion' }
    expect((await send(second, `PUT /investigations/${opened.json.investigation_id}/access`, narrow)).status).toBe(200)
    const later = await send(officer, `GET /investigations/${hidden.investigation_id}/timeline?limit=100`)
    expect([later.status, later.text.includes(opened.json.investigation_id)]).toEqual([200, false])
  })
})
