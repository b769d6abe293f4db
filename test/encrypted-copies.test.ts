/**
 * Copies of personal content: encrypted when they are written, or later by a job; never changed otherwise; and gone with the key of
 * their owner, so that nothing that is kept allows guessing them.
 */
import { createHash } from 'node:crypto'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { runBatch } from '#modules/batch-evaluations/fixtures.ts'
import { connect } from '#test/isolation/support.ts'
import { readDecision, storePlain } from '#test/support/decision-documents.ts'
import { newPolicy } from '#test/support/example-policy.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
let superuser: pg.Client
beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  superuser = await connect(w.clone.postgres)
  await superuser.query('set session_replication_role = replica')
})
afterAll(async () => {
  await superuser.end()
  await w.close()
})

const NAME = 'Zuleika Dobson-Xyzzy'
const EXTERNAL_ID = 'customer-77-xyzzy'

/** A person with an earlier version, a decision, an item of a batch and one without a subject. */
async function newPerson(suffix: string) {
  const external_id = `${EXTERNAL_ID}-${suffix}`
  const { matrix_key } = await newPolicy(t)
  const body = { subject_type: 'person', external_id, name: `${NAME} ${suffix}`, attributes: { country: 'DE' } }
  const { subject_id } = await t.make('POST /subjects', { body })
  await t.make(`PATCH /subjects/${subject_id}`, { body: { name: `${NAME} the second ${suffix}` } })
  const { evaluation_id } = await t.make('POST /evaluations', { body: { matrix_key, subject_id } })
  const items = [
    { subject_id, inputs: { pep: true } },
    { external_id, inputs: { country: 'CH' } },
    { inputs: { country: 'IR' } },
  ]
  const batch_id = await runBatch(t, { matrix_key, items })
  return { subject_id, evaluation_id, batch_id, matrix_key, external_id }
}
type Person = Awaited<ReturnType<typeof newPerson>>

const seen = async ({ subject_id, evaluation_id, batch_id }: Person) => ({
  versions: (await t.make(`GET /subjects/${subject_id}/versions`)).items,
  timeline: (await t.make(`GET /subjects/${subject_id}/timeline`)).items,
  evaluation: await t.make(`GET /evaluations/${evaluation_id}`),
  items: (await t.make(`GET /batch-evaluations/${batch_id}/items`)).items,
  explanation: await t.make(`GET /batch-evaluations/${batch_id}/items/1/explanation`),
  verdict: (await t.make(`POST /evaluations/${evaluation_id}/replay`)).verdict,
})

/** Every row of the tenant in the tables of copies, as text. */
async function dump(): Promise<string> {
  const tables = ['evaluation', 'batch_item', 'batch_evaluation', 'subject_version']
  const texts = tables.map((table) => `select r::text as row from app.${table} r where tenant_id = $1`)
  const { rows } = await superuser.query(texts.join(' union all '), [t.tenant_id])
  return rows.map(({ row }) => row as string).join('\n')
}

async function runJob(): Promise<Record<string, number>> {
  const { job_id, state } = await t.write((tx) => w.kernel.jobs.enqueue(tx, { kind: 'encrypt-copies', payload: {} }))
  await t.runToEnd({ job_id, state })
  return (await t.make(`GET /jobs/${job_id}`)).result
}

/** As an earlier release would have stored the person. */
async function makePlain(person: Person): Promise<void> {
  const { versions, items } = await seen(person)
  await storePlain(w, superuser, { tenant_id: t.tenant_id, evaluation_id: person.evaluation_id })
  for (const item of items) {
    await superuser.query(
      `update app.batch_item set content = null, external_id_hash = null, external_id = $3, inputs = $4 where batch_id = $1 and seq = $2`,
      [person.batch_id, item.seq, item.external_id, item.inputs],
    )
  }
  const inline = items.map(({ external_id, inputs }: { external_id: string | null; inputs: object }) =>
    external_id === null ? { inputs } : { external_id, inputs },
  )
  await superuser.query(
    'update app.batch_evaluation set items = null, item_owners = null, source = $2 where batch_id = $1',
    [person.batch_id, { items: inline }],
  )
  await superuser.query(
    'update app.subject_version set content = null, changed_members = null, name = $2, external_id = $3, attributes = $4 where subject_id = $1',
    [person.subject_id, versions[1].name, versions[1].external_id, versions[1].attributes],
  )
}

describe('new copies', () => {
  test('hold no clear text', async () => {
    const person = await newPerson('new')
    const text = await dump()
    for (const clear of [NAME, EXTERNAL_ID, '"pep"', 'country', '"salt"']) expect(text).not.toContain(clear)
    const { versions, timeline, items } = await seen(person)
    expect(versions.map(({ name }: { name: string }) => name)).toEqual([`${NAME} the second new`, `${NAME} new`])
    expect(timeline.find(({ revision }: { revision: number }) => revision === 2)).toMatchObject({ members: ['name'] })
    expect(items.map(({ external_id }: { external_id: string }) => external_id)).toEqual([
      person.external_id,
      person.external_id,
      null,
    ])
  })
})

