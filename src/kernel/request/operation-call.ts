/** An operation that is called for another protocol: its inputs, where it came from, and what became of it. */
import type { Tx } from '../database/tx.ts'
import type { RequestMetadata } from '../route.ts'

/** The parts of a request, before validation. */
export interface CallInputs {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

export interface CallOutcome {
  readonly event_id: string
  /** The code of the problem, or null where the call succeeded. */
  readonly problem: string | null
  readonly value: unknown
  /** Of the object that the operation works on. */
  readonly restriction_id: string | null
}

export interface CallOrigin {
  readonly via: 'mcp'
  readonly request: RequestMetadata
  readonly idempotency_key?: string | undefined
  /** Members of the audit event. Without them the call leaves no event of its own, like a read by HTTP. */
  readonly recorded?: {
    readonly detail: Readonly<Record<string, unknown>>
    /** In place of members that name what may not exist, where the call is refused. */
    readonly refused?: Readonly<Record<string, unknown>>
    /** Of what the call is known to be about; that of the object replaces it where the operation finds one. */
    readonly restriction_id?: string | null
    /** Runs in the transaction of the event; may only `defer`. */
    onEvent(tx: Tx, outcome: CallOutcome): void
  }
}
