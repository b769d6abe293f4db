/** What other modules see of a plugin. */
import type { Capabilities } from '#kernel/kernel.ts'
import type { resolver } from '#modules/definitions/index.ts'
import type { PluginManifest } from '#plugin/manifest.ts'
import type { Difference } from '#plugin/reasons.ts'
import type { PluginKind } from '#sandbox/model.ts'

export const PLUGIN_FAMILY = 'plugin'

/** Needed to bind a plugin. */
export type BindCapabilities = Capabilities<'caches' | 'threads' | 'plugin_policy'>
/** Needed to run a bound plugin. */
export type RunCapabilities = Capabilities<'caches' | 'threads' | 'metrics'>

/** Why a version cannot run. */
export interface PluginReason {
  readonly code: string
  readonly message: string
  /** JSON Pointer into the manifest. */
  readonly pointer?: string
  /** Line of the entry file. */
  readonly line?: number
  /** How the output of an example differs from the expected one. */
  readonly differences?: readonly Difference[]
}

export interface WantedPlugin {
  readonly plugin_key: string
  readonly kind: PluginKind
  /** A version of the tenant's own, or of the shared one where it has none; absent: the one in force. */
  readonly version?: number
  /** Exactly this version, whatever is in force. */
  readonly pointer?: resolver.ContentPointer
  readonly valid_at?: string
}

/** A version of a plugin that may run, with everything that its result depends on. */
export interface BoundPlugin {
  readonly plugin_key: string
  readonly via: 'tenant-own' | 'tenant-pin' | 'shared'
  readonly version: number
  /** Identifies the stored version, for receipts. */
  readonly pointer: resolver.ContentPointer
  /** Of manifest and source. */
  readonly content_hash: string
  /** With the defaults of the manifest; the hash is that of what was configured. */
  readonly configuration: Readonly<Record<string, unknown>>
  readonly configuration_hash: string
  readonly sandbox_hash: string
  readonly manifest: PluginManifest
  /** The entry file. */
  readonly source: string
}

/** What a receipt stores of a plugin. */
export interface PluginPin {
  readonly pointer: resolver.ContentPointer
  readonly configuration_hash: string
  readonly sandbox_hash: string
}

/** What a plugin was run for. */
export interface InvocationCause {
  readonly kind: 'evaluation' | 'batch' | 'impact' | 'import' | 'preview' | 'provider_call'
  readonly id: string | null
}
