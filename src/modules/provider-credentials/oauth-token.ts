/** Asks a token endpoint for an access token by client credentials. */
import type { Capabilities } from '#kernel/kernel.ts'
import { declareMetric } from '#kernel/module-metrics.ts'
import { Problem } from '#kernel/problem.ts'
import { MAX_TOKEN_RESPONSE_BYTES, readTokenResponse, renderTokenRequest } from '#provider/access-token.ts'
import { fillCredentials } from '#provider/fill-credentials.ts'
import type { Auth } from '#provider/manifest.ts'
import type { FetchedToken } from './token-lease.ts'

export type TokenSettings = Parameters<typeof renderTokenRequest>[0]

const TOKEN_TIMEOUT_MS = 10_000

export const tokenRequests = declareMetric({
  name: 'probity_provider_token_requests_total',
  help: 'Requests to token endpoints of providers, by outcome.',
  labels: { outcome: ['issued', 'rejected', 'failed'] },
})

/** Null where access tokens are not used. */
export const getTokenSettings = ({ auth }: { readonly auth?: Auth }): TokenSettings | null =>
  auth?.kind === 'oauth2_client_credentials' ? auth : null

/** The token endpoint refused the client: the credential is rejected. */
export class TokenRefused extends Error {}

export interface TokenRequest {
  readonly settings: TokenSettings
  readonly hosts: readonly string[]
  /** Whose token it is, for the pool of connections and for messages. */
  readonly tenant_id: string
  readonly provider_key: string
  readonly signal?: AbortSignal
}

export async function requestToken(
  { metrics, egress }: Capabilities<'egress' | 'metrics'>,
  { settings, hosts, tenant_id, provider_key, signal }: TokenRequest,
  members: ReadonlyMap<string, Buffer>,
): Promise<FetchedToken> {
  const response = await egress
    .request({
      ...fillCredentials(renderTokenRequest(settings), { members }),
      pool_key: `${tenant_id}/${provider_key}`,
      allowed_hosts: hosts,
      timeout_ms: TOKEN_TIMEOUT_MS,
      max_bytes: MAX_TOKEN_RESPONSE_BYTES,
      ...(signal && { signal }),
    })
    .catch((error: unknown) => {
      metrics.increment(tokenRequests, { outcome: 'failed' })
      throw error
    })
  const outcome = readTokenResponse(response)
  metrics.increment(tokenRequests, { outcome: outcome.kind === 'token' ? 'issued' : outcome.kind })
  if (outcome.kind === 'token') return outcome
  if (outcome.kind === 'rejected') throw new TokenRefused()
  const detail = `The token endpoint of ${provider_key} gave no token (${outcome.fault}).`
  throw new Problem('dependency_unavailable', { detail, retry_after_s: 5, members: { fault: outcome.fault } })
}
