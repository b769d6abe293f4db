/** What a detection is asked and what it returns. */
import type { Reject } from '../adapter.ts'
import type { TypeDefinition } from '../types/type-definition.ts'

export interface DetectedColumn {
  readonly column: string
  /** The member of the entry; null when the column is not read. */
  readonly pointer: string | null
}

export interface DetectionRequest {
  readonly file_name: string | null
  /** Types that general adapters may be used with. */
  readonly types: readonly TypeDefinition[]
  /** Only candidates for this type. */
  readonly type_key: string | null
  /** How the last import of the list was read. */
  readonly previous?: { readonly adapter_key: string; readonly options: Record<string, unknown> } | null
}

export interface Candidate {
  readonly adapter_key: string
  readonly title: string
  /** Null when no existing type fits: then `inferred_type` is set. */
  readonly type_key: string | null
  readonly options: Record<string, unknown>
  readonly rows: number
  readonly accepted: number
  readonly rejected: number
  readonly first_reject: Reject | null
  readonly reason: string
  /** What the user should know before choosing it. */
  readonly notes: readonly string[]
  readonly columns: readonly DetectedColumn[]
  readonly inferred_type: Omit<TypeDefinition, 'type_version'> | null
}

export interface Detection {
  readonly looks_like: string
  readonly advice: string | null
  readonly is_whole: boolean
  readonly candidates: readonly Candidate[]
}
