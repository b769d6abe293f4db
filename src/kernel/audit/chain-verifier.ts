/**
 * Recomputes a tenant's whole chain and lists every fault with its position. The same verification runs on the database (with
 * the keys) and on an exported file (with the public key only).
 */
import {
  type AuditEvent,
  type AuditKeys,
  type Checkpoint,
  GENESIS_HASH,
  hashEvent,
  hashLink,
  serializeEvent,
} from './chain.ts'
import type { ChainRow, EventRow, HeadRow } from './queries.ts'

export interface ChainFault {
  readonly seq: number | null
  readonly event_id: string | null
  readonly fault:
    | 'link_missing'
    | 'link_altered'
    | 'event_missing'
    | 'event_altered'
    | 'event_not_authentic'
    | 'event_planted'
    | 'chain_truncated'
    | 'head_altered'
    | 'checkpoint_altered'
    | 'checkpoint_contradicted'
  readonly detail: string
}

export interface ChainVerification {
  readonly intact: boolean
  readonly events: number
  readonly head_seq: number
  readonly head_hash: string
  readonly checkpoints: number
  readonly unsealed: number
  readonly faults: ChainFault[]
  /** More faults than are listed. */
  readonly faults_total: number
}

/** A link with its event; from a file, the event and its id may be withheld. */
export interface VerifiedLink extends Pick<ChainRow, 'seq' | 'prev_hash' | 'hash' | 'event_hash'> {
  readonly event_id: string | null
  readonly event: (AuditEvent & { readonly mac?: string }) | null
  readonly is_withheld?: boolean
}

const MAX_FAULTS = 1000

export class ChainVerifier {
  readonly #faults: ChainFault[] = []
  readonly #keys: AuditKeys | null
  readonly #checkpointHashes = new Map<number, string>()
  #faultsTotal = 0
  #seq = 0
  #hash = GENESIS_HASH
  #events = 0
  #unsealed = 0
  #withheld = 0

  /**
   * Checkpoints are loaded first and compared while the chain is read. Without keys, authentication codes and signatures are not
   * checked.
   */
  constructor(
    keys: AuditKeys | null,
    checkpoints: readonly Checkpoint[],
    start: { readonly seq: number; readonly hash: string } = { seq: 0, hash: GENESIS_HASH },
  ) {
    this.#keys = keys
    this.#seq = start.seq
    this.#hash = start.hash
    for (const checkpoint of checkpoints) {
      if (keys?.verifyCheckpoint(checkpoint) === false) {
        const detail = `checkpoint ${checkpoint.seq} is not signed by a key of this service`
        this.#addFault(checkpoint.seq, null, 'checkpoint_altered', detail)
      }
      this.#checkpointHashes.set(checkpoint.seq, checkpoint.hash)
    }
  }

  get seq(): number {
    return this.#seq
  }

  /** Links whose event the file does not contain. */
  get withheld(): number {
    return this.#withheld
  }

  checkLink(row: VerifiedLink): void {
    for (let missing = this.#seq + 1; missing < row.seq; missing++) {
      this.#addFault(missing, null, 'link_missing', `link ${missing} is missing`)
    }
    const gap = row.seq !== this.#seq + 1
    if (!gap && row.prev_hash !== this.#hash)
      this.#addFault(row.seq, row.event_id, 'link_altered', 'it does not follow its predecessor')
    this.#checkEvent(row)
    this.#checkCheckpoint(row.seq, row.hash)
    this.#seq = row.seq
    this.#hash = row.hash
    this.#events++
  }

  #checkEvent(row: VerifiedLink): void {
    const { seq, event, event_id, event_hash } = row
    if (!event && event_hash !== null && row.is_withheld) {
      this.#withheld++
      if (hashLink(row.prev_hash, seq, event_hash) !== row.hash)
        this.#addFault(seq, event_id, 'link_altered', 'hash of the withheld event and link do not fit each other')
      return
    }
    if (!event) {
      this.#addFault(seq, event_id, 'event_missing', 'the event of this link is gone')
      return
    }
    const text = serializeEvent(event)
    if (this.#keys && event.mac !== undefined && !this.#keys.verifyEventMac(event, event.mac, text)) {
      this.#addFault(seq, event_id, 'event_not_authentic', 'the event was not written by this service in this form')
    }
    // Hashed with the link's own predecessor, so that one altered link does not make all later ones fail.
    const hash = hashEvent(event, text)
    if (hashLink(row.prev_hash, seq, hash) !== row.hash) {
      this.#addFault(seq, event_id, 'event_altered', 'event and link do not fit each other')
    } else if (event_hash !== null && event_hash !== hash) {
      this.#addFault(seq, event_id, 'link_altered', 'the link states another hash of its event')
    }
  }

  #checkCheckpoint(seq: number, hash: string): void {
    const stated = this.#checkpointHashes.get(seq)
    if (stated !== undefined && stated !== hash)
      this.#addFault(seq, null, 'checkpoint_contradicted', 'a signed checkpoint states another hash here')
    this.#checkpointHashes.delete(seq)
  }

  /**
   * Events without a link. Those at or before a position of the same cluster should have one; a position of another cluster does
   * not tell.
   */
  checkUnlinkedEvent(
    event: EventRow,
    checkHead: Pick<HeadRow, 'last_txid' | 'last_event_id' | 'in_this_cluster'> | undefined,
  ): void {
    const authentic = !this.#keys || this.#keys.verifyEventMac(event, event.mac)
    const isBeforeHead =
      checkHead?.in_this_cluster === true &&
      (event.txid < checkHead.last_txid ||
        (event.txid === checkHead.last_txid && event.event_id <= checkHead.last_event_id))
    if (!authentic)
      this.#addFault(
        null,
        event.event_id,
        'event_not_authentic',
        'an unsealed event was not written by this service in this form',
      )
    else if (isBeforeHead)
      this.#addFault(null, event.event_id, 'event_planted', 'it lies before the sealed end, yet no link names it')
    else this.#unsealed++
  }

  head(tenant_id: string, head: { seq: number; hash: string; mac: string } | undefined): void {
    if (!head) {
      if (this.#seq > 0) this.#addFault(this.#seq, null, 'head_altered', 'the record of where the chain ends is gone')
      return
    }
    if (this.#keys?.verifyHeadMac(tenant_id, head, head.mac) === false)
      this.#addFault(head.seq, null, 'head_altered', 'the record of where the chain ends was altered')
    if (head.seq > this.#seq) this.#addFault(this.#seq, null, 'chain_truncated', `the chain should end at ${head.seq}`)
    else if (head.seq < this.#seq || head.hash !== this.#hash)
      this.#addFault(head.seq, null, 'head_altered', 'the chain ends elsewhere')
  }

  finish(checkpoints: number): ChainVerification {
    for (const [seq] of this.#checkpointHashes) {
      this.#addFault(seq, null, 'chain_truncated', `a signed checkpoint states that link ${seq} existed`)
    }
    return {
      intact: this.#faultsTotal === 0,
      events: this.#events,
      head_seq: this.#seq,
      head_hash: this.#hash,
      checkpoints,
      unsealed: this.#unsealed,
      faults: this.#faults,
      faults_total: this.#faultsTotal,
    }
  }

  #addFault(seq: number | null, event_id: string | null, fault: ChainFault['fault'], detail: string): void {
    this.#faultsTotal++
    if (this.#faults.length < MAX_FAULTS) this.#faults.push({ seq, event_id, fault, detail })
  }
}
