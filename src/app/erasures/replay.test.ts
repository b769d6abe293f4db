/** After an erasure nothing readable is left in the database, and an older state that is restored is erased again. */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkErasureLedger } from '#app/cli/erasure-check.ts'
import { recordDeletion } from '#app/cli/tenant-delete.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import { createFileLedger } from '#kernel/erasure/file-ledger.ts'
import type { LedgerEntry } from '#kernel/erasure/ledger.ts'
import { createSilentLog } from '#kernel/log.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { verifyChain } from '#modules/audit/chain-reader.ts'
import { newUpload } from '#modules/documents/fixtures.ts'
import { openInvestigation } from '#modules/investigations/opening/open-investigation.ts'
import { loadPlaybook } from '#modules/playbooks/index.ts'
import { chainAllEvents } from '#test/support/audit-chain.ts'
import { dumpTables, keyring, restoreInto } from '#test/support/backup-fixture.ts'
import { TEST_MASTER_KEY } from '#test/support/database.ts'
import { createEmptyDatabase, type EmptyDatabase } from '#test/support/empty-database.ts'
import { ensurePolicy } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { runCommand } from '#test/support/run-command.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { backup } from '../backup/backup.ts'
import { createRuntime, type Runtime } from '../runtime.ts'
import { createLedgerCheck } from './ledger-check.ts'
import { replayErasures } from './replay.ts'

const NAME = 'Ada Zweifelstein'
const NEW_NAME = 'Ada Quendelbaum'
const EXTERNAL_ID = 'cust-zwf-0077'
const BIRTHDAY = '1815-12-10'
const TEXTS = ['zweifelstein', 'quendelbaum', EXTERNAL_ID, BIRTHDAY]

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-erasures-'))
const ledger_file = path.join(folder, 'ledger.ndjson')
const ledger = createFileLedger(ledger_file)
const backup_file = path.join(folder, 'backup.ndjson.gz')
const targets: EmptyDatabase[] = []
let w: TestApp
let t: ExampleTenant
let subject_id: string
let evaluation_id: string
let erasure_id: string
let before: string[]
let decided: Record<string, unknown>
let guessed_before: string[]

beforeAll(async () => {
  w = await startTestApp({ erasureLedger: ledger })
  t = await ExampleTenant.create(w)
  await storeTraces()
  before = await findTexts(w.clone.postgres)
  decided = (await t.make(`GET /evaluations/${evaluation_id}/certificate`)).document
  const known = createHash('sha256').update(canonicalJson(decided)).digest('hex')
  guessed_before = await attackHashes(w.clone.postgres, new Set([...buildDictionary(decided), known]))
  await backup({ connections: w.clone, keyring, product_version: '0.0.0-test', file: backup_file })
  const token = await t.token(undefined, t.author)
  const reason = `${NEW_NAME} asked for it`
  ;({ erasure_id } = await t.make(`POST /subjects/${subject_id}/erase`, { token, body: { reason } }))
  const ended = await t.runToEnd(await t.make(`POST /erasures/${erasure_id}/confirm`))
  expect(ended, JSON.stringify(ended.problem)).toMatchObject({ state: 'succeeded' })
})
afterAll(async () => {
  for (const target of targets) await target.drop()
  await w.close()
  fs.rmSync(folder, { recursive: true, force: true })
})

