/** A module as `src/app/modules.ts` lists it: routes, jobs and what other modules need to know of it. */
import type { Caches } from './cache/caches.ts'
import type { ConstraintProblems } from './database/failures.ts'
import type { Tx } from './database/tx.ts'
import type { PlainCopies } from './encryption/copies.ts'
import type { ValueEncryption } from './encryption/value-encryption.ts'
import type { ErasureClass } from './erasure/erasure-class.ts'
import type { Escalate } from './escalation.ts'
import type { EventType } from './events/event-type.ts'
import type { IntegrityKeys } from './integrity/keys.ts'
import type { JobKind } from './job/kind.ts'
import type { MetricDeclaration } from './module-metrics.ts'
import type { PluginPolicy } from './plugin-policy.ts'
import type { ReportTemplate } from './report-template.ts'
import type { ChangeReview } from './request/change-reviews.ts'
import type { PluginUser, Route } from './route.ts'
import type { ModuleSearch } from './search/source.ts'
import type { AnyStepKind } from './step-kind.ts'
import type { TenantScan } from './tenant-scan.ts'
import type { WorkKind } from './work-kind.ts'
import type { WorkerThreads } from './worker-threads.ts'

/** What other modules say of a kind of versioned definition; its row in app.definition_family has the same `family`. */
export interface VersionedKind {
  readonly family: string
  /** Name of the path parameter that holds the key. */
  readonly param: string
  /** Singular noun for texts. */
  readonly word: string
}

/** Something that cannot work without a plugin. */
export interface PluginDependent {
  readonly kind: PluginUser
  readonly key: string
  /** Null: all versions, or it has none. */
  readonly version: number | null
  readonly title: string
  /** Why it cannot use the version in force, although that can run; empty: it can. */
  readonly reasons: readonly { readonly code: string; readonly message: string }[]
}

/** Something in force that asks a provider. */
export interface ProviderDependent {
  readonly provider_key: string
  /** Family of the definition. */
  readonly kind: string
  readonly key: string
  readonly version: number
  readonly title: string
  /** False: what needs the provider is left out where it cannot be called. */
  readonly is_required: boolean
  /** Other providers that can be asked now instead. */
  readonly alternatives: readonly string[]
}

interface ProviderCapabilities {
  readonly caches: Caches
  readonly forced_provider_mode: 'recorded' | null
  readonly modules: readonly Module[]
}

interface PluginCapabilities {
  readonly caches: Caches
  readonly forced_provider_mode: 'recorded' | null
  readonly threads: WorkerThreads
  readonly plugin_policy: PluginPolicy
}

/** What an evidence item keeps of the object that it names. */
export interface EvidenceObject {
  /** 64 hexadecimal digits of the content as it is stored now, keyed or salted: nobody can find the content by trying. */
  readonly content_hash: string
  readonly source: string
  readonly obtained_at: string
  readonly restriction_id: string | null
}

/** A kind of object that an evidence item can name. */
export interface EvidenceKind {
  readonly kind: string
  /** Computes the hash again. Undefined where the caller cannot see such an object; fails with `erased` where its content is gone. */
  readonly resolve: (
    kernel: { readonly encryption: ValueEncryption; readonly integrity: IntegrityKeys },
    tx: Tx,
    object: { readonly object_id: string; readonly object_version: number | null },
  ) => Promise<EvidenceObject | undefined>
}

/** A kind of object that evidence can be attached to. */
export interface EvidenceOwner {
  readonly kind: string
  /** Undefined where the caller cannot see such an object. */
  readonly find: (tx: Tx, owner_id: string) => Promise<{ readonly restriction_id: string | null } | undefined>
  /** Called after evidence was attached to the object or detached from it. */
  readonly noteChange?: (tx: Tx, owner_id: string) => Promise<void>
}

