/**
 * Flips single bits of what is stored, as a failing disk or a superuser would, and asks whatever depends on it. Each flip is
 * undone. An answer that passes off altered bytes as right is `unnoticed`.
 */
import pg from 'pg'
import { createBuiltInIssuer } from '#kernel/auth/built-in-issuer.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { verifyChain } from '#modules/audit/chain-reader.ts'
import { chainAllEvents } from './audit-chain.ts'
import type { ExampleTenant } from './example-tenant.ts'

type Random = (below: number) => number
type Value = Buffer | string

/** Where bits are flipped: a column of the rows a condition names. Columns that only order or date things are left out. */
interface StoredColumn {
  readonly table: string
  readonly column: string
  readonly kind: 'text' | 'bytes' | 'time' | 'integer' | 'json' | 'uuid'
  readonly where: string
}

interface CorruptionTarget {
  readonly name: string
  readonly places: readonly StoredColumn[]
  /** True when the alteration was noticed. */
  notices(): Promise<boolean>
}

export interface BitFlip {
  readonly target: string
  readonly place: string
  readonly noticed: boolean
}

/** How a value is read and written so that the bits in between are those of the value. */
const valueCodecs: Readonly<Record<StoredColumn['kind'], { read: (column: string) => string; write: string }>> = {
  text: { read: (column) => column, write: '$1' },
  bytes: { read: (column) => column, write: '$1' },
  time: {
    read: (column) => `(extract(epoch from ${column}) * 1000000)::bigint::text`,
    write: `timestamptz 'epoch' + $1::bigint * interval '1 microsecond'`,
  },
  integer: { read: (column) => `${column}::text`, write: '$1::bigint' },
  json: { read: (column) => `${column}::text`, write: '$1::jsonb' },
  uuid: { read: (column) => `${column}::text`, write: '$1::uuid' },
}

function flipBit(kind: StoredColumn['kind'], value: Value, random: Random): Value {
  if (kind === 'time' || kind === 'integer') return String(BigInt(value as string) ^ (1n << BigInt(random(20))))
  const bytes = Buffer.from(value as string)
  if (bytes.length === 0) return value
  const at = random(bytes.length)
  bytes[at] = (bytes[at] as number) ^ (1 << random(8))
  return kind === 'bytes' ? bytes : bytes.toString('utf8')
}

const isEqual = (one: Value, two: Value): boolean => Buffer.from(one as string).equals(Buffer.from(two as string))
/** Not every flip leaves something PostgreSQL can store: such a one cannot happen behind its back. */
const isStorable = (value: Value): boolean => typeof value !== 'string' || !/[\0\uFFFD]/.test(value)

/** A flip that PostgreSQL itself refuses to store, or that spells the same value, is tried elsewhere. */
async function flipRandomBit(superuser: pg.Client, target: CorruptionTarget, random: Random) {
  for (;;) {
    const place = target.places[random(target.places.length)] as StoredColumn
    const { table, column, kind, where } = place
    const form = valueCodecs[kind]
    const ask = `select ctid::text as row, ${form.read(column)} as value from app.${table} where ${where} and ${column} is not null order by ctid`
    const { rows } = await superuser.query<{ row: string; value: Value }>(ask)
    const chosen = rows[random(Math.max(1, rows.length))]
    if (!chosen) throw new Error(`nothing is stored in ${table}.${column} where ${where}`)
    const value = flipBit(kind, chosen.value, random)
    if (!isStorable(value) || isEqual(value, chosen.value)) continue
    const write = (text: Value, row: string) =>
      superuser.query<{ row: string; value: Value }>(
        `update app.${table} set ${column} = ${form.write} where ctid = $2 returning ctid::text as row, ${form.read(column)} as value`,
        [text, row],
      )
    const written = await write(value, chosen.row).catch(() => undefined)
    const now = written?.rows[0]
    if (!now) continue
    const undo = async () => {
      const put = await write(chosen.value, now.row)
      if (!put.rows[0] || !isEqual(put.rows[0].value, chosen.value))
        throw new Error(`${table}.${column} was not put back`)
    }
    if (!isEqual(now.value, chosen.value)) return { place: `${table}.${column}`, undo }
    await undo()
  }
}

