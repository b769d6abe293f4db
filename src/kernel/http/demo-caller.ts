/**
 * Who may use demo sign-in, which hands out tokens without a credential: pages of this server and programs on this machine. A
 * page of another site, a name that resolves to this machine (DNS rebinding) and a proxy are answered as if there were no route.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { type DemoSignIn, isLoopbackHost } from '../auth/demo-sign-in.ts'
import { fail } from '../problem.ts'

/**
 * Headers that proxies, load balancers and content delivery networks add: behind one, every client seems to be on this machine.
 * Matched by prefix or ending, because one of a family is enough to know.
 */
const PROXY_HEADERS = [
  /[-_](client-?ip|connecting-ip)$/,
  /^(forwarded|via|client-ip|cdn-loop|(wl-)?proxy-client-|true-client-|remote-addr|cf-|fastly-|fly-|ssl-client-|ngrok-|tailscale-)/,
  /^x-(forward|real-|client-|original-|originating-|remote-|proxy|cluster-client-|envoy-|rewrite-|host$|http-host|ssl-|scheme$|via$)/,
  /^x-(request-start|nginx-|sucuri-|arr-|azure-|amz|appengine-|cloud-trace|vercel-|nf-)/,
]

export function assertDemoCaller(
  headers: IncomingHttpHeaders,
  { allows_remote }: Pick<DemoSignIn, 'allows_remote'>,
  public_url: string | null,
): void {
  if (!isOwnPage(headers, public_url)) fail('not_found', 'Demo sign-in is there for the console of this server only.')
  if (!allows_remote && !isLocalRequest(headers)) {
    fail('not_found', 'Demo sign-in is there on this machine only, under http://localhost.')
  }
}

/**
 * Browsers send both headers with every POST of a script, and the second with every request to this machine; other programs send
 * neither. A page on another port of this machine is `same-site`, which is not enough.
 */
function isOwnPage({ origin, host = '', ...headers }: IncomingHttpHeaders, public_url: string | null): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  if (origin === undefined || origin === public_url) return true
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}

function isLocalRequest(headers: IncomingHttpHeaders): boolean {
  if (Object.keys(headers).some((name) => PROXY_HEADERS.some((pattern) => pattern.test(name)))) return false
  const [, name] = /^(.+?)(?::\d{1,5})?$/.exec(headers.host ?? '') ?? []
  return name !== undefined && isLoopbackHost(name)
}
