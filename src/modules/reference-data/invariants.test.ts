/** The database enforces the invariants of the registry: SQL of a tenant tries to break each of them. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import type { activationStore } from '#modules/definitions/index.ts'
import { toForgery } from '#test/support/own-trigger.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'

import { insertCanaryRows } from './canary.ts'
import { SHARED_LIST } from './fixtures.ts'

const SYSTEM = '00000000-0000-0000-0000-000000000000'
const OPEN = 9007199254740991
const ENTRY = `'\\x00'::bytea, '{"code":"canary"}'`

/** Targets of the attempts: a list with a version in force of this tenant, of another tenant, and a shared one. */
interface Targets {
  readonly tenant: string
  readonly dataset: string
  readonly activation: string
  readonly receipt: string
  readonly other_tenant: string
  readonly other_dataset: string
  readonly shared_dataset: string
  readonly second_dataset: string
}
let w: TestApp
let g: Targets

const toScope = (tenant_id: string) => fullScope(tenant_id, 'operator:test')
const writeAs = <T>(tenant_id: string, body: (tx: Tx) => Promise<T>) =>
  w.runtime.database.write(toScope(tenant_id), body)
const findId = async (tenant_id: string, sql: string): Promise<string> =>
  (await writeAs(tenant_id, (tx) => tx.find<{ id: string }>(sql)))?.id as string

async function createTenantWithRows(): Promise<string> {
  const tenant_id = await w.makeTenant()
  await writeAs(tenant_id, insertCanaryRows)
  return tenant_id
}

beforeAll(async () => {
  w = await startTestApp()
  const [tenant, other_tenant] = [await createTenantWithRows(), await createTenantWithRows()]
  const own = `tenant_id = app.tenant_id() and list_key = 'canary'`
  const selectShared = `select dataset_id as id from app.dataset where tenant_id = '${SYSTEM}' and list_key = '${SHARED_LIST}'`
  const second_dataset = uuidv7()
  await writeAs(tenant, (tx) =>
    tx.run(
      `insert into app.dataset (tenant_id, dataset_id, family, list_key, role, type_tenant_id, type_key, title, created_by)
       values ($1, $2, 'list', 'second', 'base', $1, 'canary', 'Second', 'operator:test')`,
      [tenant, second_dataset],
    ),
  )
  g = {
    tenant,
    other_tenant,
    dataset: await findId(tenant, `select dataset_id as id from app.dataset where ${own}`),
    activation: await findId(tenant, `select activation_id as id from app.activation where ${own}`),
    receipt: await findId(tenant, 'select receipt_id as id from app.resolution_receipt'),
    other_dataset: await findId(other_tenant, `select dataset_id as id from app.dataset where ${own}`),
    shared_dataset: await findId(tenant, selectShared),
    second_dataset,
  }
})
afterAll(() => w.close())

/** Runs the statements in one transaction. Returns the row count of the last one, or the SQLSTATE of the refusal. */
const attempt = (...statements: readonly string[]): Promise<number | string> =>
  writeAs(g.tenant, async (tx) => {
    let count = 0
    for (const sql of statements) count = await tx.run(sql)
    return count
  }).catch((error: { code: string; cause?: { code: string } }) => error.cause?.code ?? error.code)

const IMMUTABLE = 'PB002'
const OUT_OF_ORDER = 'PB003'
const NOT_OF_THIS_LIST = 'PB004'
const PIN_TOO_LONG = 'PB005'
const NEVER_IN_FORCE = 'PB006'
const IN_FORCE = 'PB007'
const NOT_GRANTED = '42501'
const CHECK = '23514'
const MISSING = '23503'

const newVersion = (version: number, more: { dataset?: string; created_at?: string; type_tenant?: string } = {}) =>
  `insert into app.dataset_version (tenant_id, dataset_id, version, type_tenant_id, type_key, type_version, content_hash,
     content_changed, entry_count, data_bytes, origin, provenance, difference, created_by, created_at)
   values ('${g.tenant}', '${more.dataset ?? g.dataset}', ${version}, '${more.type_tenant ?? g.tenant}', 'canary', 1, repeat('a', 64),
     true, 1, 17, 'inline', '{}', '{}', 'operator:test', ${more.created_at ?? 'now()'})`
const newEntry = (key: string, v_from: number, v_to: number = OPEN) =>
  `insert into app.dataset_entry (tenant_id, dataset_id, key, v_from, v_to, hash, data)
   values ('${g.tenant}', '${g.dataset}', '${key}', ${v_from}, ${v_to}, ${ENTRY})`
const claimPublishing = (version: number) => `select set_config('app.publishing', '${g.dataset}:${version}', true)`

