/** Texts that people typed about a subject outside its record: notes of orders, reasons, categories. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LedgerEntry } from '#kernel/erasure/ledger.ts'
import { fixtures } from '#modules/source-contracts/fixtures.ts'
import { createCaseTeam, settleSteps } from '#test/support/case-team.ts'
import { ensurePolicy } from '#test/support/example-policy.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'
import { createMemoryLedger } from '#test/support/memory-ledger.ts'
import type { Fixture } from '#test/support/operation-fixture.ts'

let w: JobTestApp
let team: Awaited<ReturnType<typeof createCaseTeam>>
type Someone = (typeof team)['officer']
const ledger: LedgerEntry[] = []

beforeAll(async () => {
  w = await startJobTestApp({ erasureLedger: createMemoryLedger(ledger) })
  team = await createCaseTeam(w)
})
afterAll(() => w.close())

/** Succeeds, and returns the answer. */
async function make(who: Someone, line: string, body?: object) {
  const { status, json } = await team.send(who, line, body)
  expect([line, status < 300, json?.detail]).toEqual([line, true, json?.detail])
  return json
}
const newSubject = async (name: string): Promise<string> =>
  (await make(team.analyst, 'POST /subjects', { subject_type: 'person', name })).subject_id

interface Counts {
  readonly class: string
  readonly [count: string]: unknown
}
const find = (classes: readonly Counts[], name: string) => classes.find((one) => one.class === name)
const preview = async (subject_id: string, name: string) =>
  find((await make(team.officer, `POST /subjects/${subject_id}/erasure-preview`)).classes, name)

/** Runs the jobs that wait, and returns the certificate. */
async function erase(subject_id: string, also: readonly object[] = []) {
  const { erasure_id } = await make(team.officer, `POST /subjects/${subject_id}/erase`, {
    ...{ reason: 'Request', also },
  })
  const { job_id } = await make(team.second, `POST /erasures/${erasure_id}/confirm`)
  const runner = w.startRunner()
  const ended = await w.ended(team.t.tenant_id, job_id)
  await runner.stop(1000)
  expect(ended, JSON.stringify(ended)).toMatchObject({ state: 'succeeded' })
  return make(team.officer, `GET /erasures/${erasure_id}/certificate`)
}

