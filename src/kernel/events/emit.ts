/** Writes an event into the outbox, in the transaction of the change that it reports. */
import type { Tx } from '../database/tx.ts'
import { uuidv7 } from '../uuid.ts'
import type { EventType } from './event-type.ts'
import { insertEvent } from './queries.ts'

/**
 * Nothing is written for an object with a restriction in force; an event of an object that is restricted later is hidden with it.
 * The transaction must be recorded in the audit record, as every request and every finished job is: the chain writer numbers events when
 * it chains that record.
 */
export const emit = <E extends EventType>(
  tx: Tx,
  { type, object_kind }: E,
  event: {
    readonly object_id: string
    /** Of the object; null where it has none. */
    readonly restriction_id: string | null
    /** Of what the object names, where that is another one. */
    readonly also_restriction_id?: string | null
    readonly data: { readonly [K in keyof E['data']]: string | number | boolean | null }
  },
): Promise<number> => insertEvent(tx, { event_id: uuidv7(), type, object_kind, ...event })
