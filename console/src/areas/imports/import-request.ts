/** What an import was ordered with, and the order for the same again against its guards. */
import type { Schemas } from '@probity/client'

type Import = Schemas['Import']

/** The file holds changes to this version only. */
export interface Delta {
  readonly base_version: number
  readonly removed?: {
    readonly marker?: { readonly pointer: string; readonly values: readonly string[] }
    readonly keys?: readonly string[]
  }
}

export interface ImportRequest {
  readonly list_key: string
  readonly upload_id: string
  readonly adapter_key: string
  readonly options?: Readonly<Record<string, unknown>>
  readonly strict: boolean
  readonly drop?: readonly string[]
  readonly hash?: readonly string[]
  readonly on_unchanged: 'publish' | 'skip'
  readonly expected_head?: number
  readonly label?: string
  readonly note?: string
  readonly override_guards?: { readonly reason: string }
  readonly delta?: Delta
}

/** Null when its file is gone. */
export function buildOverrideRequest(
  { list_key, upload_id, adapter_key, order }: Import,
  reason: string,
): ImportRequest | null {
  if (upload_id === null || order === null) return null
  const { options, strict, drop, hash, label, note, expected_head, on_unchanged, delta } = order
  return {
    list_key,
    upload_id,
    adapter_key,
    options,
    strict,
    drop,
    hash,
    on_unchanged,
    ...(expected_head !== null && { expected_head }),
    ...(label !== null && { label }),
    ...(note !== null && { note }),
    override_guards: { reason },
    ...(delta && { delta: buildDelta(delta) }),
  }
}

const buildDelta = ({ base_version, removed: { marker, keys } }: Schemas['DeltaOrder']): Delta => ({
  base_version,
  removed: { ...(marker && { marker }), ...(keys.length > 0 && { keys }) },
})

/** The import a job was started for: the last part of the address it concerns. */
export const getImportId = ({ resource }: Pick<Schemas['Job'], 'resource'>): string => resource?.split('/').at(-1) ?? ''
