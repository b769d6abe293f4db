/**
 * Lists the tools of a server and compares them with what is pinned. The server is asked while no transaction is open; what changed or
 * vanished is in quarantine from then on.
 */
import type { Scope, Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound } from '#kernel/problem.ts'
import { credentialStore, withCredential } from '#modules/provider-credentials/index.ts'
import { hasSecret } from '#provider/echoed-secrets.ts'
import { CredentialNotUsable } from '#provider/fill-credentials.ts'
import { type ListedTools, listServerTools } from '#provider/tools/tool-connection.ts'
import { hashDefinition, type OfferedTools, readTools } from '#provider/tools/tool-definition.ts'
import { ToolServerFailed } from '#provider/tools/tool-faults.ts'
import {
  findServer,
  listTools,
  lockServer,
  type ToolServerRow,
  updateServerChecked,
  updateServerFailing,
  updateVanished,
  upsertOffered,
} from './queries.ts'
import {
  type AccessKernel,
  createExchange,
  getServerToken,
  listServerSecretForms,
  NO_SECRETS,
  type ServerCredential,
  type ServerSecrets,
} from './server-access.ts'
import { serverChecks, toolsQuarantined } from './tool-metrics.ts'
import { getToolState } from './tool-state.ts'

const LIST_TIMEOUT_MS = 20_000
/** A call relies on a list that is at most this old, or less where the server says so. */
const FRESH_S = { min: 60, max: 600 }
/** How often tools that nobody calls are checked. */
const DUE_S = { min: 3600, max: 86_400 }
const MAX_REFUSED = 50

export type CheckKernel = AccessKernel & Capabilities<'log'>

export interface CheckRequest {
  readonly server_key: string
  readonly credential: ServerCredential
  /** A person tries this version of the credential. */
  readonly is_verification?: boolean
}

export interface CheckResult {
  readonly tools: number
  readonly refused: number
  readonly new: number
  readonly pinned: number
  /** Names of the tools in quarantine. */
  readonly quarantined: readonly string[]
}

/** Rejects with ToolServerFailed where the tools cannot be listed: pins stay as they are, and the fault is recorded. */
export async function checkServer(
  kernel: CheckKernel,
  { scope, signal }: { readonly scope: Scope; readonly signal: AbortSignal },
  request: CheckRequest,
): Promise<CheckResult> {
  const { server_key } = request
  const server = assertFound(await kernel.transactions.read(scope, (tx) => findServer(tx, server_key)))
  try {
    const listed = await listWithCredential({ kernel, scope, signal }, server, request)
    const offered = readTools(listed.tools)
    const result = await kernel.transactions.write(scope, (tx) => storeOffered(kernel, tx, server, { listed, offered }))
    kernel.metrics.increment(serverChecks, { outcome: 'listed' })
    return result
  } catch (error) {
    if (!(error instanceof ToolServerFailed)) throw error
    const outcome = error.fault === 'unauthorized' ? 'refused' : 'failed'
    kernel.metrics.increment(serverChecks, { outcome })
    await kernel.transactions.write(scope, async (tx) => {
      await updateServerFailing(tx, server_key, error.fault)
      // The credential of a check that a person asks for is judged by that person.
      if (outcome === 'refused' && request.credential && !request.is_verification) {
        const { credential_id, version } = request.credential
        await credentialStore.updateVersionRejected(tx, credential_id, version)
      }
    })
    throw error
  }
}

interface ListContext {
  readonly kernel: CheckKernel
  readonly scope: Scope
  readonly signal: AbortSignal
}

async function listWithCredential(
  { kernel, scope, signal }: ListContext,
  server: ToolServerRow,
  { credential, is_verification = false }: CheckRequest,
): Promise<ListedTools> {
  const token = await getServerToken({ kernel, scope, signal, call_id: null, is_verification }, server, credential)
  const list = async (secrets: ServerSecrets): Promise<ListedTools> => {
    const exchange = createExchange(kernel, server, secrets, { tenant_id: scope.tenant_id })
    const listed = await listServerTools({ url: server.url, exchange, timeout_ms: LIST_TIMEOUT_MS })
    // Definitions are stored in clear and shown to many.
    const forms = listServerSecretForms(server, secrets)
    if (hasSecret([Buffer.from(JSON.stringify(listed))], forms)) throw new ToolServerFailed('result_invalid')
    return listed
  }
  if (!credential) return list(NO_SECRETS)
  const transact = <T>(body: (tx: Tx) => Promise<T>) => kernel.transactions.write(scope, body)
  const use = {
    ...credential,
    purpose: 'list_tools' as const,
    call_id: null,
    is_verification,
    mark: async () => undefined,
  }
  try {
    return await withCredential(kernel, transact, use, (members) =>
      list({ members, access_token: token?.text ?? null }),
    )
  } catch (error) {
    if (error instanceof CredentialNotUsable) throw new ToolServerFailed('unauthorized')
    throw error
  }
}

async function storeOffered(
  kernel: CheckKernel,
  tx: Tx,
  asked: ToolServerRow,
  { listed, offered }: { readonly listed: ListedTools; readonly offered: OfferedTools },
): Promise<CheckResult> {
  const { server_key } = asked
  const server = assertFound(await lockServer(tx, server_key))
  // It was moved to another address meanwhile: this list is not that of the server.
  if (server.url !== asked.url) throw new ToolServerFailed('aborted')
  const before = new Set(await listQuarantined(tx, server_key))
  const rows = [...offered.tools].map(([tool_name, definition]) => ({
    tool_name,
    offered: definition,
    offered_hash: hashDefinition(definition),
  }))
  await upsertOffered(tx, server_key, rows)
  await updateVanished(tx, server_key, [...offered.tools.keys()])
  const ttl_s = listed.ttl_ms === null ? null : listed.ttl_ms / 1000
  await updateServerChecked(tx, server_key, {
    protocol_version: listed.server.protocol_version,
    server_name: toStorable(listed.server.name),
    server_version: toStorable(listed.server.version),
    refused: offered.refused.slice(0, MAX_REFUSED),
    fresh_s: clamp(ttl_s ?? FRESH_S.max, FRESH_S),
    due_s: clamp(ttl_s ?? DUE_S.max, DUE_S),
  })
  const tools = await listTools(tx, [server_key])
  const quarantined = tools.filter(({ quarantined_at }) => quarantined_at !== null).map(({ tool_name }) => tool_name)
  for (const tool_name of quarantined.filter((name) => !before.has(name))) {
    kernel.metrics.increment(toolsQuarantined, {})
    kernel.log.warn({ tenant_id: tx.tenant_id, server_key, tool_name }, 'quarantined a tool that differs from its pin')
  }
  const states = tools.map(getToolState)
  return {
    tools: offered.tools.size,
    refused: offered.refused.length,
    new: states.filter((state) => state === 'new').length,
    pinned: states.filter((state) => state === 'pinned').length,
    quarantined,
  }
}

const listQuarantined = async (tx: Tx, server_key: string): Promise<string[]> =>
  (await listTools(tx, [server_key]))
    .filter(({ quarantined_at }) => quarantined_at !== null)
    .map(({ tool_name }) => tool_name)

const clamp = (seconds: number, { min, max }: { readonly min: number; readonly max: number }): number =>
  Math.min(Math.max(seconds, min), max)

const toStorable = (text: string | null): string | null => text?.replaceAll('\0', '') || null
