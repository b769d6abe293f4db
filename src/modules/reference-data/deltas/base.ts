/** Checks that a delta may be applied to its base: the newest version, not withdrawn, with entries in the current form. */
import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { type datasetStore, typeStore, versionStore } from '#modules/definitions/index.ts'
import { compareTypes } from '#registry/types/compatibility.ts'

export interface BaseRequest {
  readonly base_version: number
  /** Members that the import drops and hashes; null where they are not known yet. */
  readonly privacy: { readonly drop: readonly string[]; readonly hash: readonly string[] } | null
}

/** Fails with 409 and the current number. Under the lock of the list the result is valid until the transaction ends. */
export async function assertDeltaBase(
  tx: Tx,
  dataset: datasetStore.DatasetRow,
  type: typeStore.TypeRow,
  { base_version, privacy }: BaseRequest,
): Promise<versionStore.VersionRow> {
  const { head_version, list_key } = dataset
  if (base_version !== head_version) failNotNewest(dataset, base_version)
  const base = (await versionStore.findVersion(tx, dataset, base_version)) ?? fail('internal')
  if (base.state === 'withdrawn') {
    fail('base_withdrawn', {
      detail: `Version ${base_version} of ${list_key} is withdrawn, and what is built on it would keep what was wrong with it.`,
      members: { head_version },
    })
  }
  const difference =
    (await describeTypeDifference(tx, base, type)) ?? (privacy && describePrivacyDifference(base, privacy))
  if (difference !== null) {
    fail('base_incompatible', {
      detail: `${difference} Entries that the delta does not name would differ from those it does: import the full file once.`,
      members: { head_version },
    })
  }
  return base
}

function failNotNewest({ head_version, list_key }: datasetStore.DatasetRow, base_version: number): never {
  const present =
    head_version === 0 ? `${list_key} has no version yet` : `The newest version of ${list_key} is ${head_version}`
  const why =
    base_version > head_version
      ? `there is no version ${base_version}`
      : `a delta against version ${base_version} was applied already, or another version came after it`
  return fail('base_not_newest', { detail: `${present}; ${why}.`, members: { head_version, base_version } })
}

/** Describes why the base's entries might be invalid for the type or stored in another form; null when they fit. */
async function describeTypeDifference(
  tx: Tx,
  base: versionStore.VersionRow,
  type: typeStore.TypeRow,
): Promise<string | null> {
  const is_same = base.type_tenant_id === type.tenant_id && base.type_key === type.type_key
  if (is_same && base.type_version === type.type_version) return null
  const written = `Version ${base.version} was written by version ${base.type_version} of the type ${base.type_key}, and the type`
  const old = await typeStore.findTypeVersion(tx, base.type_tenant_id, base.type_key, base.type_version)
  if (!old) return `${written} cannot be compared.`
  const [before, now] = [typeStore.toTypeDefinition(old), typeStore.toTypeDefinition(type)]
  const { verdict } = compareTypes(before, now)
  const is_compatible = (verdict === 'compatible' || verdict === 'review') && isDeepStrictEqual(before.trim, now.trim)
  return is_compatible ? null : `${written} has changed since (version ${type.type_version}).`
}

/** Describes which members are dropped or hashed in the base but not in the import, or the reverse; null when equal. */
function describePrivacyDifference(
  { version, provenance }: versionStore.VersionRow,
  { drop, hash }: NonNullable<BaseRequest['privacy']>,
): string | null {
  const toSorted = (members: unknown): string[] => (Array.isArray(members) ? members.map(String).sort() : [])
  for (const [name, before, now] of [
    ['dropped', toSorted(provenance['dropped_members']), toSorted(drop)],
    ['hashed', toSorted(provenance['hashed_members']), toSorted(hash)],
  ] as const) {
    if (isDeepStrictEqual(before, now)) continue
    const format = (members: readonly string[]) => (members.length === 0 ? 'none' : members.join(', '))
    return `Members ${name} in version ${version}: ${format(before)}; in this import: ${format(now)}.`
  }
  return null
}