/** Something about the subject in every class of records. */
async function storeTraces(): Promise<void> {
  const { matrix_key } = await ensurePolicy(t)
  const body = BODY
  ;({ subject_id } = await t.make('POST /subjects', { body, headers: { 'idempotency-key': 'create' } }))
  await t.make(`PATCH /subjects/${subject_id}`, { body: { name: NEW_NAME } })
  ;({ evaluation_id } = await t.make('POST /evaluations', {
    body: { matrix_key, subject_id },
    headers: { 'idempotency-key': 'decide' },
  }))
  const items = [{ subject_id, inputs: { country: 'DE' } }]
  await t.runToEnd(await t.make('POST /batch-evaluations', { body: { matrix_key, items } }))
  const override = (text: string) => ({
    body: { band: 'high', reason: text, expires_at: new Date(Date.now() + 86_400_000).toISOString() },
    headers: { 'idempotency-key': `${EXTERNAL_ID}:${text.length}` },
  })
  await t.make(`POST /subjects/${subject_id}/risk-override`, override(`${NEW_NAME} is in the press`))
  await t.setApprovalRules([{ action: 'risk-override', approvers: 2, role: 'compliance_officer' }])
  const author = await t.token(undefined, t.author)
  const open = override(`Report about ${NAME}`)
  const { cr_id } = await t.make(`POST /subjects/${subject_id}/risk-override`, { ...open, token: author })
  await t.make(`POST /change-requests/${cr_id}/approve`, { body: { note: `I know ${NEW_NAME}` } })
  await t.setApprovalRules([])
  const headers = { 'content-type': 'application/octet-stream' }
  const rows = [
    { ...body, external_id: null, name: 'Grace Hopper', attributes: {} },
    { subject_type: NAME, name: 'Grace Hopper' },
  ]
    .map((row) => JSON.stringify(row))
    .join('\n')
  const { upload_id } = await t.make('POST /uploads?file_name=subjects.ndjson', { payload: rows, headers })
  await t.make('POST /uploads?file_name=letter.txt', { payload: Buffer.from(`\u0000 Dear ${NAME}`), headers })
  await t.runToEnd(await t.make('POST /subjects/bulk', { body: { upload_id, format: 'ndjson' } }))
  // Excerpts of other faults show the value.
  await t.write((tx) =>
    tx.run('update app.subject_bulk_reject set excerpt = $2 where tenant_id = $1', [t.tenant_id, NAME]),
  )
  await t.make(`POST /risk-matrices/${matrix_key}/test-cases`, {
    body: { name: `As ${NAME}`, inputs: { country: 'DE' }, expected: { band: 'low' }, note: EXTERNAL_ID },
  })
  const hold = { object_kind: 'subject', object_id: subject_id, reason: `Court order about ${NAME}` }
  const { hold_id } = await t.make('POST /holds', { body: hold, token: author })
  await t.make(`POST /holds/${hold_id}/release`, { body: { reason: `${NAME} was acquitted` } })
  await t.make('POST /restrictions', { body: { purpose: `Suspicion about ${NAME}`, is_in_force: false } })
  // Neither of the two who decide sees it.
  const third = await t.token(undefined, `user:${uuidv7()}`)
  await t.make('POST /restrictions', { token: third, body: { purpose: `Case about ${NAME}`, is_in_force: true } })
  await storeDocuments(author)
  await storeAlerts(author)
  await t.make('POST /batch-evaluations/schedules', {
    body: {
      name: `Watch ${NAME}`,
      matrix_key,
      filter: { segment: NAME },
      cron: '0 6 1 * *',
      time_zone: 'UTC',
      note: EXTERNAL_ID,
    },
  })
}

async function storeDocuments(author: string): Promise<void> {
  const upload_id = await newUpload(t, `${NAME}.txt`, LETTER)
  const { document_id } = await t.make('POST /documents', {
    body: { upload_id, subject_id, title: `Statement of ${NEW_NAME}` },
  })
  const hold = {
    object_kind: 'document',
    object_id: document_id,
    reason: `Order about ${NAME}`,
    authority_reference: NAME,
  }
  const { hold_id } = await t.make('POST /holds', { body: hold, token: author })
  await t.make(`POST /holds/${hold_id}/release`, { body: { reason: `${NAME} paid` } })
  await newUpload(t, `Letter of ${NAME}.txt`, 'bytes')
  const nobodys = await newUpload(t, `${NAME}_2.txt`, 'bytes')
  await t.make('POST /documents', { body: { upload_id: nobodys, title: `Minutes about ${NEW_NAME}` } })
  const reference = { kind: 'external_reference', title: `File of ${NAME}`, reference: EXTERNAL_ID, source: NAME }
  const obtained_at = '2026-03-03T00:00:00Z'
  await t.make('POST /evidence', { body: { owner_kind: 'subject', owner_id: subject_id, obtained_at, ...reference } })
}

