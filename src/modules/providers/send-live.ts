/**
 * Sends one request to a provider. That it is about to be sent is committed together with the opened credential, the limits of
 * the provider and its cost, before the first byte; no transaction is open while the provider is waited for.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { EgressResponse } from '#kernel/egress/egress.ts'
import { EgressFailed, type EgressFault } from '#kernel/egress/faults.ts'
import { Problem } from '#kernel/problem.ts'
import { accessTokens, credentialStore, findReadiness, withCredential } from '#modules/provider-credentials/index.ts'
import { classifyResponse } from '#provider/classify-response.ts'
import { hasSecret, hideSecrets, listSecretForms } from '#provider/echoed-secrets.ts'
import { CredentialNotUsable, fillCredentials } from '#provider/fill-credentials.ts'
import { getMaxBytes } from '#provider/manifest.ts'
import { type RenderedRequest, renderRequest } from '#provider/render-request.ts'
import type { FailedAttempt, ReceivedAnswer } from './answers.ts'
import type { HttpOperation, PluginOperation } from './capability.ts'
import { type CalledCall, observeBudget, reserveSend } from './limits/reserve-send.ts'
import type { SendState } from './limits/send-gate.ts'
import type { LoadedCall as AnyLoadedCall, CallRun } from './load-call.ts'
import type { PageChain } from './pages/page-chain.ts'
import type { AttemptRow } from './queries.ts'
import { CREDENTIAL_REJECTED } from './retry-plan.ts'

/** A call over HTTP. */
type LoadedCall = AnyLoadedCall & { readonly capability: HttpOperation | PluginOperation }

export interface LiveSend {
  readonly input: Readonly<Record<string, unknown>>
  readonly credential: { readonly credential_id: string; readonly version: number } | null
  readonly chain: PageChain
  /** As a plugin made it. */
  readonly rendered?: RenderedRequest
}

export type LiveResult =
  | { readonly answer: ReceivedAnswer }
  | { readonly failure: Omit<FailedAttempt, 'is_final'>; readonly retry_after_s: number | null }

const { discardToken, getAccessToken, getTokenSettings, requestToken, TokenRefused } = accessTokens
type AccessToken = accessTokens.AccessToken

type Members = ReadonlyMap<string, Buffer>
const NO_MEMBERS: Members = new Map()

export async function sendLive(
  run: CallRun,
  loaded: LoadedCall,
  attempt: AttemptRow,
  { input, credential, chain, rendered: given }: LiveSend,
): Promise<LiveResult> {
  const { kernel, scope } = run
  const { call, capability } = loaded
  const { manifest, declared } = capability
  const transact = <T>(body: (tx: Tx) => Promise<T>) => kernel.transactions.write(scope, body)
  const settings = getTokenSettings(manifest)
  const token = settings && credential ? await fetchAccessToken(run, loaded, settings, credential) : null
  if (token === 'refused') {
    if (await hasOtherVersion(run, loaded)) {
      const rejected = { outcome: 'failed' as const, fault: CREDENTIAL_REJECTED, http_status: null, duration_ms: null }
      return { failure: { ...rejected, is_outage: false }, retry_after_s: 0 }
    }
    const failure = { outcome: 'refused' as const, fault: 'token_refused', http_status: null, duration_ms: null }
    return { failure: { ...failure, is_outage: false }, retry_after_s: null }
  }
  const idempotency_key = toIdempotencyKey(call.idempotency_key, chain.page_no)
  const rendered =
    capability.kind === 'http'
      ? chain.toRequest(capability, renderRequest(capability.manifest, capability.declared, input, { idempotency_key }))
      : withIdempotencyKey(given as RenderedRequest, declared.idempotency_header, idempotency_key)
  let reserved: SendState | undefined
  const mark = async (tx: Tx) => {
    reserved = await reserveSend(tx, loaded, attempt, credential)
  }
  const max_bytes = Math.max(1, Math.min(getMaxBytes(declared), chain.available_bytes))
  const exchange = async (members: Members): Promise<ScreenedResponse> => {
    if (reserved) observeBudget(run, capability.limits, reserved)
    const response = await exchangeRequest(run, loaded, { rendered, max_bytes }, { members, token })
    const forms = listSecretForms(manifest, { members, ...(token && { access_token: token.text }) })
    const repeats_credential = hasSecret([...chain.pages, response.body], forms)
    return { ...response, headers: hideSecrets(response.headers, forms), repeats_credential }
  }
  try {
    const response = credential
      ? await withCredential(
          kernel,
          transact,
          {
            ...credential,
            purpose: run.credential ? 'verify' : 'call',
            call_id: call.call_id,
            is_verification: run.credential !== undefined,
            mark,
          },
          exchange,
        )
      : await transact(mark).then(() => exchange(NO_MEMBERS))
    return await interpretResponse(run, loaded, { credential, token }, response)
  } catch (error) {
    if (error instanceof EgressFailed) {
      const isJoinedLimit = error.fault === 'too_large' && max_bytes < getMaxBytes(declared)
      return toFailure(loaded, error, isJoinedLimit ? 'pages_too_large' : error.fault)
    }
    if (error instanceof CredentialNotUsable) return CREDENTIAL_NOT_USABLE
    throw error
  }
}

