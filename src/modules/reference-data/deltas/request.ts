/** The delta of an import request with defaults filled in. */
import type { Static } from '#kernel/schema.ts'
import type { RemovalMarkerOptions } from '#registry/import/removal-marker.ts'
import { normaliseStatedKey } from '#registry/types/text-rules.ts'
import type { DeltaBody } from './schema.ts'

export interface DeltaRequest {
  readonly base_version: number
  readonly removed: { readonly marker: RemovalMarkerOptions | null; readonly keys: readonly string[] }
}

/** Normalised like entry keys, without duplicates. */
export const normaliseStatedKeys = (
  { removed }: DeltaRequest,
  { key_pointers }: { readonly key_pointers: readonly string[] },
): string[] => [...new Set(removed.keys.map((key) => normaliseStatedKey(key, key_pointers.length)))]

export const toDeltaRequest = ({ base_version, removed = {} }: Static<typeof DeltaBody>): DeltaRequest => ({
  base_version,
  removed: { marker: removed.marker ?? null, keys: removed.keys ?? [] },
})
