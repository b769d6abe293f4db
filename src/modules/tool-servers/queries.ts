/** SQL of tool servers, the tools that they offer, and pins. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { Auth } from '#provider/manifest.ts'
import type { RefusedTool, ToolDefinition } from '#provider/tools/tool-definition.ts'

export interface ToolServerRow {
  readonly server_key: string
  readonly title: string
  readonly description: string | null
  readonly url: string
  readonly auth: Auth
  readonly credential: { readonly members: readonly { name: string; secret?: boolean; max?: number }[] } | null
  readonly protocol_version: string | null
  readonly server_name: string | null
  readonly server_version: string | null
  readonly checked_at: string | null
  readonly is_fresh: boolean
  readonly failing_since: string | null
  readonly last_fault: string | null
  readonly refused: readonly RefusedTool[]
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly revision: number
}

const serverColumns = `server_key, title, description, url, auth, credential, protocol_version, server_name, server_version, checked_at,
  coalesce(fresh_until > now(), false) as is_fresh, failing_since, last_fault, refused, created_at, created_by, updated_at, revision`

export const findServer = (tx: Tx, server_key: string) =>
  tx.find<ToolServerRow>(`select ${serverColumns} from app.tool_server where tenant_id = $1 and server_key = $2`, [
    tx.tenant_id,
    server_key,
  ])

export const lockServer = (tx: Tx, server_key: string) =>
  tx.find<ToolServerRow>(
    `select ${serverColumns} from app.tool_server where tenant_id = $1 and server_key = $2 for update`,
    [tx.tenant_id, server_key],
  )

export const listServers = (tx: Tx, after: PagePosition, count: number) =>
  tx.query<ToolServerRow>(
    `select ${serverColumns} from app.tool_server
      where tenant_id = $1 and ($2::timestamptz is null or (created_at, server_key) > ($2, $3::text))
      order by created_at, server_key limit $4`,
    [tx.tenant_id, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const countServers = async (tx: Tx): Promise<number> =>
  (await tx.find<{ n: number }>('select count(*) as n from app.tool_server where tenant_id = $1', [tx.tenant_id]))?.n ??
  0

/** Servers whose tools have pins and were not listed within the time that the last list held. */
export const listServersDue = (tx: Tx, count: number) =>
  tx.query<{ server_key: string }>(
    `select s.server_key from app.tool_server s
      where s.tenant_id = $1 and (s.due_at is null or s.due_at <= now())
        and exists (select 1 from app.tool_server_tool t
                     where t.tenant_id = s.tenant_id and t.server_key = s.server_key and t.pinned is not null)
      order by s.due_at nulls first limit $2`,
    [tx.tenant_id, count],
  )

export type ServerSettings = Pick<ToolServerRow, 'server_key' | 'title' | 'description' | 'url' | 'auth' | 'credential'>

export const insertServer = (tx: Tx, server: ServerSettings) =>
  tx.find<ToolServerRow>(
    `insert into app.tool_server (tenant_id, server_key, title, description, url, auth, credential, created_by, updated_by)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8, $8) returning ${serverColumns}`,
    [
      tx.tenant_id,
      server.server_key,
      server.title,
      server.description,
      server.url,
      JSON.stringify(server.auth),
      server.credential === null ? null : JSON.stringify(server.credential),
      tx.actor,
    ],
  )

export const updateServer = (tx: Tx, server: ServerSettings) =>
  tx.find<ToolServerRow>(
    `update app.tool_server set title = $3, description = $4, url = $5, auth = $6::jsonb, credential = $7::jsonb,
            revision = revision + 1, updated_at = now(), updated_by = $8
      where tenant_id = $1 and server_key = $2 returning ${serverColumns}`,
    [
      tx.tenant_id,
      server.server_key,
      server.title,
      server.description,
      server.url,
      JSON.stringify(server.auth),
      server.credential === null ? null : JSON.stringify(server.credential),
      tx.actor,
    ],
  )