describe('orders of batches', () => {
  const name = 'Wanda Batchelor'
  const order = async (body: object): Promise<{ batch_id: string; job_id: string }> => {
    const { matrix_key } = await ensurePolicy(team.t)
    const { resource, job_id } = await make(team.analyst, 'POST /batch-evaluations', { matrix_key, ...body })
    return { batch_id: resource.split('/').at(-1), job_id }
  }
  const read = (batch_id: string) => make(team.analyst, `GET /batch-evaluations/${batch_id}`)
  async function orderFile(file_name: string, content: string) {
    const line = `POST /uploads?${new URLSearchParams({ file_name })}`
    const headers = { 'content-type': 'application/octet-stream' }
    const { json } = await w.call(line, { token: team.analyst.token, payload: Buffer.from(content), headers })
    return order({ upload_id: json.upload_id, note: 'From a file' })
  }
  /** After the test, or never. */
  const postpone = (job_id: string) =>
    team.t.write((tx) =>
      tx.run(`update app.job set run_at = now() + interval '1 hour' where tenant_id = $1 and job_id = $2`, [
        tx.tenant_id,
        job_id,
      ]),
    )

  test('lose the name in notes, filters and names of files, whatever their source and state', async () => {
    const subject_id = await newSubject(name)
    const inline = await order({ items: [{ inputs: { country: 'DE' } }], note: `Asked for by ${name}` })
    const filtered = await order({ filter: { segment: name } })
    const uploaded = await orderFile(`${name}.csv`, 'country\nDE\n')
    const failed = await orderFile(`Broken ${name}.csv`, 'country\n"DE\n')
    const runner = w.startRunner()
    for (const { job_id } of [inline, filtered, uploaded, failed]) await w.ended(team.t.tenant_id, job_id)
    await runner.stop(1000)
    const cancelled = await order({ filter: { subject_type: 'person' }, note: `All, ${name} too` })
    const stopped = await order({ filter: { segment: name }, note: 'Weekly' })
    for (const { batch_id } of [cancelled, stopped])
      await make(team.analyst, `POST /batch-evaluations/${batch_id}/cancel`)
    const waiting = await order({ filter: { segment: name } })
    await postpone(waiting.job_id)
    const other = await order({ filter: { segment: 'retail' }, note: 'Somebody else' })
    await postpone(other.job_id)
    const all = [inline, filtered, uploaded, failed, cancelled, stopped, waiting]
    const states = await Promise.all(all.map(async ({ batch_id }) => (await read(batch_id)).state))
    expect(states).toEqual(['succeeded', 'succeeded', 'succeeded', 'failed', 'cancelled', 'cancelled', 'queued'])

    expect(await preview(subject_id, 'batches')).toMatchObject({ by_id: 0, by_mark: 7, left_for_review: 0 })
    const untouched = await read(other.batch_id)
    const certificate = await erase(subject_id)
    expect(find(certificate.erased, 'batches')).toMatchObject({ count: 7, left_for_review: 0 })
    const after = await Promise.all(all.map(({ batch_id }) => read(batch_id)))
    expect(JSON.stringify(after)).not.toContain(name)
    expect(after.map(({ note }) => note)).toEqual([
      ...['erased', null, 'From a file', 'From a file', 'erased', 'Weekly', null],
    ])
    expect(await read(other.batch_id)).toEqual(untouched)

    // Nobody goes on with a filter that finds others.
    const resumed = await team.send(team.analyst, `POST /batch-evaluations/${stopped.batch_id}/resume`)
    expect([resumed.status, resumed.json.detail]).toEqual([409, expect.stringContaining('erasure')])
    await make(team.analyst, `POST /batch-evaluations/${cancelled.batch_id}/resume`)
    await w.aborted(team.t.tenant_id, waiting.job_id)
    const runAgain = w.startRunner()
    const ended = await w.ended(team.t.tenant_id, waiting.job_id)
    await runAgain.stop(1000)
    expect(ended).toMatchObject({ state: 'failed', problem: { detail: expect.stringContaining('erasure') } })
  })

  test('that name nobody for sure are left for a person', async () => {
    const subject_id = await newSubject('Wednesday')
    const { batch_id } = await order({ items: [{ inputs: { country: 'DE' } }], note: 'Every Wednesday' })
    expect(await preview(subject_id, 'batches')).toMatchObject({ by_mark: 0, left_for_review: 1, review: [batch_id] })
    const certificate = await erase(subject_id)
    expect(find(certificate.erased, 'batches')).toMatchObject({ count: 0, left_for_review: 1 })
    expect((await read(batch_id)).note).toBe('Every Wednesday')
  })

  test('are changed by nothing else', async () => {
    const { batch_id } = await order({ filter: { segment: 'retail' } })
    const change = team.t.write((tx) =>
      tx.run(`update app.batch_evaluation set source = '{"filter": {}}' where tenant_id = $1 and batch_id = $2`, [
        tx.tenant_id,
        batch_id,
      ]),
    )
    await expect(change).rejects.toMatchObject({ code: 'PB002' })
  })
})

