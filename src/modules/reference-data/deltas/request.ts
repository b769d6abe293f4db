/** A delta as an import states it, with everything said. */
import type { Static } from '../../../kernel/schema.ts'
import type { RemovalMarkerOptions } from '../../../registry/import/removal-marker.ts'
import type { DeltaBody } from './schema.ts'

export interface DeltaRequest {
  readonly base_version: number
  readonly removed: { readonly marker: RemovalMarkerOptions | null; readonly keys: readonly string[] }
}

export const toDeltaRequest = ({ base_version, removed = {} }: Static<typeof DeltaBody>): DeltaRequest => ({
  base_version,
  removed: { marker: removed.marker ?? null, keys: removed.keys ?? [] },
})
