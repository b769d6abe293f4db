/**
 * Random things that a superuser could do to a sealed record: edits, deletions, exchanges, insertions, truncations. Each says
 * which places it touched, so that finding it elsewhere does not count.
 */
import { randomUUID } from 'node:crypto'
import type pg from 'pg'

export type Random = (below: number) => number

/** A sealed chain of `size` links with a checkpoint at each of these. */
export interface ChainTarget {
  readonly tenant_id: string
  readonly size: number
  readonly checkpoints: readonly number[]
}

export interface TamperedPlaces {
  readonly seqs: readonly number[]
  readonly event_ids?: readonly string[]
}

type Tampering = (run: RunSql, random: Random, target: ChainTarget) => Promise<TamperedPlaces>
type RunSql = (text: string, ...values: unknown[]) => Promise<pg.QueryResult>

const event = '(select event_id from app.audit_link where tenant_id = $1 and seq = $2)'
const content = 'recorded_at, actor, operation, object_type, object_id, request_id, detail, mac'
const pickSeq = (random: Random, { size }: ChainTarget): number => 1 + random(size)
/** Another digit in place of one of a text of hexadecimal digits. */
const flipHexDigit = (column: string, at: number) =>
  `overlay(${column} placing translate(substr(${column}, ${at}, 1), '0123456789abcdef', '123456789abcdef0') from ${at} for 1)`

const editEvent: Tampering = async (run, random, target) => {
  const seq = pickSeq(random, target)
  const name = ['actor', 'operation', 'object_type', 'object_id', 'request_id', 'detail', 'recorded_at', 'mac'][
    random(8)
  ]
  const values: Record<string, string> = {
    detail: `'{"planted":${random(1000)}}'`,
    recorded_at: `recorded_at + interval '${1 + random(1_000_000)} microseconds'`,
    request_id: `coalesce(request_id, '') || 'x'`,
    mac: flipHexDigit('mac', 1 + random(64)),
  }
  const value = values[name as string] ?? `${name} || '${random(10)}'`
  await run(`update app.audit_event set ${name} = ${value} where tenant_id = $1 and event_id = ${event}`, seq)
  return { seqs: [seq] }
}

const renameEvent: Tampering = async (run, random, target) => {
  const seq = pickSeq(random, target)
  await run(`update app.audit_event set event_id = $3 where tenant_id = $1 and event_id = ${event}`, seq, randomUUID())
  return { seqs: [seq] }
}

const editLink: Tampering = async (run, random, target) => {
  const seq = pickSeq(random, target)
  const name = random(2) === 0 ? 'hash' : 'prev_hash'
  const value = flipHexDigit(name, 1 + random(64))
  await run(`update app.audit_link set ${name} = ${value} where tenant_id = $1 and seq = $2`, seq)
  return { seqs: [seq] }
}

const editHead: Tampering = async (run, random, target) => {
  const seq = 1 + random(target.size - 1)
  const changes = [
    `hash = ${flipHexDigit('hash', 1 + random(64))}`,
    `mac = ${flipHexDigit('mac', 1 + random(64))}`,
    `seq = ${seq}`,
  ]
  const change = changes[random(3)] as string
  await run(`update app.audit_head set ${change} where tenant_id = $1`)
  return { seqs: [target.size, seq] }
}

const removeHead: Tampering = async (run, _random, target) => {
  await run('delete from app.audit_head where tenant_id = $1')
  return { seqs: [target.size] }
}

const editCheckpoint: Tampering = async (run, random, { checkpoints }) => {
  const seq = checkpoints[random(checkpoints.length)] as number
  const changes = [`hash = ${flipHexDigit('hash', 1 + random(64))}`, `created_at = created_at - interval '1 second'`]
  changes.push(`signature = overlay(signature placing translate(substr(signature, 9, 1), 'Aa0', 'Bb1') || 'Z' from 9)`)
  await run(`update app.audit_checkpoint set ${changes[random(3)]} where tenant_id = $1 and seq = $2`, seq)
  return { seqs: [seq] }
}

const removeEvent: Tampering = async (run, random, target) => {
  const seq = pickSeq(random, target)
  await run(`delete from app.audit_event where tenant_id = $1 and event_id = ${event}`, seq)
  return { seqs: [seq] }
}

const removeLink: Tampering = async (run, random, target) => {
  const seq = pickSeq(random, target)
  await run('delete from app.audit_link where tenant_id = $1 and seq = $2', seq)
  return { seqs: [seq] }
}