interface ActivationValues {
  readonly kind?: string
  readonly layer?: string
  readonly list_key?: string
  readonly of?: readonly [tenant: string, dataset: string]
  readonly version?: number
  readonly expires_at?: string
}
const insertActivation = (values: ActivationValues = {}, more = '') => {
  const [tenant, dataset] = values.of ?? [g.tenant, g.dataset]
  return `insert into app.activation (tenant_id, activation_id, family, list_key, layer, kind, dataset_tenant_id, dataset_id,
     version, effective_from, expires_at, reason, actor, seq, recorded_at, retroactive, prev_hash, hash${more && ', revoked_at, revoked_by'})
   values ('${g.tenant}', gen_random_uuid(), 'list', '${values.list_key ?? 'canary'}', '${values.layer ?? 'base'}',
     '${values.kind ?? 'activate'}', '${tenant}', '${dataset}', ${values.version ?? 1}, null, ${values.expires_at ?? 'null'}, 'x',
     'operator:test', 77, '2001-01-01', true, repeat('0', 64), repeat('f', 64)${more && `, ${more}`})`
}
const pin = (days: number) =>
  insertActivation({
    kind: 'pin',
    list_key: SHARED_LIST,
    of: [SYSTEM, g.shared_dataset],
    expires_at: `now() + interval '${days} days'`,
  })