async function storeAlerts(author: string): Promise<void> {
  const report = {
    ...{ source: 'payment-monitor', dedup_key: `watchlist:${EXTERNAL_ID}`, subject_id },
    ...{ title: `Resembles ${NAME}`, priority: 'high', reference: `payment of ${NAME}` },
    facts: [{ name: 'born_on', value: BIRTHDAY }],
  }
  const { alert_id } = await t.make('POST /alerts', { body: report })
  await t.make('POST /alerts', { body: { ...report, facts: [{ name: 'born_on', value: `${BIRTHDAY} or later` }] } })
  await t.make(`POST /alerts/${alert_id}/comments`, { body: { text: `${NEW_NAME} called` } })
  const items = [{ object_kind: 'alert', object_id: alert_id }]
  await t.make('POST /work/reassign', { body: { items, user_id: null, reason: `${NAME} is a friend of hers` } })
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  const suppression = { source: 'payment-monitor', dedup_key: EXTERNAL_ID, up_to_priority: 'low', expires_at }
  const body = { ...suppression, reason_code: 'ALR_DATA_FAULT', reason: `Feed of ${NAME}` }
  await t.make('POST /alerts/suppressions', { token: author, body })
}

const LETTER = `Statement of ${NAME}`
const BODY = {
  subject_type: 'person',
  name: NAME,
  external_id: EXTERNAL_ID,
  attributes: { country: 'DE', born_on: BIRTHDAY },
}

/**
 * What somebody would try who knows the person and the formats, but no key and no salt: values, files, bodies and whole decision documents without
 * their salt, hashed as the product and others hash.
 */
function buildDictionary(document: Record<string, unknown>): ReadonlySet<string> {
  const texts = [NAME, NEW_NAME, EXTERNAL_ID, BIRTHDAY, LETTER, `\u0000 Dear ${NAME}`]
  const bodies: unknown[] = [BODY, { ...BODY, name: NEW_NAME }, BODY.attributes, { country: 'DE' }, { segment: NAME }]
  for (const value of [BIRTHDAY, `${BIRTHDAY} or later`])
    bodies.push([{ name: 'born_on', value }], { facts: [{ name: 'born_on', value }] }, { born_on: value })
  const guesses = [...texts, ...texts.flatMap((text) => [text.toLowerCase(), text.toUpperCase(), JSON.stringify(text)])]
  const { salt: _, ...unsalted } = document
  bodies.push(document['inputs'], unsalted, { ...unsalted, format: 'probity-decision/1' })
  for (const body of bodies) guesses.push(JSON.stringify(body), canonicalJson(body))
  const hashes = guesses.flatMap((guess) =>
    ['sha256', 'sha1', 'md5', 'sha512'].flatMap((algorithm) => {
      const digest = createHash(algorithm).update(guess).digest()
      return [digest.toString('hex'), digest.toString('base64url'), digest.toString('base64')]
    }),
  )
  return new Set(hashes)
}

/** `table` of each row that has a hash of the dictionary, in whatever column: hashes are found by their form. */
async function attackHashes(connection: pg.ClientConfig, dictionary: ReadonlySet<string>): Promise<string[]> {
  const found = new Set<string>()
  for (const [table, rows] of Object.entries(await dumpTables(connection)))
    for (const row of rows)
      for (const [word] of row.matchAll(/[0-9A-Za-z_+/-]{22,}={0,2}/g)) if (dictionary.has(word)) found.add(table)
  return [...found].toSorted()
}

