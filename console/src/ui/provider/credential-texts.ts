/** What the activation of a credential version leads to, in words. Pure. */
import type { Schemas } from '@probity/client'
import { formatDateTime } from '../date-format.ts'
import { formatCount } from '../format.ts'

type Version = Pick<Schemas['CredentialVersion'], 'version' | 'last_verified_at' | 'rejected_at'>
type TestOutcome = Schemas['ProviderTest']['outcome']

export interface Verification {
  readonly isVerified: boolean
  readonly text: string
}

/** Whether the provider has accepted the version. `lastOutcome` is that of a verification made just now. */
export function describeVerification(version: Version, lastOutcome: TestOutcome | null = null): Verification {
  const name = `Version ${version.version}`
  if (version.rejected_at !== null)
    return {
      isVerified: false,
      text: `The provider rejected ${name.toLowerCase()} on ${formatDateTime(version.rejected_at)}.`,
    }
  if (lastOutcome !== null && lastOutcome !== 'answered' && lastOutcome !== 'quarantined')
    return { isVerified: false, text: `The last verification of ${name.toLowerCase()} failed.` }
  if (version.last_verified_at === null)
    return { isVerified: false, text: `${name} was not verified: the provider may refuse it.` }
  return { isVerified: true, text: `${name} was verified on ${formatDateTime(version.last_verified_at)}.` }
}

const units: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
]

/** `86400` → `1 day`. */
export function formatSeconds(seconds: number): string {
  const [size, name] = units.find(([unit]) => seconds >= unit && seconds % unit === 0) ?? [1, 'second']
  return formatCount(seconds / size, name)
}

/** What becomes of the version that was active before. */
export const describeOverlap = (overlap_s: number): string =>
  overlap_s === 0
    ? 'ends at once'
    : `stays usable for ${formatSeconds(overlap_s)}, where the provider rejects the new version`
