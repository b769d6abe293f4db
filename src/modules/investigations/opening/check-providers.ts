/** Whether what the required steps of a playbook ask for can be asked now, before a row is written. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import type { LoadedPlaybook, PlaybookStep } from '#modules/playbooks/model.ts'
import { expectReady } from '#modules/provider-credentials/index.ts'
import { expectExecutable } from '#modules/providers/index.ts'

type CheckKernel = Capabilities<'caches' | 'forced_provider_mode' | 'modules' | 'plugin_policy' | 'threads'>

/**
 * 424 with every credential that is missing, then 503 where a plugin or tool may not be used. Steps that are not required are left out by
 * the job where they cannot be asked, and so are steps that do not apply.
 */
export async function expectProviders(
  kernel: CheckKernel,
  tx: Tx,
  playbook: LoadedPlaybook,
  applies: ReadonlySet<string>,
): Promise<void> {
  const kinds = kernel.modules.flatMap(({ step_kinds = [] }) => step_kinds)
  const needed: { readonly step: PlaybookStep; readonly provider_key: string }[] = []
  for (const step of playbook.content.steps.filter(({ required, key }) => required && applies.has(key))) {
    const kind = kinds.find((each) => each.kind === step.kind)
    // The kind has checked the settings when the playbook was published.
    const keys = kind ? await kind.listProviders(kernel, tx, step.with as never) : []
    for (const provider_key of keys) needed.push({ step, provider_key })
  }
  const ready = await expectReady(
    kernel,
    tx,
    needed.map(({ provider_key }) => provider_key),
  )
  for (const { step, provider_key } of needed) {
    const provider = ready.get(provider_key)
    if (provider && step.kind === 'provider')
      await expectExecutable(kernel, tx, provider, { capability: step.with.capability, input: {} }).catch(
        rethrowRefusal,
      )
  }
}

/** Whether the plugin takes the input is known when the step runs. */
function rethrowRefusal(error: unknown): void {
  if (!(error instanceof Problem) || error.status !== 409) throw error
}
