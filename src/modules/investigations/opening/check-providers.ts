/** Whether what the required steps of a playbook ask for can be asked now, before a row is written. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail, Problem } from '#kernel/problem.ts'
import type { playbookModel } from '#modules/playbooks/index.ts'
import { expectReady, findReadiness, type ReadyProvider } from '#modules/provider-credentials/index.ts'
import { expectExecutable } from '#modules/providers/index.ts'

type CheckKernel = Capabilities<'caches' | 'forced_provider_mode' | 'modules' | 'plugin_policy' | 'threads'>

/**
 * 409 where nobody offers what a step needs, then 424 with every credential that is missing, then 503 where a plugin or tool may not be
 * used. One provider that is ready is enough for a step. Steps that are not required are left out by the job where they cannot be asked.
 */
export async function expectProviders(
  kernel: CheckKernel,
  tx: Tx,
  { content }: { readonly content: Pick<playbookModel.Playbook, 'steps'> },
  applies: ReadonlySet<string>,
): Promise<void> {
  const kinds = kernel.modules.flatMap(({ step_kinds = [] }) => step_kinds)
  const missing: string[] = []
  const asked: { readonly step: playbookModel.PlaybookStep; readonly provider: ReadyProvider }[] = []
  for (const step of content.steps.filter(({ required, key }) => required && applies.has(key))) {
    const kind = kinds.find((each) => each.kind === step.kind)
    if (!kind) return fail('conflict', `The service has no steps of the kind ${step.kind}.`)
    // The kind has checked the settings when the playbook was published.
    const keys = await kind.listProviders(kernel, tx, step.with as never)
    const ready = [...(await findReadiness(kernel, tx, keys)).values()].flatMap((each) =>
      each.ready ? [each.ready] : [],
    )
    const [first] = ready
    if (first) asked.push({ step, provider: first })
    else if (keys.length > 0) missing.push(...keys)
    else if (step.kind === 'provider')
      fail(
        'conflict',
        `No provider in force has the capability ${step.with.capability}, which the step ${step.key} needs.`,
      )
  }
  if (missing.length > 0) await expectReady(kernel, tx, missing)
  for (const { step, provider } of asked)
    if (step.kind === 'provider')
      await expectExecutable(kernel, tx, provider, { capability: step.with.capability, input: {} }).catch(
        rethrowRefusal,
      )
}

/** Whether the plugin takes the input is known when the step runs. */
function rethrowRefusal(error: unknown): void {
  if (!(error instanceof Problem) || error.status !== 409) throw error
}
