/** A pinned tool for whoever calls it. Without a pin that still holds, nothing is sent. */
import type { Scope, Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { isDeclaredRepeatable, type ToolDefinition } from '#provider/tools/tool-definition.ts'
import { type CheckKernel, checkServer } from './check-server.ts'
import { findServer, findTool, listTools, type ToolServerRow } from './queries.ts'
import type { ServerCredential } from './server-access.ts'
import { findToolReasons, type ToolReason } from './tool-state.ts'

export interface BoundTool {
  readonly server: ToolServerRow
  readonly definition: ToolDefinition
  readonly pinned_hash: string
  readonly pin_no: number
}

export interface ToolReference {
  readonly server_key: string
  readonly tool: string
}

/** The pinned tool, or 503 `plugin_invalid` with what is wrong. */
export async function bindTool(tx: Tx, wanted: ToolReference): Promise<BoundTool> {
  const found = await findBoundTool(tx, wanted)
  return 'reasons' in found ? failTool(wanted, found.reasons) : found
}

export async function findBoundTool(
  tx: Tx,
  { server_key, tool }: ToolReference,
): Promise<BoundTool | { readonly reasons: readonly ToolReason[] }> {
  const server = await findServer(tx, server_key)
  if (!server) return { reasons: [{ code: 'server_unknown', message: `There is no tool server ${server_key}.` }] }
  const row = await findTool(tx, server_key, tool)
  const reasons = findToolReasons(row)
  if (reasons.length > 0 || !row?.pinned) return { reasons }
  return { server, definition: row.pinned, pinned_hash: row.pinned_hash as string, pin_no: row.pin_no as number }
}

/** Tools of the server that may be called, with whether they are annotated as repeatable; null: there is no such server. */
export async function findPinnedTools(
  tx: Tx,
  server_key: string,
): Promise<ReadonlyMap<string, { readonly is_repeatable: boolean }> | null> {
  if (!(await findServer(tx, server_key))) return null
  const usable = (await listTools(tx, [server_key])).filter((tool) => findToolReasons(tool).length === 0)
  return new Map(
    usable.map(({ tool_name, pinned }) => [
      tool_name,
      { is_repeatable: pinned !== null && isDeclaredRepeatable(pinned) },
    ]),
  )
}

export const failTool = ({ server_key, tool }: ToolReference, reasons: readonly ToolReason[]): never =>
  fail('plugin_invalid', {
    detail: `The tool ${tool} of the server ${server_key} may not be used: ${reasons.map(({ message }) => message).join(' ')}`,
    members: { kind: 'tool', server_key, tool, reasons },
  })

/**
 * The pinned tool right before it is called. A list that is too old is asked for again first, so that a tool that changed is not
 * called. Rejects with ToolServerFailed where the list cannot be had, and with 503 `plugin_invalid`.
 */
export async function bindFreshTool(
  kernel: CheckKernel,
  run: { readonly scope: Scope; readonly signal: AbortSignal },
  wanted: ToolReference,
  credential: ServerCredential,
): Promise<BoundTool> {
  const bind = () => kernel.transactions.read(run.scope, (tx) => bindTool(tx, wanted))
  const bound = await bind()
  if (bound.server.is_fresh) return bound
  await checkServer(kernel, run, { server_key: wanted.server_key, credential })
  return bind()
}
