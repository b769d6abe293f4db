/** Which providers a step may call. */
import type { Tx } from '#kernel/database/tx.ts'
import type { StepCapabilities } from '#kernel/step-kind.ts'
import { findReadiness, listReadiness, type ProviderReadiness } from '#modules/provider-credentials/index.ts'
import { capabilities } from '#modules/providers/index.ts'
import type { ProviderSettings } from './model.ts'

export const isOffering = ({ provider }: ProviderReadiness, capability: string): boolean =>
  capabilities.findCapability(provider.manifest, capability) !== undefined

/** Providers that the step may call, in the order in which they are tried. */
export async function findStepProviders(
  kernel: StepCapabilities,
  tx: Tx,
  { capability, provider }: ProviderSettings,
): Promise<ProviderReadiness[]> {
  const found = provider === undefined ? await listReadiness(kernel, tx) : await findReadiness(kernel, tx, [provider])
  const offering = [...found.values()].filter((each) => isOffering(each, capability))
  return offering.toSorted((a, b) => (a.provider.provider_key < b.provider.provider_key ? -1 : 1))
}
