/** Which providers a step may call, and which one it calls now. */
import type { Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import type { StepCapabilities, StepExecuteCapabilities } from '#kernel/step-kind.ts'
import {
  findReadiness,
  listReadiness,
  type ProviderReadiness,
  type ReadyProvider,
} from '#modules/provider-credentials/index.ts'
import { capabilities, expectExecutable } from '#modules/providers/index.ts'
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

/** The provider that is asked; `refusal`: all with a credential execute what cannot be executed; neither: none has one. */
export interface ChosenProvider {
  readonly provider: ReadyProvider | null
  readonly refusal: Problem | null
  readonly missing: readonly NonNullable<ProviderReadiness['gap']>[]
}

/** The first that has its credential and whose plugin or tool can be executed. */
export async function chooseStepProvider(
  kernel: StepExecuteCapabilities,
  tx: Tx,
  settings: ProviderSettings,
): Promise<ChosenProvider> {
  const found = await findStepProviders(kernel, tx, settings)
  const missing = found.flatMap(({ gap }) => (gap ? [gap] : []))
  let refusal: Problem | null = null
  for (const { ready } of found) {
    if (!ready) continue
    const refused = await findExecutionRefusal(() =>
      expectExecutable(kernel, tx, ready, { capability: settings.capability, input: {} }),
    )
    if (!refused) return { provider: ready, refusal: null, missing }
    refusal ??= refused
  }
  return { provider: null, refusal, missing }
}

/** Why a plugin or tool cannot be executed. What the call refuses for another reason is known when it is made with its input. */
export async function findExecutionRefusal(expect: () => Promise<unknown>): Promise<Problem | null> {
  try {
    await expect()
    return null
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error.code === 'plugin_invalid' ? error : null
  }
}
