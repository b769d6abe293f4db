/** SQL of how tool servers authenticate: the rows belong to their module, their credentials are kept here. */
import type { Tx } from '#kernel/database/tx.ts'

export interface ToolServerAuthRow {
  readonly server_key: string
  readonly auth: object
  readonly credential: object | null
  readonly revision: number
  readonly updated_at: string
}

/** How servers authenticate; null for the keys: all of them. */
export const listToolServerAuth = (tx: Tx, server_keys: readonly string[] | null) =>
  tx.query<ToolServerAuthRow>(
    `select server_key, auth, credential, revision, updated_at from app.tool_server
      where tenant_id = $1 and ($2::text[] is null or server_key = any ($2)) order by server_key`,
    [tx.tenant_id, server_keys],
  )
