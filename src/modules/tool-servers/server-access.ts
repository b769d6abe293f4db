/** How a tool server is reached: its URL through egress, with the tenant's credential, which neither the SDK nor anything else sees. */
import type { Scope, Tx } from '#kernel/database/tx.ts'
import { EgressFailed } from '#kernel/egress/faults.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import { accessTokens, credentialStore } from '#modules/provider-credentials/index.ts'
import { listSecretForms } from '#provider/echoed-secrets.ts'
import { CredentialNotUsable, fillCredentials } from '#provider/fill-credentials.ts'
import { renderRequest } from '#provider/render-request.ts'
import type { ToolExchange } from '#provider/tools/tool-connection.ts'
import { ToolServerFailed } from '#provider/tools/tool-faults.ts'
import type { ToolServerRow } from './queries.ts'

export type AccessKernel = Capabilities<'egress' | 'encryption' | 'metrics' | 'transactions'>
export type ServerCredential = { readonly credential_id: string; readonly version: number } | null

export interface ServerSecrets {
  readonly members: ReadonlyMap<string, Buffer>
  readonly access_token: string | null
}
export const NO_SECRETS: ServerSecrets = { members: new Map(), access_token: null }

/** Host names that the server and its token endpoint have: nothing else is reached on its behalf. */
export function listServerHosts({ url, auth }: Pick<ToolServerRow, 'url' | 'auth'>): string[] {
  const urls = auth.kind === 'oauth2_client_credentials' ? [url, auth.token_url] : [url]
  return [...new Set(urls.map((each) => new URL(each).hostname))]
}

export interface ExchangeOptions {
  readonly tenant_id: string
  /** An idle connection that breaks would leave the outcome of a call unknown. */
  readonly fresh_connection?: boolean
}

/** Sends what the SDK makes to the URL of the server, and adds the headers that authenticate. */
export function createExchange(
  { egress }: Capabilities<'egress'>,
  server: Pick<ToolServerRow, 'server_key' | 'url' | 'auth'>,
  { members, access_token }: ServerSecrets,
  { tenant_id, fresh_connection = false }: ExchangeOptions,
): ToolExchange {
  const rendered = renderRequest({ auth: server.auth }, { request: { method: 'POST', url: server.url } }, {})
  const secrets = { members, ...(access_token !== null && { access_token }) }
  const ready = fillCredentials(rendered, secrets)
  const [allowed_host = ''] = listServerHosts(server)
  return ({ headers, body, timeout_ms, max_bytes, is_call }) =>
    egress.request({
      ...ready,
      headers: { ...headers, ...ready.headers },
      body,
      pool_key: `${tenant_id}/${credentialStore.toCredentialKey(server.server_key)}`,
      allowed_hosts: [allowed_host],
      timeout_ms,
      max_bytes,
      // A tool may compute for as long as its capability says before it answers.
      ...(is_call && { headers_timeout_ms: timeout_ms }),
      ...(is_call && fresh_connection && { fresh_connection: true }),
    })
}

/** Every form in which the credential may be repeated in what came back. */
export const listServerSecretForms = (
  server: Pick<ToolServerRow, 'auth' | 'credential'>,
  { members, access_token }: ServerSecrets,
): string[] => listSecretForms(server, { members, ...(access_token !== null && { access_token }) })

export interface TokenContext {
  readonly kernel: AccessKernel
  readonly scope: Scope
  readonly signal: AbortSignal
  readonly call_id: string | null
  /** A person tries this version of the credential. */
  readonly is_verification?: boolean
}

/** Null where the server is called without an access token. Fails as the server itself would where none is given. */
export async function getServerToken(
  { kernel, scope, signal, call_id, is_verification = false }: TokenContext,
  server: ToolServerRow,
  credential: ServerCredential,
): Promise<accessTokens.AccessToken | null> {
  const settings = accessTokens.getTokenSettings(server)
  if (!settings || !credential) return null
  const transact = <T>(body: (tx: Tx) => Promise<T>) => kernel.transactions.write(scope, body)
  const request = {
    settings,
    hosts: listServerHosts(server),
    tenant_id: scope.tenant_id,
    provider_key: credentialStore.toCredentialKey(server.server_key),
    signal,
  }
  const fetchToken = (members: ReadonlyMap<string, Buffer>) => accessTokens.requestToken(kernel, request, members)
  try {
    return await accessTokens.getAccessToken(kernel, transact, {
      ...credential,
      is_verification,
      call_id,
      fetchToken,
    })
  } catch (error) {
    if (error instanceof accessTokens.TokenRefused) throw new ToolServerFailed('unauthorized')
    if (error instanceof EgressFailed) throw new ToolServerFailed(error.fault)
    if (error instanceof CredentialNotUsable) throw new ToolServerFailed('unauthorized')
    if (error instanceof Problem && error.code === 'dependency_unavailable')
      throw new ToolServerFailed('connect_failed')
    throw error
  }
}