/** Its tools go with it; its pins stay. */
export const removeServer = (tx: Tx, server_key: string) =>
  tx.run('delete from app.tool_server where tenant_id = $1 and server_key = $2', [tx.tenant_id, server_key])

export interface ServerCheck {
  readonly protocol_version: string | null
  readonly server_name: string | null
  readonly server_version: string | null
  readonly refused: readonly RefusedTool[]
  readonly fresh_s: number
  readonly due_s: number
}

export const updateServerChecked = (tx: Tx, server_key: string, check: ServerCheck) =>
  tx.run(
    `update app.tool_server set protocol_version = $3, server_name = $4, server_version = $5, refused = $6::jsonb, checked_at = now(),
            fresh_until = now() + $7::float8 * interval '1 s', due_at = now() + $8::float8 * interval '1 s',
            failing_since = null, last_fault = null
      where tenant_id = $1 and server_key = $2`,
    [
      tx.tenant_id,
      server_key,
      check.protocol_version,
      check.server_name,
      check.server_version,
      JSON.stringify(check.refused),
      check.fresh_s,
      check.due_s,
    ],
  )

export const updateServerFailing = (tx: Tx, server_key: string, fault: string) =>
  tx.run(
    `update app.tool_server set failing_since = coalesce(failing_since, now()), last_fault = $3
      where tenant_id = $1 and server_key = $2`,
    [tx.tenant_id, server_key, fault],
  )

/** The next use lists the tools again. */
export const updateServerUnchecked = (tx: Tx, server_key: string) =>
  tx.run(
    `update app.tool_server set checked_at = null, fresh_until = null, due_at = null, failing_since = null, last_fault = null
      where tenant_id = $1 and server_key = $2`,
    [tx.tenant_id, server_key],
  )

// Tools ---------------------------------------------------------------------------------------------------------------

export interface ToolRow {
  readonly server_key: string
  readonly tool_name: string
  readonly offered: ToolDefinition | null
  readonly offered_hash: string | null
  readonly pinned: ToolDefinition | null
  readonly pinned_hash: string | null
  readonly pin_no: number | null
  readonly pinned_at: string | null
  readonly pinned_by: string | null
  readonly quarantine_reason: 'changed' | 'vanished' | null
  readonly quarantined_at: string | null
  readonly first_seen_at: string
  readonly last_seen_at: string
}

const toolColumns = `server_key, tool_name, offered, offered_hash, pinned, pinned_hash, pin_no, pinned_at, pinned_by, quarantine_reason,
  quarantined_at, first_seen_at, last_seen_at`

export const listTools = (tx: Tx, server_keys: readonly string[]) =>
  tx.query<ToolRow>(
    `select ${toolColumns} from app.tool_server_tool where tenant_id = $1 and server_key = any ($2::text[]) order by server_key, tool_name`,
    [tx.tenant_id, server_keys],
  )

export const findTool = (tx: Tx, server_key: string, tool_name: string) =>
  tx.find<ToolRow>(
    `select ${toolColumns} from app.tool_server_tool where tenant_id = $1 and server_key = $2 and tool_name = $3`,
    [tx.tenant_id, server_key, tool_name],
  )

export interface ToolCounts {
  readonly server_key: string
  readonly pinned: number
  readonly new: number
  readonly quarantined: number
}

export const countTools = (tx: Tx, server_keys: readonly string[]) =>
  tx.query<ToolCounts>(
    `select server_key, count(*) filter (where pinned is not null and quarantined_at is null) as pinned,
            count(*) filter (where pinned is null) as new, count(*) filter (where quarantined_at is not null) as quarantined
       from app.tool_server_tool where tenant_id = $1 and server_key = any ($2::text[]) group by server_key`,
    [tx.tenant_id, server_keys],
  )

export interface OfferedRow {
  readonly tool_name: string
  readonly offered: ToolDefinition
  readonly offered_hash: string
}

