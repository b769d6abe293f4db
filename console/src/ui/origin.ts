/** Whose a list, matrix or rule is. A tenant may have its own under the key of a shared one, so addresses say which is meant. */
import { useFilter } from './filters.tsx'

const origins = ['own', 'shared'] as const
export type Origin = (typeof origins)[number]

export interface OwnedVersion {
  readonly version: number
  readonly origin: Origin
}

/** As the address says it; undefined: the one in force, else the own one, else the shared one. */
export const useOrigin = (): Origin | undefined => useFilter('origin', origins)

export const toOriginParams = (origin: Origin | undefined) => (origin === undefined ? {} : { origin })

/** What a resolution says of the way to a version also says whose it is. */
export const getOrigin = (via: string): Origin => (via === 'tenant-own' ? 'own' : 'shared')

/** The parameters of a difference, for a request and for the address of a page alike. */
export const toDiffParams = (from: OwnedVersion, to: OwnedVersion) => ({
  from: from.version,
  to: to.version,
  origin: to.origin,
  ...(from.origin !== to.origin && { from_origin: from.origin }),
})

export const isSameVersion = (one: OwnedVersion, other: OwnedVersion): boolean =>
  one.version === other.version && one.origin === other.origin

/** The owner is only named where two of them meet. */
export const formatVersion = (of: OwnedVersion, beside: OwnedVersion): string =>
  of.origin === beside.origin ? `version ${of.version}` : `version ${of.version} (${of.origin})`
