/** Stores a call before anything is sent: what was asked, of which version of the provider, and with which promise. */
import { randomUUID } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import type { ReadyProvider } from '#modules/provider-credentials/index.ts'
import { findBoundTool } from '#modules/tool-servers/index.ts'
import { checkInput } from '#provider/check-input.ts'
import { type StoredRequest, toStoredRequest } from '#provider/fill-credentials.ts'
import { InputNotRenderable, renderArguments, renderRequest } from '#provider/render-request.ts'
import { isDeclaredRepeatable } from '#provider/tools/tool-definition.ts'
import {
  type Capability,
  findCapability,
  getInputSchema,
  type HttpOperation,
  type ToolOperation,
} from './capability.ts'
import { type CallRow, insertCall } from './queries.ts'

export interface CallRequest {
  readonly capability: string
  readonly input: Readonly<Record<string, unknown>>
  readonly subject_id: string | null
  /** What asked for it: a second call with this key is not made. By default every call is new. */
  readonly call_key?: string
  readonly job_id?: string | null
  readonly repeats_call_id?: string | null
  /** Of the object that it is made for. */
  readonly restriction_id?: string | null
}

/** Whose key encrypts input and request: the subject's, or one of the call. */
export const getCallOwner = ({ subject_id, call_id }: Pick<CallRow, 'subject_id' | 'call_id'>) =>
  subject_id === null ? ({ kind: 'object', id: call_id } as const) : ({ kind: 'subject', id: subject_id } as const)

export const toCallLocation = (call_id: string, column: 'input' | 'request') => ({
  table: 'provider_call',
  row_id: call_id,
  column,
})

/** The capability of a provider, checked against the input; 409 and 422 with what is wrong. */
export function expectCapability(
  provider: Pick<ReadyProvider, 'provider_key' | 'manifest'>,
  request: Pick<CallRequest, 'capability' | 'input'>,
): Capability {
  const capability =
    findCapability(provider.manifest, request.capability) ??
    fail('conflict', `The provider ${provider.provider_key} has no such capability. It has: ${listNames(provider)}.`)
  const schema = getInputSchema(capability)
  const faults = checkInput(schema, request.input)
  if (faults.length > 0) {
    fail('validation_failed', {
      // A failed step shows the detail only.
      detail: `The input does not fit ${capability.name}: ${describeFaults(faults)}.`.slice(0, 1000),
      errors: faults.map(({ pointer, keyword, message }) => ({
        in: 'body' as const,
        pointer: `#/input${pointer}`,
        detail: message,
        keyword,
      })),
    })
  }
  return capability
}

const describeFaults = (faults: ReturnType<typeof checkInput>): string =>
  faults.map(({ pointer, message }) => `${pointer === '' ? 'it' : pointer.slice(1)} ${message}`).join(', ')

const listNames = ({ manifest }: Pick<ReadyProvider, 'manifest'>): string =>
  Object.keys((manifest['capabilities'] ?? {}) as object).join(', ')

/** The request as the ledger has it: input filled in, placeholders for credentials. */
function renderForLedger({ manifest, declared }: HttpOperation, input: CallRequest['input']) {
  try {
    return toStoredRequest(renderRequest(manifest, declared, input))
  } catch (error) {
    if (!(error instanceof InputNotRenderable)) throw error
    const pointer = `#/input/${error.input_name}`
    return fail('validation_failed', {
      detail: error.message,
      errors: [{ in: 'body', pointer, detail: error.message, keyword: 'pattern' }],
    })
  }
}

/** Headers and session belong to the protocol and are not known yet. */
const renderToolCall = ({ declared, manifest }: ToolOperation, input: CallRequest['input']): StoredRequest => ({
  method: 'tools/call',
  url: `mcp/${manifest.server_key}/${declared.tool}`,
  headers: {},
  body: JSON.stringify(renderArguments(declared, input)),
})

function renderStored(capability: Capability, input: CallRequest['input']): StoredRequest | null {
  if (capability.kind === 'http') return renderForLedger(capability, input)
  return capability.kind === 'mcp' ? renderToolCall(capability, input) : null
}

/**
 * A tool is called once at most, unless both sides say that it may be repeated: the manifest, and the annotations of the pinned
 * definition. What a server says of itself counts only since somebody approved it.
 */
async function getPromise(tx: Tx, capability: Capability): Promise<CallRow['promise']> {
  if (capability.kind !== 'mcp' || capability.promise === 'once') return capability.promise
  const { manifest, declared } = capability
  const bound = await findBoundTool(tx, { server_key: manifest.server_key, tool: declared.tool })
  return 'reasons' in bound || !isDeclaredRepeatable(bound.definition) ? 'once' : 'free'
}

/** A capability and the request that the input makes; 409 and 422 where no credential would make it possible. */
export function expectRenderable(
  provider: Pick<ReadyProvider, 'provider_key' | 'manifest'>,
  request: Pick<CallRequest, 'capability' | 'input'>,
) {
  const capability = expectCapability(provider, request)
  return { capability, rendered: renderStored(capability, request.input) }
}

/** Equal for equal inputs of one capability, within the tenant. */
export const hashInput = (
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  { provider_key, capability }: { readonly provider_key: string; readonly capability: string },
  input: CallRequest['input'],
): Promise<string> =>
  kernel.encryption.fingerprint(tx, `provider-input/${provider_key}/${capability}`, Buffer.from(canonicalJson(input)))

export async function createCall(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  provider: ReadyProvider,
  request: CallRequest,
): Promise<CallRow> {
  const { capability, rendered } = expectRenderable(provider, request)
  const call_id = uuidv7()
  const owner = getCallOwner({ subject_id: request.subject_id, call_id })
  const input = Buffer.from(canonicalJson(request.input))
  const encrypt = (column: 'input' | 'request', bytes: Buffer) =>
    kernel.encryption.encrypt(tx, owner, toCallLocation(call_id, column), bytes)
  const { provider_key, origin, version, mode, environment } = provider
  const stored = await insertCall(tx, {
    call_id,
    call_key: request.call_key ?? call_id,
    provider_key,
    provider_origin: origin,
    provider_version: version,
    capability: capability.name,
    contract_key: capability.contract_key,
    promise: await getPromise(tx, capability),
    mode,
    environment,
    subject_id: request.subject_id,
    restriction_id: request.restriction_id ?? null,
    input: await encrypt('input', input),
    request: rendered && (await encrypt('request', Buffer.from(JSON.stringify(rendered)))),
    input_hash: await hashInput(kernel, tx, { provider_key, capability: capability.name }, request.input),
    idempotency_key: randomUUID(),
    job_id: request.job_id ?? null,
    repeats_call_id: request.repeats_call_id ?? null,
  })
  return stored ?? fail('duplicate', 'This call has been made already.')
}

/** The input of a stored call. */
export const openInput = (
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  call: CallRow,
): Promise<Record<string, unknown>> => openColumn(kernel, tx, call, 'input')

/** The request of a stored call, with placeholders for credentials; null where the provider is not asked over HTTP or as a tool. */
export const openRequest = async (
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  call: CallRow,
): Promise<StoredRequest | null> => (call.request === null ? null : openColumn(kernel, tx, call, 'request'))

async function openColumn<T>(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  call: CallRow,
  column: 'input' | 'request',
): Promise<T> {
  const location = toCallLocation(call.call_id, column)
  const bytes = await kernel.encryption.decrypt(tx, getCallOwner(call), location, call[column] as Buffer)
  return JSON.parse(bytes.toString('utf8')) as T
}