/** A kind of object that a legal hold can name. */
export interface HoldableKind {
  /** `object_kind` of its holds. */
  readonly kind: string
  /** Undefined where the caller cannot see such an object. */
  readonly find: (tx: Tx, object_id: string) => Promise<{ readonly restriction_id: string | null } | undefined>
  /**
   * Tables with rows that belong to an object of this kind and that can be deleted, each with the argument of `app.refuse_held_delete`
   * that leads to the id of the object.
   */
  readonly rows: Readonly<Record<string, string>>
}

export interface Module {
  readonly name: string
  /** First URL segments of its routes; the OpenAPI tag is the module's name. */
  readonly segments: readonly string[]
  readonly tier: 'foundation' | 'domain' | 'views'
  readonly summary: string
  readonly routes: readonly Route[]
  /** Endpoints of other protocols, declared with `protocolRoute`. */
  readonly protocols?: readonly Route[]
  readonly jobs: readonly JobKind[]
  /** What workers look for over all tenants, every few seconds. */
  readonly scans?: readonly TenantScan[]
  readonly constraints?: ConstraintProblems
  readonly metrics?: readonly MetricDeclaration[]
  /** Kinds of versioned definitions that it serves. */
  readonly definition_kinds?: readonly VersionedKind[]
  /** Types of events that it writes into the outbox. */
  readonly events?: readonly EventType[]
  /** Kinds of objects that people work on. */
  readonly work?: readonly WorkKind[]
  /**
   * Inserts one row into each table of this module, for the tenant of `tx`. The canary tenant gets these rows, so that isolation
   * can be verified on real data; the isolation tests use it too.
   */
  readonly canary: (tx: Tx) => Promise<void>
  /** A table that has a row once `canary` ran; absent where the module has no table. */
  readonly canary_table?: string
  /** Personal content that earlier releases stored plain; a job encrypts it, and so does an erasure before it destroys the key. */
  readonly plain_copies?: readonly PlainCopies[]
  /** Reviews of changes that other modules make, by the name that module gives them. */
  readonly reviews?: Readonly<Record<string, ChangeReview>>
  /** Governed actions whose impact this module measures; a policy may require that before they are approved. */
  readonly measures?: readonly string[]
  /** Keys of the providers that the tenant can call now. */
  readonly listReadyProviders?: (
    kernel: { readonly caches: Caches; readonly forced_provider_mode: 'recorded' | null },
    tx: Tx,
  ) => Promise<readonly string[]>
  /** Why the tenant must not be deleted now, as sentences for the operator. */
  readonly listDeletionObstacles?: (tx: Tx) => Promise<readonly string[]>
  /** Keys of the plugins that are in force and can run now. */
  readonly listRunnablePlugins?: (kernel: PluginCapabilities, tx: Tx) => Promise<readonly string[]>
  /** What of this module, as it is in force, runs the plugin. */
  readonly plugin_dependents?: (
    kernel: PluginCapabilities,
    tx: Tx,
    plugin_key: string,
  ) => Promise<readonly PluginDependent[]>
  /** What of this module, as it is in force, asks one of the providers. */
  readonly provider_dependents?: (
    kernel: ProviderCapabilities,
    tx: Tx,
    provider_keys: readonly string[],
  ) => Promise<readonly ProviderDependent[]>
  /** Opens the case that an escalated alert needs; one module at most. */
  readonly escalates?: Escalate
  readonly evidence_kinds?: readonly EvidenceKind[]
  readonly evidence_owners?: readonly EvidenceOwner[]
  /** The kinds of object of this module that a legal hold can name. */
  readonly holdable?: readonly HoldableKind[]
  /** Kinds of steps that a playbook may have. */
  readonly step_kinds?: readonly AnyStepKind[]
  /** The kinds of report that can be made of what this module holds. */
  readonly report_templates?: readonly ReportTemplate[]
  /** What an erasure of a subject overwrites or removes of this module. */
  readonly erases?: readonly ErasureClass[]
  /** The kinds of object that search finds; required of a module that reads objects by id. */
  readonly search?: ModuleSearch
}
