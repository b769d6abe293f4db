/** How servers and their tools are shown. */
import type { Tx } from '#kernel/database/tx.ts'
import { credentialStore } from '#modules/provider-credentials/index.ts'
import { listCredentialMembers } from '#provider/credential-members.ts'
import { diffDefinitions, type ToolDefinition } from '#provider/tools/tool-definition.ts'
import { countTools, listTools, type ToolRow, type ToolServerRow } from './queries.ts'
import { findUnusable, getToolState } from './tool-state.ts'

export async function getServerItems(tx: Tx, servers: readonly ToolServerRow[]) {
  const keys = servers.map(({ server_key }) => server_key)
  const counts = new Map((await countTools(tx, keys)).map((row) => [row.server_key, row]))
  return servers.map((server) => {
    const { is_fresh: _is_fresh, refused: _refused, ...shown } = server
    const { pinned = 0, new: fresh = 0, quarantined = 0 } = counts.get(server.server_key) ?? {}
    const credential_key = credentialStore.toCredentialKey(server.server_key)
    const credential_members = [...listCredentialMembers(server)]
    return {
      ...shown,
      credential_key,
      credential_members,
      tools_pinned: pinned,
      tools_new: fresh,
      tools_quarantined: quarantined,
    }
  })
}

export async function getServerView(tx: Tx, server: ToolServerRow) {
  const [item] = await getServerItems(tx, [server])
  const tools = (await listTools(tx, [server.server_key])).map(toToolItem)
  return { ...(item as NonNullable<typeof item>), tools, refused: [...server.refused] }
}

const getTitle = (definition: ToolDefinition | null): string | null => {
  const title = definition?.title
  return typeof title === 'string' && title !== '' ? title.slice(0, 200) : null
}

function toToolItem(tool: ToolRow) {
  const { tool_name, pinned_hash, pin_no, pinned_at, pinned_by, offered_hash, quarantined_at } = tool
  const { first_seen_at, last_seen_at } = tool
  return {
    tool_name,
    state: getToolState(tool),
    title: getTitle(tool.offered ?? tool.pinned),
    ...{ pinned_hash, pin_no, pinned_at, pinned_by, offered_hash, quarantined_at, first_seen_at, last_seen_at },
  }
}

export function toToolView(tool: ToolRow) {
  const { server_key, pinned, offered } = tool
  return {
    server_key,
    ...toToolItem(tool),
    pinned: pinned as Record<string, unknown> | null,
    offered: offered as Record<string, unknown> | null,
    differences: pinned && offered ? diffDefinitions(pinned, offered) : [],
    unusable: offered ? findUnusable(offered) : [],
  }
}
