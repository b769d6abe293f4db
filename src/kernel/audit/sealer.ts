/**
 * Chains events per tenant within about a second of their commit. Any number of workers may run it: an advisory lock lets
 * one of them seal a tenant at a time, and only events of transactions that can no longer be overtaken are sealed.
 */
import type { Scope, Tx } from '../database/tx.ts'
import type { Transactions } from '../kernel.ts'
import type { Log } from '../log.ts'
import { SYSTEM_TENANT } from '../uuid.ts'
import { type AuditKeys, type ChainEnd, eventHash, GENESIS, linkHash } from './chain.ts'
import {
  countEventsSince,
  findHead,
  findHorizon,
  findNewestCheckpoint,
  findSnapshot,
  insertCheckpoint,
  insertLinks,
  type LinkRow,
  listAllTenantsWithEvents,
  listTenantsWithEvents,
  listUnsealed,
  tryLockSealing,
  upsertHead,
} from './queries.ts'

const BATCH = 2000
const EVERY_MS = 500
const CHECKPOINT_EVERY_MS = 60_000
/** Enough for eight minutes of a transaction that does not end; beyond it the age is only known more coarsely. */
const MAX_MARKS = 1000
const QUEUE_SCOPE: Scope = { tenant_id: SYSTEM_TENANT, actor: 'job:seal' }
const NOTHING_YET = { seq: 0, hash: GENESIS, last_txid: 0, last_event_id: SYSTEM_TENANT }

export const nowText = (): string => `${new Date().toISOString().slice(0, -1)}000Z`

/** Seals one batch of one tenant. Returns how many events it chained, BATCH where there may be more, null where another worker is at it. */
export async function sealTenant(tx: Tx, keys: AuditKeys): Promise<number | null> {
  if (!(await tryLockSealing(tx))) return null
  const head = (await findHead(tx)) ?? NOTHING_YET
  // Read before the events: what is below it is final, and the next statement sees all of it.
  const horizon = await findHorizon(tx)
  const events = await listUnsealed(tx, head, horizon, BATCH)
  const last = events.at(-1)
  if (!last) return 0
  const links: LinkRow[] = []
  let end: ChainEnd = head
  for (const event of events) {
    const seq = end.seq + 1
    const hash = linkHash(end.hash, seq, eventHash(event))
    links.push({ seq, event_id: event.event_id, prev_hash: end.hash, hash })
    end = { seq, hash }
  }
  await insertLinks(tx, links)
  await upsertHead(tx, {
    ...end,
    last_txid: last.txid,
    last_event_id: last.event_id,
    mac: keys.headMac(tx.tenant_id, end),
  })
  await checkpointWhenDue(tx, keys, end)
  return events.length
}

async function checkpointWhenDue(tx: Tx, keys: AuditKeys, end: ChainEnd): Promise<void> {
  const newest = await findNewestCheckpoint(tx)
  if (newest && Date.now() - Date.parse(newest.created_at) < CHECKPOINT_EVERY_MS) return
  await insertCheckpoint(tx, keys.signCheckpoint(tx.tenant_id, end, nowText()))
}

export class AuditSealer {
  readonly #transactions: Pick<Transactions, 'write'>
  readonly #queue: Pick<Transactions, 'read'>
  readonly #keys: AuditKeys
  readonly #log: Log
  /** Everything below it has been looked at by this process; undefined until the first look over all tenants. */
  #seen: number | undefined
  /** Instants, each with the number the next transaction had: once sealing has passed it, all that was begun before is sealed. */
  #marks: { readonly at_ms: number; readonly next_txid: number }[] = []
  #sealedUntil_ms = performance.now()
  #timer: NodeJS.Timeout | undefined
  #pass: Promise<void> = Promise.resolve()
  #stopping = false

  constructor(options: {
    transactions: Pick<Transactions, 'write'>
    queue: Pick<Transactions, 'read'>
    keys: AuditKeys
    log: Log
  }) {
    this.#transactions = options.transactions
    this.#queue = options.queue
    this.#keys = options.keys
    this.#log = options.log
  }

  start(): void {
    const next = () => {
      this.#pass = this.pass().catch((error) => {
        this.#log.warn({ err: error }, 'sealing failed; trying again')
      })
      void this.#pass.then(() => {
        if (!this.#stopping) this.#timer = setTimeout(next, EVERY_MS)
      })
    }
    next()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#timer)
    await this.#pass
  }

  /** One look at all tenants with something new. A tenant that fails is tried again at the next look. */
  async pass(): Promise<void> {
    const seen = this.#seen
    const at_ms = performance.now()
    const { horizon, next_txid, tenants } = await this.#queue.read(QUEUE_SCOPE, async (tx) => ({
      ...(await findSnapshot(tx)),
      tenants: seen === undefined ? await listAllTenantsWithEvents(tx) : await listTenantsWithEvents(tx, seen),
    }))
    let complete = true
    for (const { tenant_id } of tenants) {
      try {
        const seal = () =>
          this.#transactions.write({ tenant_id, actor: 'job:seal' }, (tx) => sealTenant(tx, this.#keys))
        let sealed = await seal()
        while (sealed === BATCH) sealed = await seal()
        // Whoever is at it may not get to its end: this process looks again until it has seen for itself.
        if (sealed === null) complete = false
      } catch (error) {
        complete = false
        this.#log.warn({ err: error, tenant_id }, 'a tenant could not be sealed')
      }
    }
    if (this.#marks.length < MAX_MARKS) this.#marks.push({ at_ms, next_txid })
    if (complete) this.#passed(horizon)
  }

  /** What is not chained yet, as far as this process knows; null before its first look. */
  async tail(): Promise<{ events: number; age_s: number } | null> {
    const seen = this.#seen
    if (seen === undefined) return null
    const events = await this.#queue.read(QUEUE_SCOPE, (tx) => countEventsSince(tx, seen))
    return { events, age_s: events === 0 ? 0 : (performance.now() - this.#sealedUntil_ms) / 1000 }
  }

  #passed(horizon: number): void {
    this.#seen = horizon
    const isPassed = ({ next_txid }: { next_txid: number }) => next_txid <= horizon
    this.#sealedUntil_ms = this.#marks.findLast(isPassed)?.at_ms ?? this.#sealedUntil_ms
    this.#marks = this.#marks.filter((mark) => !isPassed(mark))
  }
}
