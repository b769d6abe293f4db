/** What the holds router does, and what the database refuses while a hold is active. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { translateDatabaseError } from '#kernel/database/failures.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { HOUSEKEEPING } from '#modules/tenant/index.ts'
import { type JobTestApp, startJobTestApp, waitUntil } from '#test/support/job-test-app.ts'
import { forge } from '#test/support/own-trigger.ts'

let w: JobTestApp
let tenant_id: string
type Someone = Awaited<ReturnType<JobTestApp['person']>>
let officer: Someone
let other: Someone

beforeAll(async () => {
  w = await startJobTestApp()
  tenant_id = await w.makeTenant()
  officer = await w.person(tenant_id, ['compliance_officer'])
  other = await w.person(tenant_id, ['compliance_officer'])
})
afterAll(() => w.close())

const call = (who: Someone, line: string, body?: object) => w.call(line, { token: who.token, ...(body && { body }) })
const write = <T>(body: (tx: Tx) => Promise<T>, actor = 'operator:test') =>
  w.runtime.database.write(fullScope(tenant_id, actor), body)

async function createSubject(): Promise<string> {
  const token = await w.token({ tenant_id, roles: ['analyst'] })
  const made = await w.call('POST /subjects', { token, body: { subject_type: 'person', name: 'Ada Lovelace' } })
  return made.json.subject_id
}
const place = (who: Someone, object_id: string, more: object = {}) =>
  call(who, 'POST /holds', { object_kind: 'subject', object_id, reason: 'Court order', ...more })
const release = (who: Someone, hold_id: string) =>
  call(who, `POST /holds/${hold_id}/release`, { reason: 'Proceedings closed' })

const location = { table: 'hold', row_id: uuidv7(), column: 'reason' }
const createKey = (subject_id: string) =>
  write((tx) => w.kernel.encryption.encrypt(tx, { kind: 'subject', id: subject_id }, location, Buffer.from('x')))
const destroyKey = (tx: Tx, subject_id: string) =>
  tx.run(
    `update app.owner_key set state = 'destroyed', wrapped = null, tenant_key_no = null, destroyed_at = now()
      where tenant_id = $1 and owner_id = $2`,
    [tenant_id, subject_id],
  )

describe('a hold', () => {
  test('is released by another person, once', async () => {
    const subject_id = await createSubject()
    const placed = await place(officer, subject_id, { authority_reference: 'Order 17' })
    expect([placed.status, placed.json]).toMatchObject([
      201,
      {
        object_kind: 'subject',
        object_id: subject_id,
        state: 'active',
        placed_by: officer.principal,
        released_by: null,
      },
    ])
    const { hold_id } = placed.json
    const own = await release(officer, hold_id)
    expect([own.status, own.json.code]).toEqual([409, 'approval_own_request'])
    const released = await release(other, hold_id)
    expect([released.status, released.json]).toMatchObject([200, { state: 'released', released_by: other.principal }])
    const again = await release(other, hold_id)
    expect([again.status, again.json.code]).toEqual([409, 'transition_not_allowed'])
    const { items } = (await call(officer, `GET /holds?object_id=${subject_id}&state=released`)).json
    expect(items.map((hold: { hold_id: string }) => hold.hold_id)).toEqual([hold_id])
  })

  test('names an object that exists, of a kind that can be held', async () => {
    const unknown = await place(officer, uuidv7())
    expect([unknown.status, unknown.json.code]).toEqual([409, 'conflict'])
    const kind = await place(officer, await createSubject(), { object_kind: 'list' })
    expect([kind.status, kind.json.detail]).toEqual([409, expect.stringContaining('subject')])
  })

  test('is not placed by an API key', async () => {
    const token = await w.token({ tenant_id, principal: `key:${uuidv7()}`, roles: ['compliance_officer'] })
    const body = { object_kind: 'subject', object_id: await createSubject(), reason: 'Court order' }
    expect((await w.call('POST /holds', { token, body })).json.code).toBe('person_required')
  })

  test('takes a restriction that the caller may see, and no other', async () => {
    const made = await call(other, 'POST /restrictions', { purpose: 'Case 17' })
    const { restriction_id } = made.json
    const subject_id = await createSubject()
    const hidden = await place(officer, subject_id, { restriction_id })
    expect([hidden.status, hidden.json.code]).toEqual([409, 'conflict'])
    const { hold_id } = (await place(other, subject_id, { restriction_id })).json
    expect((await call(officer, `GET /holds/${hold_id}`)).status).toBe(404)
    // The object is kept although this person cannot see why.
    await createKey(subject_id)
    const erase = w.runtime.database.write(
      { tenant_id, actor: officer.principal, sight: `principal:${officer.principal}` },
      (tx) => destroyKey(tx, subject_id),
    )
    await expect(erase).rejects.toMatchObject({ code: 'legal_hold' })
  })
})

describe('the database', () => {
  const insert = (more: Record<string, unknown>) =>
    write((tx) => {
      const row = {
        tenant_id,
        hold_id: uuidv7(),
        object_kind: 'subject',
        object_id: uuidv7(),
        reason: 'x',
        placed_by: 'user:a',
        ...more,
      }
      const names = Object.keys(row)
      return tx.run(
        `insert into app.hold (${names.join()}) values (${names.map((_, at) => `$${at + 1}`).join()})`,
        Object.values(row),
      )
    })
  const newHold = async () => (await place(officer, await createSubject())).json.hold_id as string
  const update = (hold_id: string, text: string, actor?: string) =>
    write(
      (tx) => tx.run(`update app.hold set ${text} where tenant_id = $1 and hold_id = $2`, [tenant_id, hold_id]),
      actor,
    )
  const released = (by: string) =>
    `state = 'released', released_at = now(), release_reason = 'x', released_by = '${by}'`

  test('refuses a release by whoever placed it, by what is no person, or in the name of another', async () => {
    const hold_id = await newHold()
    for (const by of [officer.principal, 'key:a', 'operator:a'])
      await expect(update(hold_id, released(by), by)).rejects.toMatchObject({ code: 'approval_own_request' })
    await expect(update(hold_id, released('user:b'), officer.principal)).rejects.toMatchObject({ code: 'PB002' })
    await expect(insert({ placed_by: 'key:a' })).rejects.toMatchObject({ constraint: 'hold_person_ck' })
  })

  test('keeps a hold as it was placed, for ever', async () => {
    const hold_id = await newHold()
    for (const text of [
      `reason = 'y'`,
      `object_id = gen_random_uuid()`,
      `placed_by = 'user:b'`,
      `restriction_id = null`,
    ])
      await expect(update(hold_id, text)).rejects.toMatchObject({ code: 'PB002' })
    await update(hold_id, released('user:b'), 'user:b')
    await expect(
      update(hold_id, `state = 'active', released_at = null, release_reason = null, released_by = null`),
    ).rejects.toMatchObject({ code: 'PB002' })
    await expect(write((tx) => tx.run('delete from app.hold where hold_id = $1', [hold_id]))).rejects.toMatchObject({
      code: '42501',
    })
    const beginsReleased = insert({
      state: 'released',
      released_at: '2026-01-01',
      release_reason: 'x',
      released_by: 'user:b',
    })
    await expect(beginsReleased).rejects.toMatchObject({ code: 'PB002' })
  })

  test('keeps the copy that triggers read from writers', async () => {
    const hold_id = await newHold()
    const statements = [
      `delete from app.hold_in_force where hold_id = '${hold_id}'`,
      `insert into app.hold_in_force (tenant_id, object_id, hold_id) values ('${tenant_id}', gen_random_uuid(), '${hold_id}')`,
    ]
    const app = new pg.Client(w.clone.app)
    await app.connect()
    await app.query(
      `select set_config('app.tenant_id', '${tenant_id}', false), set_config('app.actor', 'user:b', false)`,
    )
    for (const text of statements) {
      await expect(write((tx) => tx.run(text))).rejects.toMatchObject({ code: 'PB002' })
      // A trigger of the writer is none of ours.
      expect(await forge(app, text)).toBe('PB002')
    }
    // Nor does a tenant that does not exist look like one that is being restored, in the second row of a statement.
    await app.query(`select set_config('app.restoring', 'on', false)`)
    const released = `case n when 2 then now() end, case n when 2 then 'x' end, case n when 2 then 'user:c' end`
    const begun = `insert into app.hold (tenant_id, hold_id, object_kind, object_id, reason, placed_by, state, released_at, release_reason, released_by)
      select '${tenant_id}', gen_random_uuid(), 'subject', gen_random_uuid(), 'x', 'user:b', case n when 2 then 'released' else 'active' end, ${released}
        from generate_series(1, 2) n
       where set_config('app.tenant_id', case n when 2 then '${uuidv7()}' else '${tenant_id}' end, true) is not null`
    await expect(app.query(begun)).rejects.toMatchObject({ code: 'PB002' })
    await app.end()
    await expect(write((tx) => tx.run('update app.hold_in_force set object_id = object_id'))).rejects.toMatchObject({
      code: '42501',
    })
  })

  test('does not destroy the key of a subject that is held', async () => {
    const subject_id = await createSubject()
    await createKey(subject_id)
    const { hold_id } = (await place(officer, subject_id)).json
    await expect(write((tx) => destroyKey(tx, subject_id))).rejects.toMatchObject({ code: 'legal_hold' })
    await release(other, hold_id)
    expect(await write((tx) => destroyKey(tx, subject_id))).toBe(1)
  })

  test('places no hold between the check and the commit of a deletion', async () => {
    const subject_id = await createSubject()
    await createKey(subject_id)
    let placed: ReturnType<typeof place> | undefined
    await write(async (tx) => {
      await destroyKey(tx, subject_id)
      placed = place(officer, subject_id)
      await waitUntil('the hold waits', async () => {
        const [row] = await tx.query<{ waiting: number }>(
          `select count(*)::int as waiting from pg_locks where locktype = 'advisory' and not granted`,
        )
        return row?.waiting === 1
      })
    })
    expect((await placed)?.status).toBe(201)
  })

  test('attaches the trigger to every table that holds name, with the way to the object', async () => {
    const read = <Row extends object>(text: string, values: unknown[] = []) =>
      write((tx) => tx.query<Row>(text, values))
    const triggers = await read<{ table_name: string; definition: string }>(
      `select c.relname::text as table_name, pg_get_triggerdef(t.oid) as definition from pg_trigger t join pg_class c on c.oid = t.tgrelid
        where t.tgfoid = 'app.refuse_held_delete'::regproc and t.tgenabled = 'O'`,
    )
    const kinds = modules.flatMap(({ holdable = [] }) => holdable)
    expect(kinds.map(({ kind }) => kind)).toContain('subject')
    for (const { rows } of kinds) {
      for (const [table, argument] of Object.entries(rows)) {
        const found = triggers.find(({ table_name }) => table_name === table)
        expect(found?.definition, table).toContain(`'${argument}'`)
      }
    }
    // Rows that say whose they are and can be deleted are kept, or it is said here why not.
    const derived = ['subject_word']
    const deletable = await read<{ name: string }>(
      `select c.relname::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = 'app'::regnamespace and c.relkind = 'r' and a.attname = any($1)
          and has_table_privilege('app', c.oid, 'delete')`,
      [kinds.map(({ kind }) => `${kind}_id`)],
    )
    const kept = kinds.flatMap(({ rows }) => Object.keys(rows))
    expect(deletable.map(({ name }) => name).filter((name) => !kept.includes(name))).toEqual(derived)
  })
})

test('retention leaves out what is held, and says so', async () => {
  w.startRunner()
  const subject_id = await createSubject()
  const [kept, gone] = [uuidv7(), uuidv7()]
  const insertPayload = (tx: Tx, payload_id: string, owner_id: string) =>
    tx.queryAll([
      {
        text: `insert into app.source_payload (tenant_id, payload_id, contract_key, owner_kind, owner_id, media_type, byte_size, payload_hash,
                 source_kind, source_id, received_at, created_by)
               values ($1, $2, 'registry', 'subject', $3, 'application/json', 1, repeat('0', 64), 'provider_call', $2, '2020-01-01', 'user:a')`,
        values: [tenant_id, payload_id, owner_id],
      },
      {
        text: `insert into app.source_payload_content (tenant_id, payload_id, content, received_at) values ($1, $2, '\\x00', '2020-01-01')`,
        values: [tenant_id, payload_id],
      },
    ])
  await write(async (tx) => {
    await insertPayload(tx, kept, subject_id)
    await insertPayload(tx, gone, uuidv7())
  })
  const token = await w.token({ tenant_id, roles: ['tenant_admin'] })
  const classes = [{ record_class: 'provider-payloads', keep_days: 30, basis: 'Decided.' }]
  await w.call('PUT /tenant/retention-policy', { token, body: { classes } })
  const { hold_id } = (await place(officer, subject_id)).json
  const runHousekeeping = async () => {
    const { job_id } = await write((tx) => w.kernel.jobs.enqueue(tx, { kind: HOUSEKEEPING, payload: {} }))
    return (await w.ended(tenant_id, job_id)).result
  }
  expect(await runHousekeeping()).toMatchObject({ 'provider-payloads': 1, held: { 'provider-payloads': 1 } })
  const remove = write((tx) => tx.run('delete from app.source_payload_content where payload_id = $1', [kept]))
  await expect(remove).rejects.toMatchObject({ code: 'legal_hold' })
  await release(other, hold_id)
  expect(await runHousekeeping()).toMatchObject({ 'provider-payloads': 1 })
})

test('the refusal of a trigger is a problem of its own', () => {
  const raised = Object.assign(new Error('a legal hold keeps a row'), { code: 'PB008' })
  expect(translateDatabaseError(raised)).toMatchObject({ code: 'legal_hold', status: 409 })
})
