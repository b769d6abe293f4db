/**
 * A kind of definition that is written as one JSON document: matrices and rules, and whatever is drafted, published and put in
 * force like them. A kind declares itself in its own module and gets the routes of this one; its family is a row of
 * app.definition_family.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { DatasetRow } from '../datasets/queries.ts'
import type { VersionPointer } from '../resolve/queries.ts'

export type DefinitionText = Readonly<Record<string, unknown>>

/** The entries a document is stored as, so that two versions are compared part by part. */
export type DocumentEntry = Readonly<Record<string, unknown>>

export interface Finding {
  readonly code: string
  /** JSON Pointer into the document; empty for the whole. */
  readonly pointer: string
  readonly message: string
  readonly severity: 'error' | 'warning'
  readonly example?: Readonly<Record<string, unknown>>
}

/** A place in the document that reads a list. */
export interface ListReference {
  readonly list_key: string
  readonly pointer: string
  readonly key: string | null
  readonly field: string | null
}

/** What is known of a document once it was checked against the lists in force. */
export interface Validation {
  readonly findings: readonly Finding[]
  /** Lists that the version reads, kept with it. */
  readonly list_keys: readonly string[]
  /** What the version was checked against, kept with it as its proof. */
  readonly proof: Readonly<Record<string, unknown>>
}

/** operationIds, spelled out in the folder of the kind's router so that each is found by searching for it. */
export interface DefinitionOperations {
  readonly list: string
  readonly create: string
  readonly get: string
  readonly update: string
  readonly archive: string
  readonly listDependencies: string
  readonly listVersions: string
  readonly createDraft: string
  readonly getVersion: string
  readonly updateDraft: string
  readonly deleteDraft: string
  readonly publishDraft: string
  readonly diffVersions: string
  readonly listActivations: string
  readonly activateVersion: string
  readonly submitVersion: string
  readonly rollBack: string
  readonly pin: string
  readonly unpin: string
  readonly deleteActivation: string
}

export interface DefinitionKind {
  readonly family: string
  /** First segment of its paths. */
  readonly segment: string
  /** The path parameter, and the member of replies that names the definition. */
  readonly param: string
  /** Prefix of the titles of its schemas. */
  readonly noun: string
  /** One of them, in a sentence. */
  readonly word: string
  /** The shared type that its entries are validated against. */
  readonly type_key: string
  readonly example: string
  /** Words that stand in paths where a key would. */
  readonly reserved: readonly string[]
  /** Whether it is tagged with subject types, products and typologies. */
  readonly has_profile: boolean
  readonly operations: DefinitionOperations
  toEntries(text: DefinitionText): readonly DocumentEntry[]
  fromEntries(entries: readonly DocumentEntry[]): DefinitionText
  validate(
    kernel: Capabilities<'caches' | 'threads'>,
    tx: Tx,
    written: { dataset: DatasetRow; text: DefinitionText },
  ): Promise<Validation>
  /** Lists that the document reads, as they are in force, and where it reads them. */
  findReferences(
    tx: Tx,
    text: DefinitionText,
  ): Promise<{ readonly lists: ReadonlyMap<string, VersionPointer>; readonly references: readonly ListReference[] }>
  /** What no longer holds of the version in force. */
  checkInForce(kernel: Capabilities<'caches' | 'threads'>, tx: Tx, key: string): Promise<readonly Finding[]>
  /** The document in plain sentences. */
  describe(text: DefinitionText): string[]
}

export const getDefinitionKey = (kind: DefinitionKind, params: unknown): string =>
  (params as Record<string, string>)[kind.param] as string
