/**
 * Chains events per tenant within about a second of their commit. Any number of workers may run it: one of them scans at a time,
 * an advisory lock lets one of them chain a tenant, and only events of transactions that can no longer be overtaken are chained.
 * No state is kept between scans, so a failover, a restore or a restart leaves no event out.
 */
import { fullScope } from '../database/scope.ts'
import type { Scope, Transactions, Tx } from '../database/tx.ts'
import { NUMBERED_AT_ONCE, numberEvents } from '../events/queries.ts'
import type { Log } from '../log.ts'
import { getUuidTime_ms, SYSTEM_TENANT } from '../uuid.ts'
import { type AuditKeys, type ChainEnd, GENESIS_HASH, hashEvent, hashLink } from './chain.ts'
import {
  type ChainPosition,
  type EventRow,
  findHead,
  findHorizon,
  findNewestCheckpoint,
  findUnchainedEvents,
  insertCheckpoint,
  insertLinks,
  type LinkRow,
  listEventsAfter,
  listTenantsToChain,
  listUnchainedById,
  tryLockChain,
  tryLockScan,
  upsertHead,
} from './queries.ts'

const BATCH = 2000
export const SCAN_EVERY_MS = 500
const CHECKPOINT_EVERY_MS = 60_000
const QUEUE_SCOPE: Scope = fullScope(SYSTEM_TENANT, 'job:audit-chain')
const FIRST_ID = SYSTEM_TENANT
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
/** A tenant without a chain may have come from another cluster with events whose numbers mean nothing here. */
const EMPTY_HEAD = { seq: 0, hash: GENESIS_HASH, last_txid: 0, last_event_id: FIRST_ID, in_this_cluster: false }

export const formatNow = (): string => `${new Date().toISOString().slice(0, -1)}000Z`

/** Position in the comparison of all events with all links. */
export interface CatchUp {
  readonly after_event_id: string
  /** The horizon when the comparison began: every event below it was visible. */
  readonly horizon: number
}

export interface ChainedBatch {
  readonly chained: number
  /** There may be more: call again, with `catch_up` if it is given. */
  readonly more: boolean
  readonly catch_up?: CatchUp
}

/** Chains one batch of one tenant, and numbers its outbox; null when another worker holds its lock. */
export async function chainTenantEvents(tx: Tx, keys: AuditKeys, catch_up?: CatchUp): Promise<ChainedBatch | null> {
  if (!(await tryLockChain(tx))) return null
  // Read before the events: what is below it is final, and the next statement sees all of it.
  const horizon = await findHorizon(tx)
  const numbered = await numberEvents(tx, horizon)
  const batch = await chainBatch(tx, keys, horizon, catch_up)
  return { ...batch, more: batch.more || numbered === NUMBERED_AT_ONCE }
}

async function chainBatch(tx: Tx, keys: AuditKeys, horizon: number, catch_up?: CatchUp): Promise<ChainedBatch> {
  const head = (await findHead(tx)) ?? EMPTY_HEAD
  if (!head.in_this_cluster)
    return chainUnlinkedEvents(tx, keys, head, catch_up ?? { after_event_id: FIRST_ID, horizon })
  const events = await listEventsAfter(tx, head, horizon, BATCH)
  const last = events.at(-1)
  if (!last) return { chained: 0, more: false }
  const unchained = events.filter(({ is_chained }) => !is_chained)
  await appendLinks(tx, keys, head, {
    events: unchained,
    position: { last_txid: last.txid, last_event_id: last.event_id },
  })
  return { chained: unchained.length, more: events.length === BATCH }
}

/**
 * Used after a move to another cluster and after the upgrade that introduced positions: transaction numbers do not tell what is
 * chained, so every event without a link is chained. At the end the position is the horizon of the beginning.
 */
async function chainUnlinkedEvents(tx: Tx, keys: AuditKeys, head: ChainEnd, from: CatchUp): Promise<ChainedBatch> {
  await tx.disableTimeout()
  const events = await listUnchainedById(tx, from.after_event_id, from.horizon, BATCH)
  const last = events.at(-1)
  const more = events.length === BATCH
  if (head.seq === 0 && !last) return { chained: 0, more: false }
  await appendLinks(tx, keys, head, {
    events,
    position: more ? null : { last_txid: from.horizon - 1, last_event_id: LAST_ID },
  })
  if (!more || !last) return { chained: events.length, more: false }
  return { chained: events.length, more, catch_up: { after_event_id: last.event_id, horizon: from.horizon } }
}

