/** Whether what a call would execute may be executed: a plugin that is valid, a tool that is what was pinned. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { bindPlugin } from '#modules/plugins/index.ts'
import type { ReadyProvider } from '#modules/provider-credentials/index.ts'
import { bindTool, findBoundTool } from '#modules/tool-servers/index.ts'
import { findCapability } from './capability.ts'

export type ExecuteCapability = 'caches' | 'plugin_policy' | 'threads'

/**
 * 503 `plugin_invalid` with every reason. Handlers call it after 404, 409 and 424, and before they write a row or start a job. A tool
 * is executed only where its server is asked; a plugin also where the response is a fixture.
 */
export async function expectExecutable(
  kernel: Capabilities<ExecuteCapability>,
  tx: Tx,
  provider: Pick<ReadyProvider, 'manifest' | 'mode'>,
  capability_name: string,
): Promise<void> {
  const capability = findCapability(provider.manifest, capability_name)
  if (capability?.kind === 'plugin') {
    await bindPlugin(kernel, tx, { plugin_key: capability.manifest.plugin_key, kind: 'provider' })
  } else if (capability?.kind === 'mcp' && provider.mode === 'live') {
    await bindTool(tx, { server_key: capability.manifest.server_key, tool: capability.declared.tool })
  }
}

/** Capabilities whose tool may not be called now, with the reason; none where the server is not asked. */
export async function listRefusedTools(tx: Tx, { manifest, mode }: Pick<ReadyProvider, 'manifest' | 'mode'>) {
  const refused: { capability: string; server_key: string; tool: string; detail: string }[] = []
  for (const name of Object.keys(manifest['capabilities'] as object)) {
    const capability = findCapability(manifest, name)
    if (capability?.kind !== 'mcp' || mode !== 'live') continue
    const wanted = { server_key: capability.manifest.server_key, tool: capability.declared.tool }
    const found = await findBoundTool(tx, wanted)
    if (!('reasons' in found)) continue
    refused.push({ capability: name, ...wanted, detail: found.reasons.map(({ message }) => message).join(' ') })
  }
  return refused
}
