/**
 * Protects endpoints that programs on a person's machine call from pages of other sites: DNS rebinding gives such a page a name
 * that resolves to this server, and only the Host and Origin headers show it.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { fail } from '../problem.ts'
import type { Cors } from './response-headers.ts'

/** 403 unless the request names this server, and its page, if there is one, belongs to it or is listed. */
export function assertOwnOrigin(
  { host, origin }: Pick<IncomingHttpHeaders, 'host' | 'origin'>,
  public_url: string | null,
  cors: Pick<Cors, 'allows'>,
): void {
  if (!isOwnHost(host ?? '', public_url)) {
    fail('origin_not_allowed', 'The Host header names another server. PROBITY_PUBLIC_URL tells this one its own name.')
  }
  if (origin === undefined || origin === public_url || cors.allows(origin)) return
  // A page of the same host may use another scheme than the proxy in front.
  if (URL.canParse(origin) && new URL(origin).host === (host ?? '').toLowerCase()) return
  fail('origin_not_allowed', 'Pages of this origin may not call it. PROBITY_CORS_ORIGINS lists those that may.')
}

/**
 * The public name, an address, or a name without a dot. Nobody outside can make the last two resolve to this server: an address
 * is not resolved at all, and a single label is a name of the machine or of its own network.
 */
function isOwnHost(host: string, public_url: string | null): boolean {
  if (!URL.canParse(`http://${host}`) || /[@/?#\\]/.test(host)) return false
  const { hostname } = new URL(`http://${host}`)
  if (public_url !== null && hostname === new URL(public_url).hostname) return true
  return hostname !== '' && (isIP(hostname.replace(/^\[|\]$/g, '')) > 0 || !hostname.includes('.'))
}