describe('the job', () => {
  test('encrypts what earlier releases stored plain, and everything reads as before', async () => {
    const person = await newPerson('old')
    const before = await seen(person)
    await makePlain(person)
    expect(await dump()).toContain(NAME)
    // Items have lost their salts, so their documents cannot be recomputed.
    const { explanation: _, ...plain } = await seen(person).catch(() => ({ ...before, explanation: null }))
    expect(plain.versions).toEqual(before.versions)
    expect(plain.timeline).toEqual(before.timeline)
    const { document_hash } = before.evaluation
    expect(await runJob()).toEqual({ subject_version: 1, evaluation: 1, batch_item: 3, batch_evaluation: 1 })
    const text = await dump()
    for (const clear of [NAME, EXTERNAL_ID, 'country']) expect(text).not.toContain(clear)
    const [versions, timeline, items] = await Promise.all([
      t.make(`GET /subjects/${person.subject_id}/versions`),
      t.make(`GET /subjects/${person.subject_id}/timeline`),
      t.make(`GET /batch-evaluations/${person.batch_id}/items`),
    ])
    expect(versions.items).toEqual(before.versions)
    expect(timeline.items).toEqual(before.timeline)
    expect(items.items).toEqual(before.items)
    const replayed = await t.make(`POST /evaluations/${person.evaluation_id}/replay`)
    expect(replayed).toMatchObject({ verdict: 'identical', document_hash })
    expect(await runJob()).toEqual({ subject_version: 0, evaluation: 0, batch_item: 0, batch_evaluation: 0 })
  })

  test('leaves nothing of a subject that was erased before', async () => {
    const person = await newPerson('gone')
    await makePlain(person)
    await t.write((tx) => w.kernel.encryption.destroyOwner(tx, { kind: 'subject', id: person.subject_id }))
    await runJob()
    expect(await dump()).not.toContain(`${EXTERNAL_ID}-gone`)
    const reply = await w.call(`GET /evaluations/${person.evaluation_id}`, { token: await t.token() })
    expect(reply.status).toBe(410)
  })
})

describe('the database refuses', () => {
  test('every change of a copy but from plain to encrypted', async () => {
    const { subject_id, evaluation_id, batch_id } = await newPerson('kept')
    const attempt = (sql: string, id: string) =>
      t
        .write((tx) => tx.run(sql, [id]))
        .then(
          (count) => `changed ${count}`,
          (error) => (error as { code?: string }).code ?? String(error),
        )
    const evaluation = (set: string) =>
      attempt(`update app.evaluation set ${set} where evaluation_id = $1`, evaluation_id)
    const version = (set: string) => attempt(`update app.subject_version set ${set} where subject_id = $1`, subject_id)
    const item = (set: string) => attempt(`update app.batch_item set ${set} where batch_id = $1 and seq = 1`, batch_id)
    const refused = [
      await evaluation(`document = '{}', document_encrypted = null`),
      await evaluation(`document_encrypted = 'other'`),
      await evaluation(`document_encrypted = null`),
      await version(`content = 'other'`),
      await version(`content = null, name = 'x', attributes = '{}'`),
      await item(`content = 'other'`),
      await item(`content = null, inputs = '{}'`),
      await item(`external_id_hash = repeat('0', 64)`),
      await attempt(
        `update app.batch_evaluation set items = array['x'::bytea], item_owners = '{null}' where batch_id = $1`,
        batch_id,
      ),
      await attempt(`update app.batch_evaluation set items = null, item_owners = null where batch_id = $1`, batch_id),
    ]
    expect(refused).toEqual(refused.map(() => 'PB002'))
    expect(await evaluation(`document_hash = repeat('0', 64)`)).toBe('42501')
    expect(await attempt('delete from app.evaluation where evaluation_id = $1', evaluation_id)).toBe('42501')
  })

  test('to encrypt a plain copy together with any other change, or twice', async () => {
    const person = await newPerson('once')
    await makePlain(person)
    const { subject_id, evaluation_id, batch_id } = person
    const { rows } = await superuser.query(
      `select table_name, column_name from information_schema.columns where table_schema = 'app'
          and table_name in ('evaluation', 'subject_version') and column_name not in
            ('document', 'document_encrypted', 'content', 'external_id', 'name', 'segment', 'attributes', 'offboard_reason')`,
    )
    const client = await connect(w.clone.postgres)
    await client.query(`set app.actor = 'operator:test'`)
    await client.query(`select set_config('app.tenant_id', $1, false)`, [t.tenant_id])
    const targets = {
      evaluation: [`document = null, document_encrypted = 'x'`, `evaluation_id = '${evaluation_id}'`],
      subject_version: [
        `content = 'x', external_id = null, name = null, segment = null, attributes = null, offboard_reason = null`,
        `subject_id = '${subject_id}'`,
      ],
    } as const
    const changes: Record<string, string> = {
      uuid: 'gen_random_uuid()',
      bigint: '77',
      'timestamp with time zone': `'1999-01-01'`,
    }
    for (const { table_name, column_name } of rows as { table_name: keyof typeof targets; column_name: string }[]) {
      const [set, where] = targets[table_name]
      const { rows: types } = await client.query(
        `select data_type from information_schema.columns where table_schema = 'app' and table_name = $1 and column_name = $2`,
        [table_name, column_name],
      )
      const { data_type } = types[0]
      const value =
        data_type === 'ARRAY' ? `'{x}'` : data_type === 'boolean' ? 'true' : (changes[data_type] ?? `'other'`)
      const update = client.query(`update app.${table_name} set ${set}, ${column_name} = ${value} where ${where}`)
      await expect(update, `${table_name}.${column_name}`).rejects.toMatchObject({ code: 'PB002' })
    }
    await expect(
      client.query(
        `update app.batch_item set content = 'x', inputs = null, external_id = null, band = 'other' where batch_id = '${batch_id}'`,
      ),
    ).rejects.toMatchObject({ code: 'PB002' })
    await client.end()
    await runJob()
  })
})