async function appendLinks(
  tx: Tx,
  keys: AuditKeys,
  head: ChainEnd,
  { events, position }: { readonly events: readonly EventRow[]; readonly position: ChainPosition | null },
): Promise<void> {
  const links: LinkRow[] = []
  let end: ChainEnd = { seq: head.seq, hash: head.hash }
  for (const event of events) {
    const seq = end.seq + 1
    const event_hash = hashEvent(event)
    const hash = hashLink(end.hash, seq, event_hash)
    const { event_id, restriction_id } = event
    links.push({ seq, event_id, prev_hash: end.hash, hash, event_hash: restriction_id === null ? null : event_hash })
    end = { seq, hash }
  }
  if (links.length > 0) await insertLinks(tx, links)
  await upsertHead(tx, { ...end, mac: keys.computeHeadMac(tx.tenant_id, end) }, position)
  if (links.length > 0) await writeDueCheckpoint(tx, keys, end)
}

async function writeDueCheckpoint(tx: Tx, keys: AuditKeys, end: ChainEnd): Promise<void> {
  const newest = await findNewestCheckpoint(tx)
  if (newest && Date.now() - Date.parse(newest.created_at) < CHECKPOINT_EVERY_MS) return
  await insertCheckpoint(tx, keys.signCheckpoint(tx.tenant_id, end, formatNow()))
}

export class AuditChainWriter {
  readonly #transactions: Pick<Transactions, 'write'>
  readonly #queue: Pick<Transactions, 'read'>
  readonly #keys: AuditKeys
  readonly #log: Log
  readonly #isTurn: () => boolean
  #timer: NodeJS.Timeout | undefined
  #currentRun: Promise<unknown> = Promise.resolve()
  #stopping = false

  constructor(options: {
    transactions: Pick<Transactions, 'write'>
    queue: Pick<Transactions, 'read'>
    keys: AuditKeys
    log: Log
    /** Whether this process should scan now; several processes take turns. */
    isTurn?: () => boolean
  }) {
    this.#transactions = options.transactions
    this.#queue = options.queue
    this.#keys = options.keys
    this.#log = options.log
    this.#isTurn = options.isTurn ?? (() => true)
  }

  start(): void {
    const next = () => {
      this.#currentRun = (this.#isTurn() ? this.runOnce() : Promise.resolve()).catch((error) => {
        this.#log.warn({ err: error }, 'failed to scan for unchained audit events; retrying')
      })
      void this.#currentRun.then(() => {
        if (!this.#stopping) this.#timer = setTimeout(next, SCAN_EVERY_MS)
      })
    }
    next()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#timer)
    await this.#currentRun
  }

  /** One scan, and a transaction for each tenant with something to chain. False where another process is scanning. */
  async runOnce(): Promise<boolean> {
    const tenants = await this.#queue.read(QUEUE_SCOPE, async (tx) =>
      (await tryLockScan(tx)) ? listTenantsToChain(tx) : null,
    )
    for (const { tenant_id } of tenants ?? []) {
      try {
        await this.#chainTenant(tenant_id)
      } catch (error) {
        this.#log.warn({ err: error, tenant_id }, 'failed to chain audit events of tenant')
      }
    }
    return tenants !== null
  }

  async #chainTenant(tenant_id: string): Promise<void> {
    const chainBatch = (catch_up?: CatchUp) =>
      this.#transactions.write(fullScope(tenant_id, 'job:audit-chain'), (tx) =>
        chainTenantEvents(tx, this.#keys, catch_up),
      )
    let batch = await chainBatch()
    while (batch?.more && !this.#stopping) batch = await chainBatch(batch.catch_up)
  }

  /** Number and age of the events of all tenants that are recorded and not chained yet. */
  async findBacklog(): Promise<{ events: number; age_s: number }> {
    const { events, oldest_event_id, moved_since } = await this.#queue.read(QUEUE_SCOPE, findUnchainedEvents)
    const since_ms = Math.min(
      oldest_event_id === null ? Number.POSITIVE_INFINITY : getUuidTime_ms(oldest_event_id),
      moved_since === null ? Number.POSITIVE_INFINITY : Date.parse(moved_since),
    )
    return { events, age_s: Number.isFinite(since_ms) ? Math.max(0, (Date.now() - since_ms) / 1000) : 0 }
  }
}
