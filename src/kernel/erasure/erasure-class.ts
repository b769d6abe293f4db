/** What a module does when a subject is erased. */
import type { Tx } from '../database/tx.ts'

/** A row that mentions the subject by a name it shares, named by the person who requests the erasure. */
export interface NamedRow {
  readonly class: string
  readonly id: string
}

export interface ErasedSubject {
  readonly subject_id: string
  /** Names and external ids, folded, that no other subject has and that no text contains by chance. */
  readonly sure: readonly string[]
  /** Those that no other subject has, however short. */
  readonly own: readonly string[]
  /** All that it had. */
  readonly marks: readonly string[]
  readonly also: readonly NamedRow[]
}

/** To which restrictions rows belong: to one or none, and to those that hide them too. */
interface Restricted {
  readonly restriction_id: string | null
  readonly other_restriction_ids?: readonly string[]
}

export interface FoundRows extends Restricted {
  /** They belong to the subject, or name its id. */
  readonly by_id: number
  /** They belong to no subject and have a mark that only this one has. */
  readonly by_mark: number
  /** Only a person can say whether they are about the subject. */
  readonly left_for_review: number
  /** Rows that concern the subject and are kept: by a legal hold, by an open investigation, or because neither decider sees their restriction. */
  readonly kept_by_hold: number
  /** They belong to the subject and are kept by a legal hold: nothing can be erased. */
  readonly held_by_id: number
  /** They belong to the subject and are an investigation that is not ended: nothing can be erased either. */
  readonly open_by_id: number
  /** Ids of those left for review, some of them if there are many. */
  readonly review: readonly string[]
  /** Ids of those that are found because the request names them. */
  readonly named: readonly string[]
}

export interface ErasedRows extends Restricted {
  readonly count: number
}

/** Records in the audit record that one object was erased, apart from the event of the erasure. */
export type RecordErased = (object: {
  readonly object_type: string
  readonly object_id: string
  readonly restriction_id: string | null
}) => void

/** Rows that may hold something about a subject and stay readable until it is erased. Encrypted copies need none: their key goes. */
export interface ErasureClass {
  /** Name of the step; part of previews and certificates. */
  readonly name: string
  readonly title: string
  /** The record of the list `retention-clocks` that it is; null: no law says how long it is kept. */
  readonly record: string | null
  /** What it overwrites or removes, as `table.column`; `table.*`: whole rows. */
  readonly columns: readonly string[]
  readonly find: (tx: Tx, subject: ErasedSubject) => Promise<readonly FoundRows[]>
  /** Of these ids, those by which the caller may see a row. */
  readonly findVisible: (tx: Tx, ids: readonly string[]) => Promise<readonly string[]>
  /** Overwrites or removes them, and returns how many there were. Runs in a transaction of its own, once. */
  readonly erase: (tx: Tx, subject: ErasedSubject, record: RecordErased) => Promise<readonly ErasedRows[]>
}