function pickTwoSeqs(random: Random, target: ChainTarget): [number, number] {
  const one = pickSeq(random, target)
  return [one, 1 + ((one + random(target.size - 1)) % target.size)]
}

const swapLinks: Tampering = async (run, random, target) => {
  const [one, two] = pickTwoSeqs(random, target)
  const { rows } = await run(
    'select seq, event_id from app.audit_link where tenant_id = $1 and seq in ($2, $3)',
    one,
    two,
  )
  const idOf = (seq: number) => rows.find((row) => Number(row.seq) === seq)?.event_id as string
  const name = (seq: number, event_id: string) =>
    run('update app.audit_link set event_id = $3 where tenant_id = $1 and seq = $2', seq, event_id)
  await name(one, randomUUID())
  await name(two, idOf(one))
  await name(one, idOf(two))
  return { seqs: [one, two] }
}

/** Their contents change places; what each is called stays. */
const swapEvents: Tampering = async (run, random, target) => {
  const [one, two] = pickTwoSeqs(random, target)
  await run(
    `update app.audit_event e set (${content}) = (select ${content} from app.audit_event o
        where o.tenant_id = $1 and o.event_id in (select event_id from app.audit_link where tenant_id = $1 and seq in ($2, $3))
          and o.event_id <> e.event_id)
      where e.tenant_id = $1 and e.event_id in (select event_id from app.audit_link where tenant_id = $1 and seq in ($2, $3))`,
    one,
    two,
  )
  return { seqs: [one, two] }
}

/** A copy under another name, among the old ones or at the end. */
const insertForgedEvent: Tampering = async (run, random, target) => {
  const event_id = randomUUID()
  const txid = random(2) === 0 ? 'txid' : 'pg_current_xact_id()::text::bigint'
  await run(
    `insert into app.audit_event (tenant_id, event_id, txid, ${content})
     select tenant_id, $3, ${txid}, ${content} from app.audit_event where tenant_id = $1 and event_id = ${event}`,
    pickSeq(random, target),
    event_id,
  )
  return { seqs: [], event_ids: [event_id] }
}

/** A copy with a link of its own after the end, as if it had been sealed. */
const appendForgedLink: Tampering = async (run, random, target) => {
  const { event_ids = [] } = await insertForgedEvent(run, random, target)
  await run(
    `insert into app.audit_link (tenant_id, seq, event_id, prev_hash, hash)
     select tenant_id, $2::bigint + 1, $3, hash, prev_hash from app.audit_link where tenant_id = $1 and seq = $2`,
    target.size,
    event_ids[0],
  )
  return { seqs: [target.size + 1], event_ids }
}

const truncate: Tampering = async (run, random, target) => {
  const seq = 1 + random(target.size - 1)
  const depth = random(3)
  if (depth > 0) {
    await run(
      `delete from app.audit_event where tenant_id = $1
          and event_id in (select event_id from app.audit_link where tenant_id = $1 and seq > $2)`,
      seq,
    )
  }
  await run('delete from app.audit_link where tenant_id = $1 and seq > $2', seq)
  if (depth > 1) {
    await run(
      `update app.audit_head h set seq = l.seq, hash = l.hash from app.audit_link l
        where h.tenant_id = $1 and l.tenant_id = $1 and l.seq = $2`,
      seq,
    )
  }
  return { seqs: [seq, target.size] }
}

const tamperingsByKind: Readonly<Record<string, readonly Tampering[]>> = {
  edit: [editEvent, editEvent, renameEvent, editLink, editHead, editCheckpoint],
  delete: [removeEvent, removeLink, removeHead],
  swap: [swapLinks, swapEvents],
  insert: [insertForgedEvent, appendForgedLink],
  truncate: [truncate],
}
export const tamperingKinds = Object.keys(tamperingsByKind)

/** In whatever transaction the client is in; triggers and references must be off there. */
export async function tamperRandomly(
  client: pg.Client,
  random: Random,
  target: ChainTarget,
  kind: string,
): Promise<TamperedPlaces> {
  const tamperings = tamperingsByKind[kind] as readonly Tampering[]
  const run: RunSql = (text, ...values) => client.query(text, [target.tenant_id, ...values])
  return (tamperings[random(tamperings.length)] as Tampering)(run, random, target)
}