/** Every table as text, and bytes in hexadecimal digits: `table: text` for each text that is found. */
async function findTexts(connection: pg.ClientConfig): Promise<string[]> {
  const found = new Set<string>()
  for (const [table, rows] of Object.entries(await dumpTables(connection))) {
    const text = rows.join('\n').toLowerCase()
    for (const wanted of [...TEXTS, ...[NAME, NEW_NAME].map((name) => Buffer.from(name).toString('hex'))])
      if (text.includes(wanted.toLowerCase())) found.add(table)
  }
  return [...found].toSorted()
}

async function startOn(target: EmptyDatabase, erasureLedger = ledger): Promise<Runtime> {
  const build = w.kernel.build
  const limits = { pool_size: 4, statement_timeout_ms: 15_000, upload_max_bytes: 1024, trusted_proxies: 0 }
  return createRuntime({
    ...{ connections: target, keyring, build, log: createSilentLog(), issuers: [], public_url: null, cors_origins: [] },
    ...limits,
    prepared_statements: true,
    strict: true,
    erasureLedger,
  })
}

async function restoreOld(): Promise<EmptyDatabase> {
  const target = await createEmptyDatabase()
  targets.push(target)
  await restoreInto(target, backup_file)
  return target
}

const mintToken = async ({ kernel }: Runtime): Promise<string> =>
  (
    await kernel.issuer.mint({
      tenant_id: t.tenant_id,
      principal: `user:${uuidv7()}`,
      roles: ['viewer'],
      lifetime_s: 3600,
      name: 'Test Person',
    })
  ).token

const worse_file = path.join(folder, 'worse.ndjson')
/** An entry that no database takes, and one of a subject that is not there. */
async function createWorseLedger() {
  const worse = createFileLedger(worse_file)
  const { key_id, signStatement } = w.kernel.auditKeys
  const signer = { key_id, sign: (hash: string) => signStatement('erasure-ledger', hash) }
  const [known] = (await ledger.read()) as [LedgerEntry]
  await worse.append({ ...known, erasure_id: uuidv7(), requested_by: 'user:\u0000' }, signer)
  await worse.append({ ...known, erasure_id: uuidv7(), subject_id: uuidv7() }, signer)
  return worse
}

const readStates = async (target: Pick<EmptyDatabase, 'postgres'>): Promise<Readonly<Record<string, string>>> => {
  const client = new pg.Client(target.postgres)
  await client.connect()
  const { rows } = await client.query<{ tenant_id: string; state: string }>('select tenant_id, state from app.tenant')
  await client.end()
  return Object.fromEntries(rows.map(({ tenant_id, state }) => [tenant_id, state]))
}

const readName = async (target: EmptyDatabase): Promise<string> => {
  const client = new pg.Client(target.postgres)
  await client.connect()
  const { rows } = await client.query('select name from app.subject where subject_id = $1', [subject_id])
  await client.end()
  return rows[0].name
}

/** As it was when the backup was made. */
async function insertOpenCase({ database, kernel }: Runtime) {
  const scope = fullScope(t.tenant_id, 'user:a')
  const playbook = await database.read(scope, (tx) => loadPlaybook(kernel, tx, 'edd-person'))
  const text = { title: `Payments of ${NAME}`, priority: 'medium', origin: 'request', origin_reference: null } as const
  const request = { subject: { subject_id }, playbook, ...text }
  const { investigation_id } = await database.write(scope, (tx) => openInvestigation(kernel, tx, request))
  const read = () =>
    database.read(scope, (tx) =>
      tx.query(
        `select i.state, i.title, e.kind, e.data, w.state as work from app.investigation i
           join app.investigation_event e on e.investigation_id = i.investigation_id and e.revision = i.revision
           join app.work_item w on w.object_id = i.investigation_id where i.investigation_id = $1`,
        [investigation_id],
      ),
    )
  return { read }
}