/** A pinned tool that differs is quarantined in the same statement. */
export const upsertOffered = (tx: Tx, server_key: string, tools: readonly OfferedRow[]) =>
  tx.run(
    `insert into app.tool_server_tool as t (tenant_id, server_key, tool_name, offered, offered_hash)
     select $1, $2, o.tool_name, o.offered, o.offered_hash
       from jsonb_to_recordset($3::jsonb) as o (tool_name text, offered jsonb, offered_hash text)
     on conflict (tenant_id, server_key, tool_name) do update
        set offered = excluded.offered, offered_hash = excluded.offered_hash, last_seen_at = now(),
            quarantine_reason = case when t.pinned_hash <> excluded.offered_hash then 'changed' else t.quarantine_reason end,
            quarantined_at = case when t.pinned_hash <> excluded.offered_hash then coalesce(t.quarantined_at, now())
                                  else t.quarantined_at end`,
    [tx.tenant_id, server_key, JSON.stringify(tools)],
  )

/** What is no longer listed: pinned tools are quarantined, others removed. */
export async function updateVanished(tx: Tx, server_key: string, listed: readonly string[]): Promise<void> {
  await tx.run(
    `delete from app.tool_server_tool where tenant_id = $1 and server_key = $2 and pinned is null and tool_name <> all ($3::text[])`,
    [tx.tenant_id, server_key, listed],
  )
  await tx.run(
    `update app.tool_server_tool set offered = null, offered_hash = null, quarantine_reason = 'vanished',
            quarantined_at = coalesce(quarantined_at, now())
      where tenant_id = $1 and server_key = $2 and offered is not null and tool_name <> all ($3::text[])`,
    [tx.tenant_id, server_key, listed],
  )
}

/** Pins what is offered, by its hash; no row where the server offers something else by now. */
export const updatePinned = (tx: Tx, pin: { server_key: string; tool_name: string; definition_hash: string }) =>
  tx.find<ToolRow>(
    `update app.tool_server_tool t set pinned = offered, pinned_hash = offered_hash, pinned_at = now(), pinned_by = $5,
            quarantine_reason = null, quarantined_at = null,
            pin_no = 1 + coalesce((select max(p.pin_no) from app.tool_pin p
                                    where p.tenant_id = $1 and p.server_key = $2 and p.tool_name = $3), 0)
      where tenant_id = $1 and server_key = $2 and tool_name = $3 and offered_hash = $4 returning ${toolColumns}`,
    [tx.tenant_id, pin.server_key, pin.tool_name, pin.definition_hash, tx.actor],
  )

export const insertPin = (tx: Tx, tool: ToolRow, { url, reason }: { url: string; reason: string }) =>
  tx.run(
    `insert into app.tool_pin (tenant_id, server_key, tool_name, pin_no, definition, definition_hash, url, reason, pinned_by)
     values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9)`,
    [
      tx.tenant_id,
      tool.server_key,
      tool.tool_name,
      tool.pin_no,
      JSON.stringify(tool.pinned),
      tool.pinned_hash,
      url,
      reason,
      tx.actor,
    ],
  )

/** Whether this tool was ever pinned, also at another address of the server. */
export const hasPin = async (tx: Tx, server_key: string, tool_name: string): Promise<boolean> =>
  (await tx.find('select 1 from app.tool_pin where tenant_id = $1 and server_key = $2 and tool_name = $3 limit 1', [
    tx.tenant_id,
    server_key,
    tool_name,
  ])) !== undefined

/** Another address may be another program: nothing of it is approved. */
export const removeTools = (tx: Tx, server_key: string) =>
  tx.run('delete from app.tool_server_tool where tenant_id = $1 and server_key = $2', [tx.tenant_id, server_key])

// Search --------------------------------------------------------------------------------------------------------------

export const listServersByName = (tx: Tx, text: string, count: number) =>
  tx.query<Pick<ToolServerRow, 'server_key' | 'title'>>(
    `select server_key, title from app.tool_server
      where tenant_id = $1 and (server_key = lower($2) or lower(title) = lower($2)
                                or starts_with(server_key, lower($2)) or starts_with(lower(title), lower($2)))
      order by server_key limit $3`,
    [tx.tenant_id, text, count],
  )
