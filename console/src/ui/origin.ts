/**
 * The owner of a list, matrix or rule. A tenant may have its own under the key of a shared one, so addresses name the
 * owner.
 */
import { useFilter } from './filters.tsx'

const origins = ['own', 'shared'] as const
export type Origin = (typeof origins)[number]

export interface OwnedVersion {
  readonly version: number
  readonly origin: Origin
}

/** The owner from the page address; undefined: the one in force, else the tenant, else shared. */
export const useOrigin = (): Origin | undefined => useFilter('origin', origins)

export const toOriginParams = (origin: Origin | undefined) => (origin === undefined ? {} : { origin })

/** The owner of a version, from how it was resolved. */
export const getOrigin = (via: string): Origin => (via === 'tenant-own' ? 'own' : 'shared')

/** The parameters of a difference, for requests and page addresses. */
export const toDiffParams = (from: OwnedVersion, to: OwnedVersion) => ({
  from: from.version,
  to: to.version,
  origin: to.origin,
  ...(from.origin !== to.origin && { from_origin: from.origin }),
})

export const isSameVersion = (one: OwnedVersion, other: OwnedVersion): boolean =>
  one.version === other.version && one.origin === other.origin

/** Names the owner only if the two versions have different owners. */
export const formatVersion = (of: OwnedVersion, beside: OwnedVersion): string =>
  of.origin === beside.origin ? `version ${of.version}` : `version ${of.version} (${of.origin})`
