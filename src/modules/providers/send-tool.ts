/**
 * Calls a tool of a registered server once. The tool is compared with its pin first; that the call is about to be sent is committed
 * before the first byte, as for every provider; what comes back must fit the schema that the pinned tool declares.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { EgressFault } from '#kernel/egress/faults.ts'
import { withCredential } from '#modules/provider-credentials/index.ts'
import { payloadStore } from '#modules/source-contracts/index.ts'
import {
  type BoundTool,
  bindFreshTool,
  createExchange,
  getOutputSchema,
  getServerToken,
  listServerSecretForms,
  NO_SECRETS,
} from '#modules/tool-servers/index.ts'
import { parseRetryAfter } from '#provider/classify-response.ts'
import { hasSecret } from '#provider/echoed-secrets.ts'
import { CredentialNotUsable } from '#provider/fill-credentials.ts'
import { renderArguments } from '#provider/render-request.ts'
import { callServerTool } from '#provider/tools/tool-connection.ts'
import { type ToolFault, ToolServerFailed } from '#provider/tools/tool-faults.ts'
import type { ToolOperation } from './capability.ts'
import { observeBudget, reserveSend } from './limits/reserve-send.ts'
import type { SendState } from './limits/send-gate.ts'
import type { CallRun, LoadedCall } from './load-call.ts'
import type { AttemptRow } from './queries.ts'
import {
  CREDENTIAL_NOT_USABLE,
  handleRefusal,
  isRefusal,
  type LiveResult,
  type LiveSend,
  OUTAGES,
  UNAVAILABLE,
} from './send-live.ts'

type ToolCall = LoadedCall & { readonly capability: ToolOperation }
type ToolSend = Pick<LiveSend, 'input' | 'credential'>
type ServerToken = Awaited<ReturnType<typeof getServerToken>>

export async function sendToolCall(
  run: CallRun,
  loaded: ToolCall,
  attempt: AttemptRow,
  send: ToolSend,
): Promise<LiveResult> {
  const { kernel } = run
  const { call, capability } = loaded
  const { credential } = send
  const wanted = { server_key: capability.manifest.server_key, tool: capability.declared.tool }
  const started_ms = performance.now()
  let token: ServerToken = null
  try {
    const tool = await bindFreshTool(kernel, run, wanted, credential)
    token = await getServerToken(
      { ...run, call_id: call.call_id, is_verification: run.credential !== undefined },
      tool.server,
      credential,
    )
    const received = await exchangeCall(run, loaded, attempt, { ...send, tool, token })
    const ended = { http_status: received.http_status, duration_ms: Math.round(performance.now() - started_ms) }
    if (!(await fitsOutputSchema(run, tool, received.bytes))) {
      return {
        failure: { ...ended, outcome: getUnusableOutcome(loaded), fault: 'output_invalid', is_outage: false },
        retry_after_s: null,
      }
    }
    const { bytes, repeats_credential } = received
    const made_by = { kind: 'tool', ...wanted, pin_no: tool.pin_no, definition_hash: tool.pinned_hash }
    const answer = { source: 'provider', result: 'found', headers: {}, media_type: 'application/json', bytes } as const
    return { answer: { ...answer, ...ended, repeats_credential, made_by } }
  } catch (error) {
    if (error instanceof CredentialNotUsable) return CREDENTIAL_NOT_USABLE
    if (!(error instanceof ToolServerFailed)) throw error
    const ended = { http_status: error.http_status, duration_ms: Math.round(performance.now() - started_ms) }
    if (error.fault === 'unauthorized') return handleRefusal(run, loaded, { credential, token }, ended)
    return toFailure(loaded, error, ended)
  }
}

interface ReceivedContent {
  readonly bytes: Buffer
  readonly http_status: number
  readonly repeats_credential: boolean
}

async function exchangeCall(
  run: CallRun,
  loaded: ToolCall,
  attempt: AttemptRow,
  { tool, token, input, credential }: ToolSend & { readonly tool: BoundTool; readonly token: ServerToken },
): Promise<ReceivedContent> {
  const { kernel, scope } = run
  const { call, capability } = loaded
  const { server, definition } = tool
  const args = renderArguments(capability.declared, input)
  let reserved: SendState | undefined
  const mark = async (tx: Tx) => {
    reserved = await reserveSend(tx, loaded, attempt, credential)
  }
  const exchange = async (members: ReadonlyMap<string, Buffer>): Promise<ReceivedContent> => {
    if (reserved) observeBudget(run, capability.limits, reserved)
    const secrets = { members, access_token: token?.text ?? null }
    const options = { tenant_id: scope.tenant_id, fresh_connection: call.promise === 'once' }
    const connection = {
      url: server.url,
      exchange: createExchange(kernel, server, secrets, options),
      timeout_ms: capability.timeout_ms,
    }
    const { content, http_status } = await callServerTool(connection, definition, args)
    const bytes = Buffer.from(content)
    return { bytes, http_status, repeats_credential: hasSecret([bytes], listServerSecretForms(server, secrets)) }
  }
  const transact = <T>(body: (tx: Tx) => Promise<T>) => kernel.transactions.write(scope, body)
  if (!credential) return transact(mark).then(() => exchange(NO_SECRETS.members))
  const use = {
    ...credential,
    purpose: run.credential ? ('verify' as const) : ('call' as const),
    call_id: call.call_id,
    is_verification: run.credential !== undefined,
    mark,
  }
  return withCredential(kernel, transact, use, exchange)
}

async function fitsOutputSchema({ kernel, scope }: CallRun, tool: BoundTool, bytes: Buffer): Promise<boolean> {
  const schema = { schema: getOutputSchema(tool.definition), schema_hash: tool.pinned_hash }
  const violations = await payloadStore.findSchemaViolations(kernel, schema, bytes, scope.tenant_id)
  return violations.length === 0
}

/** The tool ran and its result cannot be used: whoever may call it once only decides what follows. */
const getUnusableOutcome = ({ call }: ToolCall) =>
  call.promise === 'once' ? ('unknown' as const) : ('failed' as const)

/** Faults after which the tool has done nothing, or says that it failed. */
const harmless: readonly (ToolFault | EgressFault)[] = ['tool_error', 'input_required', 'rate_limited']

function toFailure(
  loaded: ToolCall,
  { fault, http_status, retry_after, call_sent }: ToolServerFailed,
  ended: { readonly http_status: number | null; readonly duration_ms: number },
): LiveResult {
  const is_harmless = harmless.includes(fault) || (http_status !== null && isRefusal(http_status))
  const outcome = !call_sent ? 'not_sent' : is_harmless ? 'failed' : getUnusableOutcome(loaded)
  const is_outage =
    OUTAGES.some((each) => each === fault) || (http_status !== null && UNAVAILABLE.includes(http_status))
  return {
    failure: { outcome, fault, is_outage, ...ended },
    retry_after_s: parseRetryAfter(retry_after, Date.now()),
  }
}
