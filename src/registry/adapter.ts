/**
 * The interface of adapters. An adapter streams an external source in bounded memory and yields entries with their locations.
 * It knows one layout of one format and nothing of tenants, versions or databases. Whatever it guesses, it reports.
 */
import type { TSchema } from 'typebox'

/** Where in the source an entry or a fault was found, as a person would look for it. */
export interface SourceLocation {
  /** The nth record of the source, from 1. */
  readonly row: number
  /** Line of a text file, from 1, where the record begins. */
  readonly line?: number
  /** Header or number of the column a fault concerns. */
  readonly column?: string
  readonly sheet?: string
  /** Member of an archive. */
  readonly file?: string
  /** JSON pointer or element path of the record. */
  readonly path?: string
}

export type Entry = Record<string, unknown>

export interface ReadEntry {
  readonly entry: Entry
  readonly at: SourceLocation
}

/** A record that cannot become an entry. `message` is a sentence a compliance officer understands. */
export interface Reject {
  readonly code: string
  /** The member of the entry concerned, '' for the whole record. */
  readonly pointer: string
  readonly at: SourceLocation
  readonly message: string
  /** The offending text, shortened. */
  readonly excerpt: string | null
}

/** A remark about the source as a whole. It rejects nothing. */
export interface Warning {
  readonly code: string
  readonly message: string
  readonly at?: SourceLocation
  /** How many rows it concerns. */
  readonly count?: number
  /** The source is most likely incomplete: the import is blocked by a guard until somebody overrides it. */
  readonly closes_guard?: true
}

/** A file the source consists of, or should. */
export interface SourceFile {
  /** Its name in the archive; null for a source that is one file. */
  readonly file: string | null
  readonly state: 'read' | 'unread' | 'absent'
  /** Of an absent file: what the list lacks without it, in words. */
  readonly holds?: string
  readonly encoding?: string
  readonly encoding_from?: string
}

/** What was read since the last batch. Batches are small (a few hundred entries), so that memory stays flat. */
export interface Batch {
  readonly entries: readonly ReadEntry[]
  readonly rejects: readonly Reject[]
  readonly warnings: readonly Warning[]
  readonly files: readonly SourceFile[]
  /** A record may have several entries: records are counted by their places. */
  readonly several_per_row?: boolean
}

/** The source itself is broken (truncated, another format, wrong encoding): no version may be made of it. */
export class SourceFault extends Error {
  readonly code: string
  readonly at: SourceLocation | undefined
  constructor(code: string, message: string, at?: SourceLocation) {
    super(message)
    this.name = 'SourceFault'
    this.code = code
    this.at = at
  }
}

export type Source = AsyncIterable<Uint8Array>

/** What an adapter with a mapping needs to know of the import: the key of entries, and which rows remove one. */
export interface EntryContext {
  readonly key_pointers: readonly string[]
  readonly removal: { readonly pointer: string; readonly values: readonly string[] } | null
}

export interface Adapter {
  readonly key: string
  /** Increased when the same bytes would give other entries; recorded in provenance. */
  readonly version: number
  readonly title: string
  readonly description: string
  /** Who publishes this layout; null for the generic ones. */
  readonly publisher: string | null
  readonly media_types: readonly string[]
  readonly file_extensions: readonly string[]
  /** Closed JSON Schema of the options; every option has a default or is optional. */
  readonly options: TSchema
  /** Faults of options that fit the schema but contradict each other: JSON pointers into them, and why. */
  readonly checkOptions?: (options: object) => readonly { readonly pointer: string; readonly detail: string }[]
  /** type_key of the seeded type its entries fit, or null when the caller's type decides. */
  readonly target_type: string | null
  /** A small source in the adapter's own format, that reads without reject. Binary ones are base64. */
  readonly sample: {
    readonly encoding: 'utf8' | 'base64'
    readonly text: string
    /** Options the sample needs. */
    readonly options?: Record<string, unknown>
  }
  /**
   * Throws SourceFault for a broken source. Reads `source` to its end unless the consumer stops. `file_name` is the original name
   * of the file, null when it is unknown.
   */
  read(
    source: Source,
    options: Record<string, unknown>,
    file_name?: string | null,
    context?: EntryContext,
  ): AsyncGenerator<Batch, void, undefined>
}
