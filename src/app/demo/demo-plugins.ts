/** The plugins of the demo tenant: uploaded by the policy editor and put in force by an approved change request. */
import type { DemoCaller } from './demo-caller.ts'
import { putInForce } from './demo-definitions.ts'
import type { PluginsFile } from './demo-files.ts'

/** An upload can be repeated: the same content is the same version. */
export async function seedDemoPlugins(caller: DemoCaller, { plugins }: PluginsFile): Promise<void> {
  for (const { plugin_key, reason, package: content } of plugins) {
    const { version } = await caller.post<{ version: number }>('policy_editor', '/api/plugins', {
      plugin_key,
      package: content,
    })
    await putInForce(caller, 'plugins', plugin_key, { version, reason })
  }
}