const withIdempotencyKey = (
  request: RenderedRequest,
  header: string | null | undefined,
  key: string,
): RenderedRequest =>
  header ? { ...request, headers: { ...request.headers, [header.toLowerCase()]: [key] } } : request

/** A page is a request of its own, with a key that stays the same when it is repeated. */
const toIdempotencyKey = (key: string, page_no: number): string => (page_no === 1 ? key : `${key}-${page_no}`)

/** Nothing of the attempt is used up while the token endpoint is down. */
export class TokenUnavailable extends Error {
  /** A fixed word, such as token_dns_failed: whether the endpoint was not reached or did not give a token. */
  readonly fault: string

  constructor(cause: EgressFailed | Problem) {
    super('The token endpoint gives no access token.')
    this.fault = cause instanceof EgressFailed ? `token_${cause.fault}` : getTokenFault(cause)
  }
}

const getTokenFault = ({ extra: { members } }: Problem): string =>
  typeof members?.['fault'] === 'string' ? members['fault'] : 'token_unavailable'

async function fetchAccessToken(
  run: CallRun,
  loaded: LoadedCall,
  settings: accessTokens.TokenSettings,
  credential: NonNullable<LiveSend['credential']>,
): Promise<AccessToken | 'refused'> {
  const transact = <T>(body: (tx: Tx) => Promise<T>) => run.kernel.transactions.write(run.scope, body)
  const source = {
    ...credential,
    is_verification: run.credential !== undefined,
    call_id: loaded.call.call_id,
    fetchToken: (members: Members) =>
      requestToken(
        run.kernel,
        {
          settings,
          hosts: loaded.capability.manifest.hosts,
          tenant_id: run.scope.tenant_id,
          provider_key: loaded.call.provider_key,
          signal: run.signal,
        },
        members,
      ),
  }
  try {
    return await getAccessToken(run.kernel, transact, source)
  } catch (error) {
    if (error instanceof TokenRefused) {
      const { credential_id, version } = credential
      await transact((tx) => credentialStore.updateVersionRejected(tx, credential_id, version))
      return 'refused'
    }
    if (error instanceof EgressFailed || (error instanceof Problem && error.code === 'dependency_unavailable')) {
      throw new TokenUnavailable(error)
    }
    throw error
  }
}

/** The values cannot be sent where they belong: nothing was sent. */
export const CREDENTIAL_NOT_USABLE: LiveResult = {
  failure: {
    outcome: 'not_sent',
    fault: 'credential_not_usable',
    http_status: null,
    duration_ms: null,
    is_outage: false,
  },
  retry_after_s: null,
}

/** A worker that shuts down does not abort it: the answer is paid for, and is stored as long as the process lives. */
async function exchangeRequest(
  { kernel, scope }: CallRun,
  { call, capability }: LoadedCall,
  { rendered, max_bytes }: { readonly rendered: RenderedRequest; readonly max_bytes: number },
  { members, token }: { readonly members: Members; readonly token: AccessToken | null },
): Promise<EgressResponse> {
  return kernel.egress.request({
    ...fillCredentials(rendered, { members, ...(token && { access_token: token.text }) }),
    pool_key: `${scope.tenant_id}/${call.provider_key}`,
    allowed_hosts: capability.manifest.hosts,
    timeout_ms: capability.timeout_ms,
    // A provider may compute for as long as its capability says before it answers.
    headers_timeout_ms: capability.timeout_ms,
    max_bytes,
    // An idle connection that breaks leaves the outcome unknown.
    ...(call.promise === 'once' && { fresh_connection: true }),
  })
}

