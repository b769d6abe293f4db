/** Whether what a call would execute may be executed: a plugin that is valid, a tool that is what was pinned. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { bindPlugin } from '#modules/plugins/index.ts'
import type { ReadyProvider } from '#modules/provider-credentials/index.ts'
import { bindTool } from '#modules/tool-servers/index.ts'
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
