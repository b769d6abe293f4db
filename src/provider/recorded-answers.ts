/** Answers that a manifest holds for tests and demonstrations: responses, and faults in the words of egress. */
import { type EgressFault, egressFaults } from '#kernel/egress/faults.ts'
import type { ProviderResponse } from './classify-response.ts'
import type { HttpManifest, ProviderInput } from './manifest.ts'

export type FixtureAnswer =
  | { readonly kind: 'response'; readonly response: ProviderResponse }
  | { readonly kind: 'fault'; readonly fault: EgressFault; readonly sent: boolean }

/** Faults that arise before anything is sent. */
const unsentFaults = new Set<EgressFault>([
  'egress_refused',
  'overloaded',
  'dns_failed',
  'connect_failed',
  'connect_timeout',
  'proxy_failed',
  'tls_invalid',
])

export const isEgressFault = (word: string): word is EgressFault => Object.hasOwn(egressFaults, word)

/** The first fixture of the capability whose members all equal those of the input; null where there is none. */
export function findFixture(
  manifest: Pick<HttpManifest, 'fixtures'>,
  capability_name: string,
  input: ProviderInput,
): FixtureAnswer | null {
  const found = manifest.fixtures?.find(
    ({ capability, when = {} }) =>
      (capability === undefined || capability === capability_name) &&
      Object.entries(when).every(([name, value]) => Object.hasOwn(input, name) && input[name] === value),
  )
  if (!found) return null
  const { fault, status = 200, headers = {}, body = null } = found
  if (fault !== undefined && isEgressFault(fault)) return { kind: 'fault', fault, sent: !unsentFaults.has(fault) }
  const lowered = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    kind: 'response',
    response: {
      status,
      headers: { 'content-type': 'application/json', ...lowered },
      body: Buffer.from(JSON.stringify(body)),
    },
  }
}
