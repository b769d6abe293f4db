/** Whether a credential can be used, by which version, and otherwise why not. */
import type { CredentialRow, CredentialVersionRow } from './queries.ts'
import type { GapReason } from './schema.ts'

export type CredentialStatus =
  | { readonly gap: null; readonly version: number }
  | { readonly gap: GapReason; readonly version: null }

const missing = (gap: GapReason): CredentialStatus => ({ gap, version: null })

const hasMembers = (version: CredentialVersionRow, required: readonly string[]): boolean =>
  required.every((name) => version.members.includes(name))

/**
 * The active version counts; where it cannot be used, a retired one within its overlap takes its place. `required` are the
 * members that the provider declares now, which may be more than it declared when the version was stored.
 */
export function getCredentialStatus(
  credential: Pick<CredentialRow, 'state'>,
  versions: readonly CredentialVersionRow[],
  required: readonly string[],
): CredentialStatus {
  if (credential.state === 'destroyed') return missing('absent')
  if (credential.state === 'disabled') return missing('disabled')
  const newestFirst = versions.toSorted((a, b) => b.version - a.version)
  const active = newestFirst.find(({ state }) => state === 'active')
  if (!active) return missing(versions.some(({ state }) => state === 'staged') ? 'staged_only' : 'absent')
  const candidates = [active, ...newestFirst.filter(({ is_in_overlap }) => is_in_overlap)]
  const usable = candidates.find(
    (version) => version.rejected_at === null && !version.is_expired && hasMembers(version, required),
  )
  if (usable) return { gap: null, version: usable.version }
  if (!hasMembers(active, required)) return missing('incomplete')
  return missing(active.is_expired ? 'expired' : 'rejected')
}

/** Of several credentials of a provider, the one whose state says most: an enabled one, else any. */
export const selectCredential = <C extends Pick<CredentialRow, 'state'>>(credentials: readonly C[]): C | undefined =>
  credentials.find(({ state }) => state === 'enabled') ?? credentials.find(({ state }) => state === 'disabled')
