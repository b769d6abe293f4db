/** Whether what the required steps of a playbook ask for can be asked now, before a row is written. */
import { mapWithPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { expectReady, findReadiness } from '#modules/provider-credentials/index.ts'

type CheckKernel = Capabilities<'caches' | 'forced_provider_mode' | 'modules' | 'plugin_policy' | 'threads'>

/** A step of a playbook, or of a case, whose kind has checked its settings. */
export interface AskedStep {
  readonly key: string
  readonly kind: string
  readonly required: boolean
  readonly with: object
}

/**
 * 409 where nobody offers what a step needs, then 424 with every credential that is missing, then 503 where a plugin or tool may not be
 * used. One provider that is ready is enough for a step. Optional steps are not looked at: the job leaves out those that cannot be asked.
 */
export async function expectAskable(
  kernel: CheckKernel,
  tx: Tx,
  steps: readonly AskedStep[],
  { is_restricted }: { readonly is_restricted: boolean },
): Promise<void> {
  const kinds = kernel.modules.flatMap(({ step_kinds = [] }) => step_kinds)
  const missing: string[] = []
  const asked: { readonly step: AskedStep; readonly kind: (typeof kinds)[number] }[] = []
  for (const step of steps.filter(({ required }) => required)) {
    const kind = kinds.find((each) => each.kind === step.kind)
    if (!kind) return fail('conflict', `The service has no steps of the kind ${step.kind}.`)
    asked.push({ step, kind })
    // The kind has checked the settings when the playbook was published.
    const keys = await kind.listProviders(kernel, tx, step.with as never)
    const isReady = [...(await findReadiness(kernel, tx, keys)).values()].some(({ ready }) => ready)
    if (!isReady && keys.length > 0) missing.push(...keys)
    else if (!isReady && 'capability' in step.with)
      fail(
        'conflict',
        `No provider in force has the capability ${step.with.capability}, which the step ${step.key} needs.`,
      )
  }
  if (missing.length > 0) await expectReady(kernel, tx, missing)
  await mapWithPrecompute(
    asked,
    ({ step, kind }) =>
      // Settings of any kind, which the kind has checked.
      kind.expectExecutable?.(kernel, tx, { with: step.with as never, is_restricted }) ?? Promise.resolve(),
  )
}