describe('after an erasure', () => {
  test('no clear text is left in any table', async () => {
    // There was something to find.
    expect(before).toEqual(
      expect.arrayContaining([
        'change_approval',
        'batch_schedule',
        'change_request',
        'definition_case',
        'document',
        'hold',
        'idempotency',
        'rating',
        'restriction',
        'subject',
        'subject_bulk_reject',
        'subject_word',
        'upload',
        'upload_chunk',
        'work_item',
      ]),
    )
    expect(await findTexts(w.clone.postgres)).toEqual([])
  })

  test('no hash that is kept can be guessed', async () => {
    // With the salt, and while files are stored, the same attack succeeds.
    expect(guessed_before).toEqual(expect.arrayContaining(['document', 'evaluation', 'upload']))
    expect(await attackHashes(w.clone.postgres, buildDictionary(decided))).toEqual([])
  })

  test('the audit record verifies, and band and reason codes of decisions stay', async () => {
    await chainAllEvents(w, t)
    const scope = fullScope(t.tenant_id, 'operator:test')
    const report = await w.runtime.database.read(scope, (tx) => verifyChain(tx, w.kernel.auditKeys, async () => {}))
    expect(report).toMatchObject({ intact: true, faults: [] })
    const { items } = await t.make(`GET /evaluations?subject_id=${subject_id}`)
    expect(items).toMatchObject([
      { evaluation_id, band: expect.any(String), document_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ])
  })

  test('a replay of its decision answers 410 with the hash', async () => {
    const answer = await w.call(`POST /evaluations/${evaluation_id}/replay`, { token: await t.token() })
    expect([answer.status, answer.json]).toMatchObject([
      410,
      { code: 'erased', document_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ])
  })

  test('its decision answers 410 with what remains of it', async () => {
    const answer = await w.call(`GET /evaluations/${evaluation_id}`, { token: await t.token() })
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect([answer.status, answer.json]).toMatchObject([
      410,
      {
        ...{ code: 'erased', evaluation_id, subject_id, family: 'matrix', definition_key: expect.any(String) },
        ...{ band: expect.any(String), score_bps: expect.any(Number), decided_at: expect.any(String) },
        ...{ erased_at: expect.any(String), document_hash: hash, receipt_hash: hash },
      },
    ])
  })

  test('a repeated request is answered without the content', async () => {
    const body = {
      subject_type: 'person',
      name: NAME,
      external_id: EXTERNAL_ID,
      attributes: { country: 'DE', born_on: BIRTHDAY },
    }
    const again = await w.call('POST /subjects', {
      token: await t.token(),
      body,
      headers: { 'idempotency-key': 'create' },
    })
    expect([again.status, again.json.code]).toEqual([410, 'erased'])
  })
})

/** An erasure as a backup has it that was made between its confirmation and its first step. */
const begun = {
  insert: `insert into app.erasure (tenant_id, erasure_id, subject_id, state, requested_by, confirmed_by, confirmed_at, decision)
           values ($1, $2, $3, 'executing', 'user:a', 'user:b', now(), '{}')`,
  remove: `with steps as (delete from app.erasure_step where tenant_id = $1 and erasure_id = $2 and subject_id = $3)
           delete from app.erasure where tenant_id = $1 and erasure_id = $2`,
}
async function executeAsRestored(target: EmptyDatabase, text: string): Promise<void> {
  const superuser = new pg.Client(target.postgres)
  await superuser.connect()
  await superuser.query(`set session_replication_role = replica`)
  await superuser.query(text, [t.tenant_id, erasure_id, subject_id])
  await superuser.end()
}

describe('an older state that is restored', () => {
  test('is not ready until the ledger was replayed, and then has nothing of the subject', async () => {
    const target = await restoreOld()
    expect(await readName(target)).toBe(NEW_NAME)
    const runtime = await startOn(target)
    try {
      const check = async () => (await runtime.kernel.readiness()).checks['erasures']
      // A check that a busy machine answers too late is asked again.
      await expect.poll(check).toMatchObject({ status: 'failed', detail: expect.stringContaining('erasures replay') })
      const server = await runtime.createServer()
      await runtime.erasureGuard.start()
      const token = await mintToken(runtime)
      const read = async () => {
        const headers = { authorization: `Bearer ${token}` }
        const { statusCode, body } = await server.app.inject({ url: `/api/subjects/${subject_id}`, headers })
        return [statusCode, body]
      }
      expect(await read()).toEqual([503, expect.stringContaining('npx probity erasures replay')])
      // Nobody erases by an entry that this installation did not sign.
      const forged = createFileLedger(path.join(folder, 'forged.ndjson'))
      const { hash: _, signature: __, ...facts } = (await ledger.read())[0] as LedgerEntry
      await forged.append(facts, { key_id: w.kernel.auditKeys.key_id, sign: () => 'x'.repeat(86) })
      await expect(replayErasures(runtime, forged)).rejects.toThrow('is not signed')
      expect(await readName(target)).toBe(NEW_NAME)
      // A hold that was released between the backup and the erasure does not stop it.
      await runtime.database.write(fullScope(t.tenant_id, 'user:a'), (tx) =>
        tx.run(
          `insert into app.hold (tenant_id, hold_id, object_kind, object_id, reason, placed_by) values ($1, $2, 'subject', $3, 'x', 'user:a')`,
          [t.tenant_id, uuidv7(), subject_id],
        ),
      )
      // A case that was ended between them is ended again, without an outcome: nobody could.
      const cases = await insertOpenCase(runtime)
      // One that cannot be carried out does not stop those behind it.
      const worse = await replayErasures(runtime, await createWorseLedger())
      const failed = [{ tenant_id: t.tenant_id, erasure_id: expect.any(String), reason: expect.any(String) }]
      expect(worse).toEqual({ entries: 2, replayed: 0, absent: 1, waiting: 0, failed })
      const none = { absent: 0, waiting: 0, failed: [] }
      // One that the restored state has as begun, and that the hold keeps, is left waiting.
      await executeAsRestored(target, begun.insert)
      expect(await replayErasures(runtime, ledger)).toEqual({ entries: 1, replayed: 0, ...none, waiting: 1 })
      expect(await readName(target)).toBe(NEW_NAME)
      await executeAsRestored(target, begun.remove)
      expect(await replayErasures(runtime, ledger)).toEqual({ entries: 1, replayed: 1, ...none })
      expect(await cases.read()).toEqual([
        { state: 'ended', title: 'erased', kind: 'ended', data: { reason: 'subject_erased' }, work: 'done' },
      ])
      await expect.poll(check).toMatchObject({ status: 'ok', entries: 1 })
      await expect.poll(read, { timeout: 20_000 }).toEqual([200, expect.stringContaining('erased')])
      await server.close()
      expect(await replayErasures(runtime, ledger)).toEqual({ entries: 1, replayed: 0, ...none })
    } finally {
      await runtime.close()
    }
    expect(await findTexts(target.postgres)).toEqual([])
    // A process that runs no jobs notices a lost ledger too.
    const api = await startOn(target, createFileLedger(path.join(folder, 'lost.ndjson')))
    try {
      const check = async () => (await api.kernel.readiness()).checks['erasures']
      await expect.poll(check).toMatchObject({ status: 'failed', detail: expect.stringContaining('ERASURE_LEDGER') })
    } finally {
      await api.close()
    }
  })

  test('is erased by restore itself, which refuses to work without the ledger', async () => {
    const urlOf = ({ user, password, host, port, database }: pg.ClientConfig) =>
      `postgres://${user}:${encodeURIComponent(String(password ?? ''))}@localhost:${port}/${database}?host=${encodeURIComponent(String(host))}`
    const key_file = path.join(folder, 'master.key')
    fs.writeFileSync(key_file, TEST_MASTER_KEY.toString('hex'), { mode: 0o600 })
    const environmentOf = (target: EmptyDatabase, erasure_ledger: string) => ({
      ...process.env,
      NODE_ENV: 'development',
      DATABASE_URL: urlOf(target.app),
      WORKER_DATABASE_URL: urlOf(target.worker),
      STEWARD_DATABASE_URL: urlOf(target.steward),
      PROBITY_MASTER_KEY_FILE: key_file,
      PROBITY_ERASURE_LEDGER: erasure_ledger,
    })
    const target = await createEmptyDatabase()
    targets.push(target)
    const argv = ['restore', '--from', backup_file]
    for (const wrong of ['', path.join(folder, 'missing.ndjson')]) {
      const refused = await runCommand(argv, environmentOf(target, wrong))
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('PROBITY_ERASURE_LEDGER')])
    }
    const restored = await runCommand(argv, environmentOf(target, ledger_file))
    expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining('1 carried out again')])
    expect(await findTexts(target.postgres)).toEqual([])
    // A tenant with an erasure that fails stays suspended, and the others are let in.
    const other = await createEmptyDatabase()
    targets.push(other)
    const partly = await runCommand(argv, environmentOf(other, worse_file))
    expect([partly.code, partly.stderr]).toEqual([1, expect.stringContaining(`Still suspended`)])
    const states = await readStates(w.clone)
    expect(states[t.tenant_id]).toBe('active')
    expect(await readStates(other)).toEqual({ ...states, [t.tenant_id]: 'suspended' })
    const replayed = await runCommand(['erasures', 'replay'], environmentOf(target, ledger_file))
    expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining('0 carried out again') })
  })
})