describe('reasons', () => {
  /** Closed, with its reassignment and a hold that was released. */
  async function closeCase(subject_id: string): Promise<string> {
    const { investigation_id } = await make(team.analyst, 'POST /investigations', {
      ...{ subject_id, playbook_key: 'edd-person' },
    })
    const items = [{ object_kind: 'investigation', object_id: investigation_id }]
    const body = { items, user_id: team.second.user_id, reason: 'She confessed to the branch' }
    await make(team.officer, 'POST /work/reassign', body)
    await settleSteps(team.t, investigation_id)
    const path = `/investigations/${investigation_id}`
    const paragraphs = [{ kind: 'assessment', text: 'Fine.', cites: [] }]
    await make(team.analyst, `PUT ${path}/narrative`, { paragraphs })
    const { proposal } = await make(team.analyst, `POST ${path}/propose-outcome`, { outcome: 'INV_NO_SUSPICION' })
    await make(team.officer, `POST ${path}/close`, { proposal_hash: proposal.proposal_hash })
    return investigation_id
  }
  async function makeReport(subject_id: string): Promise<string> {
    const parameters = { template: 'subject-dossier', parameters: { subject_id }, formats: ['json'] }
    const { resource, job_id } = await make(team.officer, 'POST /reports', parameters)
    const runner = w.startRunner()
    await w.ended(team.t.tenant_id, job_id)
    await runner.stop(1000)
    return resource.split('/').at(-1)
  }
  async function holdAndRelease(object_kind: string, object_id: string): Promise<string> {
    const order = { reason: 'Order against the singer', authority_reference: 'Court 7' }
    const { hold_id } = await make(team.officer, 'POST /holds', { object_kind, object_id, ...order })
    await make(team.second, `POST /holds/${hold_id}/release`, { reason: 'The singer paid' })
    return hold_id
  }
  const readReason = (object_id: string) =>
    team.t.write((tx) =>
      tx.find<{ assign_reason: string | null }>(
        'select assign_reason from app.work_item where tenant_id = $1 and object_id = $2',
        [tx.tenant_id, object_id],
      ),
    )

  test('of holds and work on a case or report belong to its subject, whatever they say', async () => {
    const [erased, other] = [await newSubject('Madonna'), await newSubject('Madonna')]
    const [own, foreign] = [await closeCase(erased), await closeCase(other)]
    const reports = [await makeReport(erased), await makeReport(other)] as const
    const holds: string[] = []
    for (const [kind, id] of [
      ...([['investigation', own] as const, ['report', reports[0]]] as const),
      ...([['investigation', foreign] as const, ['report', reports[1]]] as const),
    ])
      holds.push(await holdAndRelease(kind, id))
    const readHolds = () => Promise.all(holds.map((hold_id) => make(team.officer, `GET /holds/${hold_id}`)))
    const before = await readHolds()
    expect(await preview(erased, 'holds')).toMatchObject({ by_id: 2, by_mark: 0, left_for_review: 0 })
    expect(await preview(erased, 'work')).toMatchObject({ by_id: 1, by_mark: 0, left_for_review: 0 })
    const certificate = await erase(erased)
    const total = [certificate, ...certificate.annexes].flatMap(({ erased: classes }) => classes as Counts[])
    const sum = (name: string) =>
      total.filter((one) => one.class === name).reduce((all, one) => all + Number(one['count']), 0)
    expect([sum('holds'), sum('work')]).toEqual([2, 1])
    const gone = { reason: 'erased', authority_reference: null, release_reason: 'erased' }
    expect(await readHolds()).toEqual([{ ...before[0], ...gone }, { ...before[1], ...gone }, before[2], before[3]])
    expect([await readReason(own), await readReason(foreign)]).toEqual([
      { assign_reason: null },
      { assign_reason: 'She confessed to the branch' },
    ])
  })

  test('of work and holds of another subject are protected by the database', async () => {
    const [erased, other] = [await newSubject('Ida Reason'), await newSubject('Udo Reason')]
    const [object_id, report_id] = [await closeCase(other), await makeReport(other)]
    const hold_id = await holdAndRelease('report', report_id)
    const { erasure_id } = await make(team.officer, `POST /subjects/${erased}/erase`, { reason: 'Request' })
    await make(team.second, `POST /erasures/${erasure_id}/confirm`)
    const overwrite = (text: string, id: string) =>
      team.t.write(async (tx) => {
        await tx.run(
          `insert into app.erasure_step (tenant_id, erasure_id, step, subject_id) values ($1, $2, 'probe', $3)`,
          [tx.tenant_id, erasure_id, erased],
        )
        await tx.run(`select set_config('app.erasing', $1, true)`, [erasure_id])
        await tx.run(text, [tx.tenant_id, id])
      })
    for (const [text, id] of [
      ['update app.work_item set assign_reason = null where tenant_id = $1 and object_id = $2', object_id],
      [`update app.hold set reason = 'erased' where tenant_id = $1 and hold_id = $2`, hold_id],
    ] as const)
      await expect(overwrite(text, id)).rejects.toMatchObject({ code: 'PB002' })
  })
})

describe('words that people choose', () => {
  const name = 'Zora Quillfeather'
  async function storeDocument(title: string, more: object = {}): Promise<string> {
    const line = `POST /uploads?${new URLSearchParams({ file_name: 'letter.txt' })}`
    const headers = { 'content-type': 'application/octet-stream' }
    const { json } = await w.call(line, { token: team.analyst.token, payload: Buffer.from('Dear Sir'), headers })
    return (await make(team.analyst, 'POST /documents', { upload_id: json.upload_id, title, ...more })).document_id
  }
  const readDocument = async (document_id: string) => make(team.officer, `GET /documents/${document_id}`)

  test('of documents and designations are overwritten where they name the subject', async () => {
    const subject_id = await newSubject(name)
    const category = 'zora-quillfeather'
    const own = await storeDocument('Passport', { subject_id, category })
    const named = await storeDocument('Letter', { category })
    const titled = await storeDocument(`Letter of ${name}`, { category: 'letter' })
    const other = await storeDocument('Letter', { category: 'letter' })
    const deleted = await storeDocument('Draft', { category })
    await team.t.write((tx) =>
      tx.run(
        `update app.document set state = 'deleted', title = null, file_name = null, sha256 = null, ended_at = now(), ended_by = $3,
                end_reason = 'Twice' where tenant_id = $1 and document_id = $2`,
        [tx.tenant_id, deleted, tx.actor],
      ),
    )
    const admin = await w.person(team.t.tenant_id, ['tenant_admin'])
    const propose = (user_id: string, reason: string) =>
      make(admin, 'POST /mlro-designations', { user_id, effect: 'designate', reason })
    const about = await propose(team.second.user_id, `Knows ${name}`)
    const plain = await propose(team.officer.user_id, 'Her new post')

    expect(await preview(subject_id, 'documents')).toMatchObject({ by_id: 1, by_mark: 3, left_for_review: 0 })
    expect(await preview(subject_id, 'restrictions')).toMatchObject({ by_mark: 1 })
    const certificate = await erase(subject_id)
    expect(find(certificate.erased, 'restrictions')).toMatchObject({ count: 1 })
    const categories = await Promise.all(
      [own, named, titled, other, deleted].map(async (document_id) => (await readDocument(document_id)).category),
    )
    expect(categories).toEqual([null, null, 'letter', 'letter', null])
    const { items } = await make(admin, 'GET /mlro-designations')
    const reasons = new Map(
      items.map((one: { designation_id: string; reason: string }) => [one.designation_id, one.reason]),
    )
    expect([reasons.get(about.designation_id), reasons.get(plain.designation_id)]).toEqual(['erased', 'Her new post'])
    // Nothing is left to find.
    expect(await preview(subject_id, 'restrictions')).toMatchObject({ by_mark: 0 })
  })
})