const attempts: readonly [title: string, refused_with: string, statements: () => string[]][] = [
  ['change a type', NOT_GRANTED, () => [`update app.dataset_type set definition = '{}'`]],
  ['remove a type', NOT_GRANTED, () => ['delete from app.dataset_type']],
  ['rename a list', IMMUTABLE, () => [`update app.dataset set list_key = 'x' where list_key = 'canary'`]],
  ['give a list another type', IMMUTABLE, () => [`update app.dataset set type_key = 'x' where list_key = 'canary'`]],
  ['change the head version', IMMUTABLE, () => [`update app.dataset set head_version = 7 where list_key = 'canary'`]],
  ['remove a list', NOT_GRANTED, () => ['delete from app.dataset']],
  ['leave a gap between versions', OUT_OF_ORDER, () => [newVersion(3)]],
  ['publish a number twice', OUT_OF_ORDER, () => [newVersion(1)]],
  ['change a version', IMMUTABLE, () => [`update app.dataset_version set note = 'other'`]],
  [
    'change the content of a version',
    IMMUTABLE,
    () => [`update app.dataset_version set content_hash = repeat('b', 64)`],
  ],
  [
    'restore a deprecated version',
    IMMUTABLE,
    () => [
      `update app.dataset_version set state = 'deprecated'`,
      `update app.dataset_version set state = 'published' where state = 'deprecated'`,
    ],
  ],
  [
    'restore a withdrawn version',
    IMMUTABLE,
    () => [
      newVersion(2),
      `update app.dataset_version set state = 'withdrawn' where version = 2`,
      `update app.dataset_version set state = 'deprecated' where state = 'withdrawn'`,
    ],
  ],
  [
    'withdraw a version in force',
    IN_FORCE,
    () => [`update app.dataset_version set state = 'withdrawn' where dataset_id = '${g.dataset}'`],
  ],
  [
    'roll back to a version that was never in force',
    NEVER_IN_FORCE,
    () => [newVersion(2), insertActivation({ version: 2, kind: 'rollback' })],
  ],
  ['remove a version', NOT_GRANTED, () => ['delete from app.dataset_version']],
  ['write an entry outside publishing', IMMUTABLE, () => [newEntry('new', 1)]],
  ['write an entry by claiming to publish', IMMUTABLE, () => [claimPublishing(1), newEntry('new', 1)]],
  ['write an entry of an old version while publishing', IMMUTABLE, () => [newVersion(2), newEntry('new', 1)]],
  [
    'write an entry of an old version by claiming it while publishing',
    IMMUTABLE,
    () => [newVersion(2), claimPublishing(1), newEntry('new', 1)],
  ],
  ['write an entry that ends later', IMMUTABLE, () => [newVersion(2), newEntry('new', 2, 9)]],
  ['close an entry outside publishing', IMMUTABLE, () => ['update app.dataset_entry set v_to = 2']],
  [
    'close an entry by claiming to publish',
    IMMUTABLE,
    () => [claimPublishing(1), `update app.dataset_entry set v_to = 2 where dataset_id = '${g.dataset}'`],
  ],
  [
    'close an entry for another version than the one published',
    IMMUTABLE,
    () => [newVersion(2), `update app.dataset_entry set v_to = 3 where dataset_id = '${g.dataset}'`],
  ],
  [
    'change an entry while publishing',
    IMMUTABLE,
    () => [newVersion(2), `update app.dataset_entry set v_to = 2, data = '{}' where dataset_id = '${g.dataset}'`],
  ],
  ['remove an entry', NOT_GRANTED, () => ['delete from app.dataset_entry']],
  ['change an activation', IMMUTABLE, () => ['update app.activation set version = 2']],
  [
    'change an activation while revoking it',
    IMMUTABLE,
    () => [`update app.activation set revoked_at = now(), revoked_by = 'x', reason = 'other'`],
  ],
  ['revoke without an actor', IMMUTABLE, () => ['update app.activation set revoked_at = now()']],
  [
    'revoke twice',
    IMMUTABLE,
    () => Array(2).fill(`update app.activation set revoked_at = now(), revoked_by = 'operator:test'`),
  ],
  ['remove an activation', NOT_GRANTED, () => ['delete from app.activation']],
  ['activate a missing version', NOT_OF_THIS_LIST, () => [insertActivation({ version: 9 })]],
  ['activate a version of another list', NOT_OF_THIS_LIST, () => [insertActivation({ list_key: 'second' })]],
  ['activate a list as an overlay', NOT_OF_THIS_LIST, () => [insertActivation({ layer: 'overlay', kind: 'overlay' })]],
  [
    'activate in the layer of overlays',
    CHECK,
    () => [insertActivation({ layer: 'overlay', kind: 'unpin' }).replace(/'[^']+', '[^']+', 1/, 'null, null, null')],
  ],
  [
    'activate a withdrawn version',
    NOT_OF_THIS_LIST,
    () => [
      newVersion(2),
      `update app.dataset_version set state = 'withdrawn' where version = 2`,
      insertActivation({ version: 2 }),
    ],
  ],
  [
    'activate a list of another tenant',
    NOT_OF_THIS_LIST,
    () => [insertActivation({ of: [g.other_tenant, g.other_dataset] })],
  ],
  [
    'activate a shared list instead of pinning it',
    CHECK,
    () => [insertActivation({ list_key: SHARED_LIST, of: [SYSTEM, g.shared_dataset] })],
  ],
  ['pin a tighten-only list for 91 days', PIN_TOO_LONG, () => [pin(91)]],
  [
    'pin a tighten-only list without an end',
    PIN_TOO_LONG,
    () => [insertActivation({ kind: 'pin', list_key: SHARED_LIST, of: [SYSTEM, g.shared_dataset] })],
  ],
  ['publish a version of another tenant’s list', OUT_OF_ORDER, () => [newVersion(2, { dataset: g.other_dataset })]],
  ['use another tenant’s type', CHECK, () => [newVersion(2, { type_tenant: g.other_tenant })]],
  ['use a missing shared type', MISSING, () => [newVersion(2, { type_tenant: SYSTEM })]],
  [
    'create an overlay of another tenant’s list',
    CHECK,
    () => [
      `insert into app.dataset (tenant_id, dataset_id, family, list_key, role, base_tenant_id, base_dataset_id, type_tenant_id, type_key,
         title, created_by)
       values ('${g.tenant}', gen_random_uuid(), 'list', 'x', 'overlay', '${g.other_tenant}', '${g.other_dataset}', '${g.tenant}',
         'canary', 'x', 'operator:test')`,
    ],
  ],
  ['change a receipt', NOT_GRANTED, () => [`update app.resolution_receipt set consumer = 'x'`]],
  ['remove a receipt', NOT_GRANTED, () => ['delete from app.resolution_receipt']],
  [
    'write into the ledger of seeds',
    NOT_GRANTED,
    () => [`insert into app.seed_ledger values ('${SYSTEM}', 'x', 'x', 1, 'applied')`],
  ],
  ['change what the operator did', NOT_GRANTED, () => [`update app.operator_event set actor = 'x'`]],
]

describe('a tenant cannot', () => {
  test.each(attempts)('%s', async (_title, refused_with, statements) => {
    expect(await attempt(...statements())).toBe(refused_with)
  })

  test('move the head of a list or the epoch from a trigger of its own', async () => {
    for (const statement of [
      `update app.dataset set head_version = 7 where list_key = 'canary'`,
      `update app.dataset set head_version = 0 where list_key = 'canary'`,
      'update app.activation_epoch set epoch = epoch - 1',
      'update app.activation_epoch set epoch = 9007199254740991',
    ])
      expect([statement, await attempt(...toForgery(statement))]).toEqual([statement, IMMUTABLE])
  })

  test.each([
    ['dataset_type', `'${SYSTEM}', 'x', 1, '{}', repeat('a', 64), 'none', now(), 'x'`],
    [
      'dataset_import',
      `'${SYSTEM}', gen_random_uuid(), gen_random_uuid(), 'x', null, null, 'x', 1, '{}', '{}', '{}', 'queued', '{}', '[]', '[]', '[]',
       null, now(), 'x', null`,
    ],
  ])('insert a shared row into %s', async (table, values) => {
    expect(await attempt(`insert into app.${table} values (${values})`)).toBe(NOT_GRANTED)
  })

  test.each(['dataset', 'dataset_version', 'dataset_entry', 'activation', 'dataset_import'])(
    'change a shared row of %s',
    async (table) => {
      const touched = await attempt(`update app.${table} set tenant_id = tenant_id where tenant_id = '${SYSTEM}'`)
      expect([0, IMMUTABLE]).toContain(touched)
    },
  )
})

