/** Validation of the code of a package under one build of the sandbox, computed while no transaction is open. */
import { declareCache } from '#kernel/cache/caches.ts'
import { NeedsPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { OFFLINE_CONTEXT, validatePlugin } from '#plugin/validate-plugin.ts'
import { SANDBOX_HASH } from '#sandbox/builds.ts'
import type { PluginReason } from './model.ts'
import type { ReadPlugin } from './plugin-library.ts'
import type { ValidationRow } from './queries.ts'
import { failBusy } from './run-plugin.ts'
import { otherThread } from './sandbox-threads.ts'

export interface CodeValidation {
  readonly reasons: readonly PluginReason[]
  /** Null where no example could be run. */
  readonly fuel_max: number | null
}

const codeValidations = declareCache<CodeValidation>({
  name: 'plugin_validations',
  summary: 'What validation of one package found under one build of the sandbox.',
  bound: { max_entries: 500 },
})

/**
 * Whether an earlier validation found this content valid. Limits and rules that are made later for new packages do not hold for it,
 * so that a new build stops no plugin that a tenant relies on for them.
 */
export const wasAccepted = ({ content_hash }: ReadPlugin, earlier: readonly ValidationRow[]): boolean =>
  earlier.some((row) => row.valid && row.content_hash === content_hash)

/** Throws NeedsPrecompute when it is not known yet. */
export function getCodeValidation(
  kernel: Capabilities<'caches' | 'threads'>,
  { tenant_id }: Pick<Tx, 'tenant_id'>,
  plugin: ReadPlugin,
  was_accepted = false,
): CodeValidation {
  const cache = kernel.caches.get(codeValidations)
  const id = `${tenant_id} ${plugin.content_hash} ${SANDBOX_HASH} ${was_accepted}`
  const known = cache.get(id)
  if (known) return known
  throw new NeedsPrecompute(async () => {
    cache.set(id, await validatePluginCode(kernel, plugin, { caller: tenant_id, was_accepted }))
  })
}

/** Outside any transaction. Fails with `overloaded` where the machine is too busy to tell. */
export async function validatePluginCode(
  kernel: Capabilities<'threads'>,
  plugin: ReadPlugin,
  options: { readonly caller: string; readonly was_accepted: boolean },
): Promise<CodeValidation> {
  if (!plugin.package) return { reasons: plugin.reasons, fuel_max: null }
  const runner = kernel.threads.get(otherThread)
  const { reasons, fuel_max } = await validatePlugin(runner, plugin.package, { ...OFFLINE_CONTEXT, ...options }).catch(
    failBusy,
  )
  return { reasons, fuel_max }
}