/** Statuses that say that the provider cannot answer now. */
export const UNAVAILABLE: readonly number[] = [408, 425, 429, 500, 502, 503, 504]

/** The provider did not do what was asked. After any other response it may have, and may charge for it. */
export const isRefusal = (status: number): boolean => status >= 400 && status < 500 && status !== 408

/** A response in whose headers the credential is hidden. */
interface ScreenedResponse extends EgressResponse {
  /** Its body, or an earlier page, has the credential in it. */
  readonly repeats_credential: boolean
}

const KEPT_HEADERS = ['content-type', 'date', 'etag', 'last-modified', 'x-request-id']

async function interpretResponse(
  run: CallRun,
  loaded: LoadedCall,
  { credential, token }: { readonly credential: LiveSend['credential']; readonly token: AccessToken | null },
  response: ScreenedResponse,
): Promise<LiveResult> {
  const { call, capability } = loaded
  const { headers, body, duration_ms, repeats_credential } = response
  const judged = classifyResponse(capability.declared, response, Date.now())
  const ended = { http_status: judged.status, duration_ms: Math.round(duration_ms) }
  if (judged.kind === 'ok' || judged.kind === 'not_found') {
    const kept = Object.fromEntries(KEPT_HEADERS.flatMap((name) => (headers[name] ? [[name, headers[name]]] : [])))
    const result = judged.kind === 'ok' ? 'found' : 'not_found'
    const { media_type } = judged
    const answer = { source: 'provider', result, headers: kept, media_type, bytes: body, ...ended } as const
    return { answer: { ...answer, repeats_credential } }
  }
  if (judged.kind === 'failed') {
    const { fault, retry_after_s } = judged
    const is_outage = UNAVAILABLE.includes(judged.status)
    const outcome = call.promise === 'once' && !isRefusal(judged.status) ? 'unknown' : 'failed'
    return { failure: { outcome, fault, is_outage, ...ended }, retry_after_s }
  }
  return handleRefusal(run, loaded, { credential, token }, ended)
}

/** What follows when the credential is not accepted. */
export async function handleRefusal(
  run: CallRun,
  loaded: CalledCall,
  { credential, token }: { readonly credential: LiveSend['credential']; readonly token: AccessToken | null },
  ended: { readonly http_status: number | null; readonly duration_ms: number | null },
): Promise<LiveResult> {
  const { attempts } = loaded
  // The token may have been revoked early: it is replaced once before the credential counts as rejected.
  const transact = <T>(write: (tx: Tx) => Promise<T>) => run.kernel.transactions.write(run.scope, write)
  if (token && credential && !attempts.some(({ fault }) => fault === 'token_refused')) {
    await discardToken(transact, credential, token.token_no)
    return { failure: { outcome: 'failed', fault: 'token_refused', is_outage: true, ...ended }, retry_after_s: 0 }
  }
  if (credential) {
    const { credential_id, version } = credential
    await transact((tx) => credentialStore.updateVersionRejected(tx, credential_id, version))
    if (await hasOtherVersion(run, loaded)) {
      return {
        failure: { outcome: 'failed', fault: CREDENTIAL_REJECTED, is_outage: false, ...ended },
        retry_after_s: 0,
      }
    }
  }
  return { failure: { outcome: 'refused', fault: 'refused', is_outage: false, ...ended }, retry_after_s: null }
}

/** During a rotation the version before takes the place of one that the provider rejects. A call that promises once is not repeated. */
async function hasOtherVersion({ kernel, scope, credential }: CallRun, { call }: CalledCall): Promise<boolean> {
  if (credential || call.promise === 'once') return false
  const readiness = await kernel.transactions.read(scope, (tx) => findReadiness(kernel, tx, [call.provider_key]))
  return readiness.get(call.provider_key)?.ready != null
}

export const OUTAGES: readonly EgressFault[] = [
  'overloaded',
  'dns_failed',
  'connect_failed',
  'connect_timeout',
  'proxy_failed',
  'headers_timeout',
  'idle_timeout',
  'timeout',
  'connection_reset',
]

function toFailure({ call }: LoadedCall, { fault: cause, sent }: EgressFailed, fault: string): LiveResult {
  const is_outage = OUTAGES.includes(cause)
  // Without a complete response it is not known whether the provider acted on the request.
  const outcome = !sent ? 'not_sent' : call.promise === 'once' ? 'unknown' : 'failed'
  return {
    failure: { outcome, fault, http_status: null, duration_ms: null, is_outage },
    retry_after_s: null,
  }
}
