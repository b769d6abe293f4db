/** Input and output of an import: messages between the process that runs it and the thread that reads the source. */

import type { ReadEntry, Reject, SourceFile, Warning } from '../adapter.ts'
import type { PluginAdapterCode } from '../adapters/plugin-adapter.ts'
import type { Detection, DetectionRequest } from '../detection/detection.ts'
import type { MemberCounts } from '../types/array-members.ts'
import type { TypeDefinition } from '../types/type-definition.ts'
import type { RemovalMarkerOptions } from './removal-marker.ts'

export interface ImportRequest {
  readonly adapter_key: string
  /** The code of an adapter that a plugin implements. */
  readonly plugin?: PluginAdapterCode
  /** The original name of the file. */
  readonly file_name?: string | null
  readonly options: Record<string, unknown>
  readonly type: TypeDefinition
  /** Whether a bad row prevents the version; otherwise bad rows are left out and counted. */
  readonly strict: boolean
  /** Members removed before anything else is done with an entry. */
  readonly drop: readonly string[]
  /** Members replaced by a keyed hash of their text. */
  readonly hash: readonly string[]
  readonly hash_key: Uint8Array | null
  /** Members whose values are counted. */
  readonly filled: readonly string[]
  /** The source holds changes only, so that rules over the whole list are not checked here. */
  readonly delta?: { readonly marker: RemovalMarkerOptions | null }
  /** A preview: return the first entries instead of rows to store. */
  readonly preview?: number
  /** Where a preview stops reading. */
  readonly preview_limits?: ReadLimits
}

/** What the thread does: an import or preview with one adapter, or finding the adapter. */
export type ThreadTask = ImportRequest | { readonly detect: DetectionRequest }

export interface ReadLimits {
  readonly max_rows: number
  readonly time_limit_ms: number
}
/** Why reading ended before the source did. */
export type CutReason = 'rows' | 'time'

export interface RejectTotal {
  readonly code: string
  readonly pointer: string
  readonly count: number
}

export interface ImportTotals {
  readonly rows: number
  /** Also counts rows of a delta that remove an entry. */
  readonly accepted: number
  readonly rejected: number
  readonly data_bytes: number
  readonly reject_totals: readonly RejectTotal[]
  readonly filled: Readonly<Record<string, number>>
  readonly warnings: readonly Warning[]
  /** Warnings that the source is most likely incomplete. */
  readonly doubts: readonly Warning[]
  readonly files: readonly SourceFile[]
  /** Fuel of each chunk that a plugin adapter read. */
  readonly plugin_fuel?: readonly number[]
  /** Values of members that hold several, by pointer. */
  readonly members: MemberCounts
  /** The rows are in key order, so that they need no sort. */
  readonly is_ordered: boolean
  /** Null when the source was read to its end. */
  readonly cut: CutReason | null
  /** The content hash, or null when rows were rejected, keys repeat, or an entry is both changed and removed. */
  readonly root: string | null
  /** The nodes of its tree that are stored; null with the root. */
  readonly nodes: Uint8Array | null
}

export type ImportOutput =
  /** Rows in the binary format of COPY (copy-rows.ts). The memory is theirs alone. */
  | { readonly kind: 'rows'; readonly bytes: Uint8Array<ArrayBuffer>; readonly rows: number }
  | { readonly kind: 'rejects'; readonly items: readonly Reject[]; readonly rows: number }
  /** The keys of a previewed delta with the hashes of their entries; null: removed. */
  | { readonly kind: 'keys'; readonly keys: readonly (readonly [string, string | null])[]; readonly rows: number }
  | { readonly kind: 'preview'; readonly entries: readonly ReadEntry[]; readonly rows: number }
  | { readonly kind: 'end'; readonly totals: ImportTotals }
  /** The only output of a detection. */
  | { readonly kind: 'detection'; readonly detection: Detection }
  /** After the end: the pairs of the tree as rows (block, pairs) in the binary format of COPY, to store a base. */
  | { readonly kind: 'tree'; readonly bytes: Uint8Array<ArrayBuffer> }