describe('the database assigns', () => {
  test('the first version the number 1, whatever the list was registered with', async () => {
    const dataset = uuidv7()
    const register = `insert into app.dataset (tenant_id, dataset_id, family, list_key, role, type_tenant_id, type_key, title, created_by,
        head_version) values ('${g.tenant}', '${dataset}', 'list', 'forged', 'base', '${g.tenant}', 'canary', 'x', 'operator:test', 5)`
    expect(await attempt(register, newVersion(6, { dataset }))).toBe(OUT_OF_ORDER)
    expect(await attempt(register, newVersion(1, { dataset }))).toBe(1)
  })

  test('each version the time of its transaction, so that no other transaction can write its entries', async () => {
    const dataset = g.second_dataset
    expect(await attempt(newVersion(1, { dataset, created_at: `'2090-01-01'` }))).toBe(1)
    expect(await attempt(`update app.dataset_version set state = 'deprecated' where created_at > now()`)).toBe(0)
  })

  test('each activation its number, time and hash, and none is inserted as revoked', async () => {
    const before = await timeline()
    expect(await attempt(insertActivation({}, `'2090-01-01', 'operator:test'`))).toBe(1)
    const after = await timeline()
    const made = after.at(-1) as activationStore.ActivationRow
    expect(after).toHaveLength(before.length + 1)
    expect(made).toMatchObject({ seq: after.length, revoked_at: null, revoked_by: null, retroactive: false })
    expect(made.recorded_at > (before.at(-1) as activationStore.ActivationRow).recorded_at).toBe(true)
    expect(made.effective_from).toBe(made.recorded_at)
  })

  test('revocations their own time, after all earlier records', async () => {
    expect(await attempt(insertActivation())).toBe(1)
    const { activation_id, recorded_at } = (await timeline()).at(-1) as activationStore.ActivationRow
    const forged = `update app.activation set revoked_at = '2001-01-01', revoked_by = 'operator:test'`
    expect(await attempt(`${forged} where activation_id = '${activation_id}'`)).toBe(1)
    const revoked = (await timeline()).at(-1) as activationStore.ActivationRow
    expect((revoked.revoked_at as string) > recorded_at).toBe(true)
  })

  test('a hash chain that anybody can verify', async () => {
    for (let count = 0; count < 5; count++) expect(await attempt(insertActivation())).toBe(1)
    const rows = await timeline()
    expect(rows.length).toBeGreaterThan(5)
    expect(findBrokenLink(rows)).toBeNull()
    const forged = rows.map((row, index) => (index === 2 ? { ...row, reason: 'another' } : row))
    expect(findBrokenLink(forged)).toBe(3)
    expect(findBrokenLink(rows.filter(({ seq }) => seq !== 2))).toBe(3)
  })
})

const timeline = () =>
  writeAs(g.tenant, (tx) =>
    tx.query<activationStore.ActivationRow>(
      `select * from app.activation where tenant_id = $1 and list_key = 'canary' order by seq`,
      [g.tenant],
    ),
  )

/** The number of the first activation whose hash does not follow from the previous one, computed without the database. */
function findBrokenLink(rows: readonly activationStore.ActivationRow[]): number | null {
  let prev_hash = '0'.repeat(64)
  for (const row of rows) {
    const values = [
      prev_hash,
      g.tenant,
      'list',
      row.list_key,
      row.layer,
      row.seq,
      row.kind,
      row.dataset_tenant_id,
      row.dataset_id,
      row.version,
      row.effective_from,
      row.expires_at,
      row.recorded_at,
      row.reason,
      row.actor,
    ]
    const text = `[${values.map((value) => JSON.stringify(value)).join(', ')}]`
    const hash = createHash('sha256').update(text).digest('hex')
    if (row.prev_hash !== prev_hash || row.hash !== hash) return row.seq
    prev_hash = hash
  }
  return null
}
