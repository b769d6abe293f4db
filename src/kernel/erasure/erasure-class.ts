/** What a module does when a subject is erased. */
import type { Tx } from '../database/tx.ts'

export interface ErasedSubject {
  readonly subject_id: string
  /** Texts that identify the subject, in lower case: its id, and every name and external id that it had. */
  readonly marks: readonly string[]
}

/** Rows that may hold something about a subject and stay readable until it is erased. Encrypted copies need none: their key goes. */
export interface ErasureClass {
  /** Name of the step; part of previews and certificates. */
  readonly name: string
  readonly title: string
  /** The record of the list `retention-clocks` that it is; null: no law says how long it is kept. */
  readonly record: string | null
  readonly count: (tx: Tx, subject: ErasedSubject) => Promise<number>
  /** Overwrites or removes them, and returns how many there were. Runs in a transaction of its own, once. */
  readonly erase: (tx: Tx, subject: ErasedSubject) => Promise<number>
}