describe('an erased subject', () => {
  test('has no readable copy left: 410 with the hash, and lists say so', async () => {
    const [person, other] = [await newPerson('erased'), await newPerson('other')]
    const { document_hash } = (await seen(person)).evaluation
    await superuser.query(
      `update app.owner_key set state = 'destroyed', wrapped = null, tenant_key_no = null, destroyed_at = now() where owner_id = $1`,
      [person.subject_id],
    )
    const token = await t.token()
    const { evaluation_id, batch_id, subject_id, matrix_key } = person
    for (const at of [
      `GET /evaluations/${evaluation_id}`,
      `GET /evaluations/${evaluation_id}/explanation`,
      `GET /evaluations/${evaluation_id}/inputs`,
      `GET /evaluations/${evaluation_id}/certificate`,
      `GET /evaluations/${evaluation_id}/pack`,
      `POST /evaluations/${evaluation_id}/replay`,
      `POST /evaluations/${evaluation_id}/reevaluate`,
    ]) {
      const { status, json } = await w.call(at, { token })
      expect([at, status, json.code, json.document_hash]).toEqual([at, 410, 'erased', document_hash])
    }
    const explained = await w.call(`GET /batch-evaluations/${batch_id}/items/1/explanation`, { token })
    expect([explained.status, explained.json.code]).toEqual([410, 'erased'])
    const again = await w.call('POST /evaluations', { token, body: { matrix_key, subject_id } })
    expect([again.status, again.json.code]).toEqual([410, 'erased'])
    const listed = (await t.make('GET /evaluations')).items.find((row: never) => row['evaluation_id'] === evaluation_id)
    expect(listed).toMatchObject({ is_erased: true, intact: true, document_hash, band: 'low' })
    const { items } = await t.make(`GET /batch-evaluations/${batch_id}/items`)
    expect(items.map((item: never) => [item['is_erased'], item['external_id'], item['inputs'] !== null])).toEqual([
      [true, null, false],
      [true, null, false],
      [false, null, true],
    ])
    const { items: versions } = await t.make(`GET /subjects/${subject_id}/versions`)
    expect(versions[1]).toMatchObject({ revision: 1, is_erased: true, name: null, external_id: null, attributes: {} })
    expect((await seen(other)).verdict).toBe('identical')
  })

  test('cannot be guessed from any hash that is kept', async () => {
    const person = await newPerson('guess')
    const { tenant_id } = t
    const document = await readDecision(w, { tenant_id, evaluation_id: person.evaluation_id })
    const { items } = await seen(person)
    await t.write((tx) => w.kernel.encryption.destroyOwner(tx, { kind: 'subject', id: person.subject_id }))
    const { salt: _, ...known } = document as Record<string, unknown>
    const { rows: salts } = await superuser.query(
      'select document_salt from app.batch_item where document_salt is not null',
    )
    expect(salts).toEqual([])
    // The attacker knows everything but salts and keys.
    const guesses = [known, { ...known, salt: '' }, document['inputs'], ...items.map((item: never) => item['inputs'])]
      .map((guess) => canonicalJson(guess))
      .concat(person.external_id, `${NAME} guess`, `${NAME} the second guess`)
    const hashes = guesses.flatMap((guess) =>
      ['sha256', 'sha512', 'sha1', 'md5'].map((name) => createHash(name).update(guess).digest('hex')),
    )
    const { rows } = await superuser.query(
      `select r::text as row from app.evaluation r where tenant_id = $1 union all
       select r::text from app.batch_item r where tenant_id = $1 union all
       select r::text from app.subject_version r where tenant_id = $1 union all
       select r::text from app.audit_event r where tenant_id = $1`,
      [tenant_id],
    )
    const kept = rows.map(({ row }) => row as string).join('\n')
    expect(hashes.filter((hash) => kept.includes(hash))).toEqual([])
  })
})
