/**
 * What an adapter is: it reads an external source as it comes, in bounded memory, and gives entries with the place each came
 * from. It knows one layout of one format and nothing of tenants, versions or databases; it never guesses silently.
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

/** Something worth saying about the source as a whole; it does not refuse anything by itself. */
export interface Warning {
  readonly code: string
  readonly message: string
  readonly at?: SourceLocation
  /** How many rows it concerns. */
  readonly count?: number
  /** The source is most likely incomplete: a guard closes unless somebody overrides it. */
  readonly closes_guard?: true
}

/** A file the source consists of, or should. */
export interface SourceFile {
  /** Its name in the archive; null for a source that is one file. */
  readonly file: string | null
  readonly state: 'read' | 'unread' | 'absent'
  readonly encoding?: string
  readonly encoding_from?: string
}

/** What was read since the last batch. Batches are small (a few hundred entries), so that memory stays flat. */
export interface Batch {
  readonly entries: readonly ReadEntry[]
  readonly rejects: readonly Reject[]
  readonly warnings: readonly Warning[]
  readonly files: readonly SourceFile[]
}

/** The source itself is broken (half a file, not the format, wrong encoding): nothing of it may become a version. */
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

/** What an adapter with a mapping must know of the import: how entries are told apart, and which rows remove one. */
export interface EntryContext {
  readonly key_pointers: readonly string[]
  readonly removal: { readonly pointer: string; readonly values: readonly string[] } | null
}

export interface Adapter {
  readonly key: string
  /** Rises when the same bytes would give other entries; recorded in provenance. */
  readonly version: number
  readonly title: string
  readonly description: string
  /** Who publishes this layout; null for the generic ones. */
  readonly publisher: string | null
  readonly media_types: readonly string[]
  readonly file_extensions: readonly string[]
  /** Closed JSON Schema of the options; every option has a default or is optional. */
  readonly options: TSchema
  /** What is wrong with options that fit the schema but contradict each other: JSON pointers into them, and why. */
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
   * Throws SourceFault for a broken source. Reads `source` to its end unless the consumer stops. `file_name` is what the file was
   * called where it came from, null where nobody knows.
   */
  read(
    source: Source,
    options: Record<string, unknown>,
    file_name?: string | null,
    context?: EntryContext,
  ): AsyncGenerator<Batch, void, undefined>
}