describe('notes on drift findings', () => {
  async function acknowledge(note: string): Promise<{ contract_key: string; finding_id: string }> {
    const { params } = await (fixtures['acknowledgeDriftFinding'] as Fixture)(team.t, 'compliance_officer')
    const { contract_key, finding_id } = params as { contract_key: string; finding_id: string }
    const path = `/source-contracts/${contract_key}/drift/${finding_id}/acknowledge`
    await make(team.officer, `POST ${path}`, { note })
    return { contract_key, finding_id }
  }
  async function readNote({ contract_key, finding_id }: Awaited<ReturnType<typeof acknowledge>>) {
    const { items } = await make(team.officer, `GET /source-contracts/${contract_key}/drift?limit=200`)
    return items.find((one: { finding_id: string }) => one.finding_id === finding_id)
  }

  /** Tables of the tenant in which one of the texts can be read, as the operator of the database reads them. */
  async function listTablesWith(texts: readonly string[]): Promise<string[]> {
    const client = new pg.Client(w.clone.postgres)
    await client.connect()
    try {
      const { rows } = await client.query<{ name: string }>(
        `select table_name::text as name from information_schema.columns where table_schema = 'app' and column_name = 'tenant_id' order by 1`,
      )
      const found: string[] = []
      for (const { name } of rows) {
        const { rows: known } = await client.query<{ line: string }>(
          `select row_to_json(r)::text as line from app.${name} r where r.tenant_id = $1`,
          [team.t.tenant_id],
        )
        if (known.some(({ line }) => texts.some((text) => line.toLowerCase().includes(text.toLowerCase()))))
          found.push(name)
      }
      return found
    } finally {
      await client.end()
    }
  }

  test('lose the name of the subject, and no table of the tenant has it any more', async () => {
    const name = 'Quirin Driftwood'
    const subject_id = await newSubject(name)
    const about = await acknowledge(`Known: the answer about ${name} had it`)
    const plain = await acknowledge('The registry announced the member')
    expect(await listTablesWith([name])).toContain('drift_acknowledgement')
    expect(await preview(subject_id, 'drift-notes')).toMatchObject({ by_id: 0, by_mark: 1, left_for_review: 0 })
    const certificate = await erase(subject_id)
    expect(find(certificate.erased, 'drift-notes')).toMatchObject({ count: 1, left_for_review: 0 })
    expect(await readNote(about)).toMatchObject({
      acknowledgement_note: 'erased',
      acknowledged_by: team.officer.principal,
    })
    expect(await readNote(plain)).toMatchObject({ acknowledgement_note: 'The registry announced the member' })
    expect(await listTablesWith([name, 'quirin', 'driftwood'])).toEqual([])
  })

  test('that name nobody for sure are left for a person, who can name them', async () => {
    const subject_id = await newSubject('Thursday')
    const { finding_id, ...rest } = await acknowledge('Seen every Thursday')
    expect(await preview(subject_id, 'drift-notes')).toMatchObject({ left_for_review: 1, review: [finding_id] })
    const also = [{ class: 'drift-notes', id: finding_id }]
    await erase(subject_id, also)
    expect(await readNote({ finding_id, ...rest })).toMatchObject({ acknowledgement_note: 'erased' })
  })

  test('are changed by nothing else', async () => {
    const { finding_id } = await acknowledge('As announced')
    const change = (set: string) =>
      team.t.write((tx) =>
        tx.run(`update app.drift_acknowledgement set ${set} where tenant_id = $1 and finding_id = $2`, [
          tx.tenant_id,
          finding_id,
        ]),
      )
    await expect(change(`note = 'x'`)).rejects.toMatchObject({ code: 'PB002' })
    await expect(change(`acknowledged_at = now()`)).rejects.toMatchObject({ code: '42501' })
  })
})
