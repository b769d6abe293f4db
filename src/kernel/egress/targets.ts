/** Decides from the URL and the settings alone whether a request may be made, and which addresses it may reach. */
import { isIP } from 'node:net'
import { classifyAddress, isLocalAddress, isSameAddress } from './addresses.ts'
import { refuse } from './faults.ts'
import type { EgressSettings, PrivateHost } from './settings.ts'

export const MAX_URL_LENGTH = 8192
/** Ports of a manifest. */
const allowedPorts = new Set([443, 8443])
/** Visible ASCII without the backslash, which URL parsers read as a slash. */
const PLAIN_URL = /^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/

/** `public`: no private address. `listed`: private ones too. `local`: of this machine only. `any`: no check. */
export type AddressRule = 'public' | 'listed' | 'local' | 'any'

export interface Target {
  readonly origin: string
  readonly path: string
  /** A name, or an address without brackets. */
  readonly host: string
  readonly is_address: boolean
  readonly port: number
  readonly secure: boolean
  readonly rule: AddressRule
  readonly ca: string | null
  readonly uses_proxy: boolean
}

export interface TargetRequest {
  readonly url: string
  readonly allowed_hosts: readonly string[]
  readonly trust?: 'operator'
}

export function checkTarget(request: TargetRequest, settings: EgressSettings): Target {
  const url = parseUrl(request.url)
  const host = stripBrackets(url.hostname)
  const secure = url.protocol === 'https:'
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  const is_address = isIP(host) !== 0
  const listed = settings.private_hosts.find((each) => each.name === host && each.port === port)
  const is_exempt = is_address && isExempt(host, port, settings)
  const is_operator = request.trust === 'operator'
  if (!is_operator) checkManifestTarget({ request, settings, host, port, secure, listed, is_exempt })
  return {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    host,
    is_address,
    port,
    secure,
    rule: is_operator ? (secure ? 'any' : 'local') : listed ? 'listed' : 'public',
    ca: listed?.ca ?? null,
    // A proxy is for what lies outside: what the operator lists as private, or names by its address, is reached directly.
    uses_proxy: settings.proxy !== null && secure && !listed && !is_exempt && !(is_operator && is_address),
  }
}

/** The host must be written as it is read: `0x7f.1`, `2130706433` and `%6c%6fcalhost` have other forms, `host.` has two. */
function parseUrl(text: string): URL {
  if (text.length > MAX_URL_LENGTH || !PLAIN_URL.test(text) || !URL.canParse(text)) return refuse('url')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || /^[^/?#]*@/.test(text.slice(text.indexOf('//') + 2)))
    refuse('user_information')
  const [authority = ''] = text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)
  const written = authority.replace(/:\d*$/, '').toLowerCase()
  if (written !== url.hostname || written.endsWith('.')) refuse('url')
  return url
}

interface ManifestTarget {
  readonly request: TargetRequest
  readonly settings: EgressSettings
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly listed: PrivateHost | undefined
  readonly is_exempt: boolean
}

function checkManifestTarget({ request, settings, host, port, secure, listed, is_exempt }: ManifestTarget): void {
  if (!secure && !is_exempt) refuse('scheme')
  if (!allowedPorts.has(port) && !listed && !is_exempt && port !== settings.exempt?.port) refuse('port')
  if (!request.allowed_hosts.some((allowed) => stripBrackets(allowed.toLowerCase()) === host))
    refuse('host_not_in_manifest')
  const is_named = listed !== undefined || is_exempt
  if (!is_named && !isAllowedByOperator(host, settings)) refuse('host_not_allowed_by_operator')
}

function isAllowedByOperator(host: string, { hosts }: EgressSettings): boolean {
  if (hosts === null) return true
  return hosts.some((each) => (each.startsWith('*.') ? host.endsWith(each.slice(1)) : each === host))
}

/** One wrong address refuses the target, so that no order of answers and no retry selects it. */
export function checkAddresses(target: Target, addresses: readonly string[], settings: EgressSettings): void {
  const { rule, port } = target
  for (const address of addresses) {
    if (rule === 'any' || isExempt(address, port, settings)) continue
    if (rule === 'local') {
      if (!isLocalAddress(address)) refuse('address_not_local')
      continue
    }
    const found = classifyAddress(address)
    if (found !== 'public' && !(rule === 'listed' && found === 'private')) refuse('address_not_public')
  }
}

const isExempt = (address: string, port: number, { exempt }: EgressSettings): boolean =>
  exempt !== null && exempt.port === port && isSameAddress(exempt.address, address)

const stripBrackets = (host: string): string => host.replace(/^\[|\]$/g, '')