test('a ledger that lacks an erasure of the database makes the process not ready', async () => {
  const [entry] = await ledger.read()
  const shorter = path.join(folder, 'shorter.ndjson')
  const other = createFileLedger(shorter)
  const { key_id, signStatement } = w.kernel.auditKeys
  const facts = { ...(entry as NonNullable<typeof entry>), erasure_id: uuidv7(), subject_id: uuidv7() }
  await other.append(facts, { key_id, sign: (hash) => signStatement('erasure-ledger', hash) })
  const { database } = w.runtime
  const options = { max: 1, prepared: false, statement_timeout_ms: 15_000, wait_ms: 15_000 }
  const worker = new Database({ connection: w.clone.worker, ...options })
  const check = (of: typeof ledger | null) => createLedgerCheck(of, database, () => worker)()
  // One that was lost names no tenant: only the worker, which sees the erasures of all, can tell.
  const empty_file = path.join(folder, 'empty.ndjson')
  fs.writeFileSync(empty_file, '')
  const empty = createFileLedger(empty_file)
  try {
    expect(await check(ledger)).toMatchObject({ status: 'ok', entries: 1 })
    for (const incomplete of [other, empty]) {
      const detail = expect.stringContaining('PROBITY_ERASURE_LEDGER')
      expect(await check(incomplete)).toMatchObject({ status: 'failed', detail })
      expect(await checkErasureLedger(incomplete, { app: database, worker })).toMatchObject({ status: 'fail' })
    }
    expect(await check(null)).toMatchObject({ status: 'not_configured' })
    // A tenant that was deleted and is back with an older state: it has to be deleted again.
    const longer_file = path.join(folder, 'longer.ndjson')
    fs.copyFileSync(ledger_file, longer_file)
    const longer = createFileLedger(longer_file)
    for (const tenant_id of [t.tenant_id, t.tenant_id, uuidv7()])
      await recordDeletion(longer, w.kernel.auditKeys, tenant_id)
    expect(await check(longer)).toMatchObject({ status: 'failed', detail: expect.stringContaining('was deleted') })
    const back = { tenant_id: t.tenant_id, reason: expect.stringContaining('tenant delete') }
    expect(await replayErasures(w.runtime, longer)).toMatchObject({ entries: 3, absent: 1, failed: [back] })
  } finally {
    await worker.end()
  }
})
