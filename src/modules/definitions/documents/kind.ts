/**
 * A kind of definition that is one JSON document, such as matrices and rules. A kind declares itself in its own module and
 * gets the routes of this one; its family is a row of app.definition_family.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { ToolMark } from '#kernel/route.ts'
import type { TSchema } from '#kernel/schema.ts'
import type { Origin } from '../datasets/origin.ts'
import type { DatasetRow } from '../datasets/queries.ts'
import type { VersionPointer } from '../resolve/queries.ts'
import type { Gate } from '../versions/guards.ts'

export type DefinitionText = Readonly<Record<string, unknown>>

/** One stored part of a document. Versions are compared part by part. */
export type DocumentEntry = Readonly<Record<string, unknown>>

export interface Finding {
  readonly code: string
  /** JSON Pointer into the document; empty for the whole. */
  readonly pointer: string
  readonly message: string
  readonly severity: 'error' | 'warning'
  readonly example?: Readonly<Record<string, unknown>>
}

/** A JSON Pointer at which the document reads a list. */
export interface ListReference {
  readonly list_key: string
  readonly pointer: string
  readonly key: string | null
  readonly field: string | null
}

/** The result of checking a document against the lists in force. */
export interface Validation {
  readonly findings: readonly Finding[]
  /** Lists that the version reads, stored with it. */
  readonly list_keys: readonly string[]
  /** What the version was checked against, stored with it as its proof. */
  readonly proof: Readonly<Record<string, unknown>>
}

/** operationIds, spelled out in the folder of the kind's router so that a text search finds them. */
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

/** What the optional hooks of a kind may use. */
export type HookCapabilities = Capabilities<'caches' | 'threads' | 'encryption' | 'transactions'>

/** What validating a document may use: a matrix runs the plugins that it names, a playbook has kinds of steps that modules declare. */
export const validationCapabilities = [
  'caches',
  'forced_provider_mode',
  'metrics',
  'modules',
  'plugin_policy',
  'threads',
] as const
export type ValidationCapabilities = Capabilities<(typeof validationCapabilities)[number]>

/** Gates that a version passes before it comes into force, with members of the request that open them. */
export interface ActivationHook {
  readonly members: Readonly<Record<string, TSchema>>
  findGates(
    kernel: HookCapabilities,
    tx: Tx,
    request: { readonly key: string; readonly version: number; readonly body: Readonly<Record<string, unknown>> },
  ): Promise<readonly Gate[]>
}

/** What the difference of two versions says beside their parts. */
export interface DifferenceHook {
  readonly members: Readonly<Record<string, TSchema>>
  compare(
    kernel: HookCapabilities,
    tx: Tx,
    versions: {
      readonly dataset: DatasetRow
      readonly from: number
      /** Owner of the version `from`, which may be another than that of the dataset. */
      readonly from_origin: Origin
      readonly to: number
    },
  ): Promise<Readonly<Record<string, unknown>>>
}

export interface DefinitionKind {
  readonly family: string
  /** First segment of the paths of its routes. */
  readonly segment: string
  /** Name of the path parameter and of the reply member that hold the key. */
  readonly param: string
  /** Prefix of the titles of its schemas. */
  readonly noun: string
  /** Singular noun for texts. */
  readonly word: string
  /** Key of the shared type that validates its entries. */
  readonly type_key: string
  readonly example: string
  /** Path segments that cannot be keys. */
  readonly reserved: readonly string[]
  /** Whether it has subject types, products and typologies as tags. */
  readonly has_profile: boolean
  /** Its document has a title too: a new one takes that which it is created with. */
  readonly has_title?: true
  /** Whether ratings depend on it, so that the effect of another version can be measured before it is approved. */
  readonly has_impact: boolean
  readonly operations: DefinitionOperations
  /** Operations that are offered as tools. */
  readonly tools?: { readonly get: ToolMark }
  toEntries(text: DefinitionText): readonly DocumentEntry[]
  fromEntries(entries: readonly DocumentEntry[]): DefinitionText
  validate(
    kernel: ValidationCapabilities,
    tx: Tx,
    written: { dataset: DatasetRow; text: DefinitionText },
  ): Promise<Validation>
  /** Lists in force that the document reads, and where it reads them. */
  findReferences(
    tx: Tx,
    text: DefinitionText,
  ): Promise<{ readonly lists: ReadonlyMap<string, VersionPointer>; readonly references: readonly ListReference[] }>
  /** Findings on the version in force. */
  checkInForce(kernel: ValidationCapabilities, tx: Tx, key: string): Promise<readonly Finding[]>
  /** The document as plain sentences. */
  describe(text: DefinitionText): string[]
  readonly activation?: ActivationHook
  /** Stores what belongs to a version that was just published, in the same transaction. */
  afterPublish?(
    tx: Tx,
    version: { readonly dataset_id: string; readonly version: number },
    text: DefinitionText,
  ): Promise<void>
  readonly difference?: DifferenceHook
}

/** The name of the member with the key depends on the kind, so its parameters have no type of their own. */
export const readVersionParams = (params: unknown): { readonly version: string } => params as { version: string }

/** A reply whose key has a name that depends on the kind: the compiler cannot compare it with its schema. Tests do. */
export const toKindReply = (reply: Readonly<Record<string, unknown>>): never => reply as never

/** Capabilities of a route with a hook; a kind without one names none of them. */
export const listHookCapabilities = (
  hook: ActivationHook | DifferenceHook | undefined,
): readonly (keyof HookCapabilities)[] => (hook ? ['caches', 'threads', 'encryption', 'transactions'] : [])

export const getDefinitionKey = (kind: DefinitionKind, params: unknown): string =>
  (params as Record<string, string>)[kind.param] as string
