/** The request that starts an import, and the one that repeats an import and overrides its guards. */
import type { RequestBody, Schemas } from '@probity/client'

type Import = Schemas['Import']

export type ImportRequest = RequestBody<'post', '/api/reference-data/imports'>
/** The file holds changes to this version only. */
export type Delta = NonNullable<ImportRequest['delta']>

/** Null when the file is no longer stored. */
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

/** The import a job was started for: the last segment of its resource. */
export const getImportId = ({ resource }: Pick<Schemas['Job'], 'resource'>): string => resource?.split('/').at(-1) ?? ''