export async function createCorruption(connection: pg.ClientConfig, tenant: ExampleTenant) {
  const { w, tenant_id } = tenant
  const superuser = new pg.Client(connection)
  // A server that stops ends the connection; whoever waits for a query gets that error.
  superuser.on('error', () => {})
  await superuser.connect()
  // Past triggers that refuse changes of the record, as a superuser can.
  await superuser.query('set session_replication_role = replica')
  const own = `tenant_id = '${tenant_id}'`
  const token = await tenant.token()

  for (let i = 0; i < 5; i++) await tenant.newUser()
  await chainAllEvents(w, tenant)
  const export_id = await tenant.auditRun('export')
  await chainAllEvents(w, tenant)
  const key = { 'idempotency-key': uuidv7() }
  const body = { name: 'Ada', email: `${uuidv7()}@example.com`, roles: ['viewer'] }
  const create = () => w.call('POST /users', { token, body, headers: key })
  const first = await create()
  await chainAllEvents(w, tenant)
  const { next_cursor: cursor } = (await w.call('GET /users?limit=2', { token })).json

  const verify = () =>
    w.runtime.database.read(fullScope(tenant_id, 'operator:test'), (tx) =>
      verifyChain(tx, w.kernel.auditKeys, async () => {}),
    )
  const download = () =>
    w.call(`GET /audit/exports/${export_id}/content`, { token }).then(
      ({ status, json }) => ({ status, code: json?.code }),
      // The transfer broke off: nobody takes it for the whole.
      () => ({ status: 500, code: 'internal' }),
    )
  const mint = () =>
    createBuiltInIssuer(w.runtime.database, w.seedContext.keyring)
      .mint({ tenant_id, principal: `user:${uuidv7()}`, roles: ['viewer'], lifetime_s: 60 })
      .then(
        () => 'minted',
        (error: Error) => error.name,
      )

  const content = `${own} and upload_id = (select upload_id from app.audit_run where ${own} and run_id = '${export_id}')`
  const answer = `${own} and key = '${key['idempotency-key']}'`
  const audit = (table: string, column: string, kind: StoredColumn['kind'] = 'text'): StoredColumn => ({
    table,
    column,
    kind,
    where: own,
  })
  const targets: CorruptionTarget[] = [
    {
      name: 'upload',
      places: [
        { table: 'upload_chunk', column: 'bytes', kind: 'bytes', where: content },
        { table: 'upload', column: 'sha256', kind: 'text', where: content },
      ],
      notices: async () => (await download()).code === 'internal',
    },
    {
      name: 'answer',
      places: [
        { table: 'idempotency', column: 'body', kind: 'text', where: answer },
        { table: 'idempotency', column: 'fingerprint', kind: 'text', where: answer },
        { table: 'idempotency', column: 'headers', kind: 'json', where: answer },
        { table: 'idempotency', column: 'status', kind: 'integer', where: answer },
      ],
      notices: async () => ['internal', 'idempotency_key_reused'].includes((await create()).json.code),
    },
    {
      name: 'signing key',
      places: [{ table: 'signing_key', column: 'sealed_private', kind: 'text', where: `state = 'active'` }],
      notices: async () => (await mint()) === 'DecryptionFailed',
    },
    {
      name: 'audit record',
      places: [
        ...['actor', 'operation', 'object_type', 'object_id', 'request_id', 'detail', 'mac'].map((column) =>
          audit('audit_event', column),
        ),
        audit('audit_event', 'recorded_at', 'time'),
        audit('audit_event', 'event_id', 'uuid'),
        audit('audit_link', 'event_id', 'uuid'),
        audit('audit_link', 'prev_hash'),
        audit('audit_link', 'hash'),
        audit('audit_link', 'seq', 'integer'),
        audit('audit_head', 'hash'),
        audit('audit_head', 'mac'),
        audit('audit_head', 'seq', 'integer'),
      ],
      notices: async () => !(await verify()).intact,
    },
    {
      name: 'checkpoint',
      places: [
        audit('audit_checkpoint', 'signature'),
        audit('audit_checkpoint', 'hash'),
        audit('audit_checkpoint', 'key_id'),
        audit('audit_checkpoint', 'created_at', 'time'),
        audit('audit_checkpoint', 'seq', 'integer'),
      ],
      notices: async () => !(await verify()).intact,
    },
  ]

  /** Held by the client, not by us; it comes back all the same. */
  const flipCursor = async (random: Random): Promise<BitFlip> => {
    let altered: Value = cursor
    while (isEqual(altered, cursor) || !isStorable(altered)) altered = flipBit('text', cursor, random)
    const { status } = await w.call(`GET /users?limit=2&cursor=${encodeURIComponent(altered as string)}`, { token })
    return { target: 'cursor', place: 'cursor', noticed: [400, 404, 422].includes(status) }
  }

  return {
    names: [...targets.map(({ name }) => name), 'cursor'],
    flip: async (name: string, random: Random): Promise<BitFlip> => {
      const target = targets.find((one) => one.name === name)
      if (!target) return flipCursor(random)
      const { place, undo } = await flipRandomBit(superuser, target, random)
      try {
        return { target: name, place, noticed: await target.notices() }
      } finally {
        await undo()
      }
    },
    /** The names of those that do not give what they gave before anything was flipped. */
    unsound: async (): Promise<string[]> => {
      const again = await create()
      const sound: Record<string, boolean> = {
        upload: (await download()).status === 200,
        answer: again.status === 201 && again.text === first.text,
        'signing key': (await mint()) === 'minted',
        'audit record': (await verify()).intact,
        cursor: (await w.call(`GET /users?limit=2&cursor=${cursor}`, { token })).status === 200,
      }
      return Object.keys(sound).filter((name) => !sound[name])
    },
    end: () => superuser.end(),
  }
}
export type Corruption = Awaited<ReturnType<typeof createCorruption>>
