/**
 * The model of source contracts: what a provider's payload must look like, which facts are read from it, and what the check of one
 * payload gives. Contracts refer to lists by key; list versions are bound when a payload is judged.
 */
import type { Input } from '#decision/model.ts'
import { toPlace } from './places.ts'

/** What happens to members that the record's schema does not declare. */
export type UnknownMembers = 'note' | 'refuse' | 'drop'

/** A typed value that engines may read. It has the types of matrix inputs, so that a fact feeds an input without conversion. */
export interface Fact extends Omit<Input, 'title' | 'default'> {
  readonly title?: string
  /** JSON Pointer into a record; `*` is any element of an array, for facts of type list. */
  readonly at: string
  /** A record without it is refused. */
  readonly required?: boolean
  readonly personal?: boolean
}

/** All conditions hold, or the payload is quarantined or noted. Skipped for a record that lacks a tested fact. */
export interface ContractCheck {
  readonly key: string
  readonly title?: string
  /** A unary test of decision tables, or a sign and the name of another fact. */
  readonly when: readonly { readonly of: string; readonly test: string }[]
  readonly else: 'quarantine' | 'note'
}

export interface PersonalMember {
  /** JSON Pointer into a record; everything below it is personal too. */
  readonly at: string
  /** Proposed by inference and not confirmed yet. */
  readonly guessed?: boolean
}

/** JSON Pointers into the whole payload. */
export interface Provenance {
  readonly source?: string
  readonly as_of?: string
  readonly required?: readonly ('source' | 'as_of')[]
}

export interface ContractExample {
  readonly payload: unknown
  /** When it arrived, for freshness; without it freshness is not checked. */
  readonly received_at?: string
}
export interface CounterExample extends ContractExample {
  /** JSON Pointers at which the payload must be refused. */
  readonly violates: readonly string[]
}

export interface Contract {
  /** The capability of providers whose answers it describes. */
  readonly capability?: string
  /** JSON Schema 2020-12 of one record, within the limits of dataset types. */
  readonly record: Readonly<Record<string, unknown>>
  /** JSON Pointer to the array of records; empty: the payload is one record; `/*` first: an array in each page. */
  readonly records_at: string
  readonly max_records?: number
  readonly max_bytes?: number
  readonly unknown_members?: UnknownMembers
  /** Good records of a payload with bad ones are admitted; without it one bad record quarantines the payload. */
  readonly partial?: 'record'
  readonly facts: readonly Fact[]
  readonly personal?: readonly PersonalMember[]
  readonly provenance?: Provenance
  readonly freshness?: { readonly max_age_s: number; readonly measured_from: 'as_of' }
  readonly checks?: readonly ContractCheck[]
  readonly examples: readonly ContractExample[]
  readonly counter_examples?: readonly CounterExample[]
}

export const DEFAULT_MAX_RECORDS = 500
export const DEFAULT_MAX_BYTES = 2 * 1024 * 1024

/** Where a payload breaks its contract. It never holds a value, which may be personal. */
export interface Violation {
  readonly code: string
  /** Into the record when `record_index` is set, otherwise into the payload. */
  readonly pointer: string
  /** The keyword of JSON Schema, or the part of the contract that refuses it. */
  readonly keyword: string
  /** What the contract demands there. */
  readonly expected: string
  readonly record_index: number | null
}

/** Something to know about an admitted payload. */
export interface Note {
  readonly code: string
  readonly pointer: string
  readonly record_index: number | null
}

export interface FactRecord {
  readonly record_index: number
  readonly facts: Readonly<Record<string, unknown>>
}

export type AdmissionResult = 'admitted' | 'admitted_with_notes' | 'quarantined'

export interface Admission {
  readonly result: AdmissionResult
  /** Some records were refused although the payload is admitted. */
  readonly incomplete: boolean
  /** At most 100. */
  readonly violations: readonly Violation[]
  /** How many violations are not listed. */
  readonly more: number
  readonly notes: readonly Note[]
  readonly record_count: number
  /** Of the admitted records; empty when the payload is quarantined. */
  readonly facts: readonly FactRecord[]
  readonly provenance: { readonly source: string | null; readonly as_of: string | null }
}

export const MAX_VIOLATIONS = 100
export const MAX_NOTES = 100

/** Collects violations up to the limit and counts the rest. */
export class ViolationList {
  readonly list: Violation[] = []
  more = 0

  constructor(list: readonly Violation[] = [], more = 0) {
    this.list.push(...list)
    this.more = more
  }

  get count(): number {
    return this.list.length + this.more
  }

  add(violation: Violation): void {
    if (this.list.length < MAX_VIOLATIONS) this.list.push({ ...violation, pointer: toPlace(violation.pointer) })
    else this.more++
  }
}
