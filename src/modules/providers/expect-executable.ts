/** Whether what a call would execute may be executed: a plugin that is valid, a tool that is what was pinned. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { bindPlugin, type pluginModel } from '#modules/plugins/index.ts'
import type { ReadyProvider } from '#modules/provider-credentials/index.ts'
import { bindTool } from '#modules/tool-servers/index.ts'
import { describeFault, findInputFaults, toInputErrors } from '#plugin/inputs.ts'
import { findCapability } from './capability.ts'
import type { CallRequest } from './create-call.ts'

const MAX_REFUSALS = 100

export type ExecuteCapability = 'caches' | 'plugin_policy' | 'threads'

/**
 * 503 `plugin_invalid` with every reason, 409 for an input that the plugin does not take. Handlers call it after 404, other 409 and
 * 424, and before they write a row or start a job. A tool is executed only where its server is asked; a plugin also where the response
 * is a fixture.
 */
export async function expectExecutable(
  kernel: Capabilities<ExecuteCapability>,
  tx: Tx,
  provider: Pick<ReadyProvider, 'manifest' | 'mode'>,
  request: Pick<CallRequest, 'capability' | 'input'>,
): Promise<void> {
  const bound = await bindExecuted(kernel, tx, provider, request.capability)
  const faults = bound ? findInputFaults(bound.manifest, 'request', request.input) : []
  const [first] = faults
  if (!bound || !first) return
  fail('conflict', {
    detail: `The plugin ${bound.plugin_key} does not take this input: ${describeFault(first)}.`.slice(0, 1000),
    errors: toInputErrors(faults),
  })
}

export interface Refusal {
  readonly capability: string
  readonly code: string
  readonly message: string
  /** The tool that is not what was pinned; null: it is the plugin. */
  readonly tool: { readonly server_key: string; readonly tool: string } | null
}

/** Why capabilities of the provider cannot be executed now. */
export async function listRefusals(
  kernel: Capabilities<ExecuteCapability>,
  tx: Tx,
  provider: Pick<ReadyProvider, 'manifest' | 'mode'>,
): Promise<Refusal[]> {
  const found: Refusal[] = []
  const capabilities = Object.keys((provider.manifest['capabilities'] ?? {}) as object)
  // Every capability of a provider of kind plugin runs the same plugin.
  const isPlugin = provider.manifest['kind'] === 'plugin'
  for (const capability of isPlugin ? capabilities.slice(0, 1) : capabilities) {
    try {
      await bindExecuted(kernel, tx, provider, capability)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'plugin_invalid') throw error
      const { reasons = [], server_key, tool } = (error.extra.members ?? {}) as RefusedMembers
      const refused = server_key !== undefined && tool !== undefined ? { server_key, tool } : null
      for (const { code, message } of reasons)
        for (const concerned of isPlugin ? capabilities : [capability])
          found.push({ capability: concerned, code, message: message.slice(0, 1000), tool: refused })
    }
  }
  return found.slice(0, MAX_REFUSALS)
}

interface RefusedMembers {
  readonly reasons?: readonly { readonly code: string; readonly message: string }[]
  readonly server_key?: string
  readonly tool?: string
}

/** The plugin, where there is one. */
async function bindExecuted(
  kernel: Capabilities<ExecuteCapability>,
  tx: Tx,
  provider: Pick<ReadyProvider, 'manifest' | 'mode'>,
  capability_name: string,
): Promise<pluginModel.BoundPlugin | null> {
  const capability = findCapability(provider.manifest, capability_name)
  if (capability?.kind === 'plugin') {
    return bindPlugin(kernel, tx, { plugin_key: capability.manifest.plugin_key, kind: 'provider' })
  }
  if (capability?.kind === 'mcp' && provider.mode === 'live') {
    await bindTool(tx, { server_key: capability.manifest.server_key, tool: capability.declared.tool })
  }
  return null
}
