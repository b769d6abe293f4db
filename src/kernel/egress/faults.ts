/**
 * The words with which an outbound request fails. They are all that callers and tenants learn: a text of the other side or an address
 * would turn the service into a port scanner.
 */

export const egressFaults = {
  egress_refused: 'the URL, host or address is not allowed',
  overloaded: 'too many requests to this host are in progress',
  dns_failed: 'the name of the host cannot be resolved',
  connect_failed: 'the host does not accept connections',
  connect_timeout: 'the connection was not established in time',
  proxy_failed: 'the proxy did not open a connection',
  tls_invalid: 'the certificate or the TLS protocol of the host is not acceptable',
  headers_timeout: 'the response did not begin in time',
  idle_timeout: 'the response stopped before its end',
  timeout: 'the response was not complete in time',
  connection_reset: 'the host closed the connection before the response was complete',
  response_invalid: 'the response is not valid HTTP or its encoding cannot be read',
  redirect_refused: 'the host answered with a redirect, which is never followed',
  too_large: 'the response is larger than allowed',
  aborted: 'the request was aborted by this service',
} as const

export type EgressFault = keyof typeof egressFaults

/** Why a request was refused, for the log of the operator. */
export type RefusalReason =
  | 'url'
  | 'scheme'
  | 'port'
  | 'user_information'
  | 'host_not_in_manifest'
  | 'host_not_allowed_by_operator'
  | 'address_not_public'
  | 'address_not_local'
  | 'remote_address_differs'
  | 'request'

export class EgressFailed extends Error {
  override readonly name = 'EgressFailed'
  readonly fault: EgressFault
  /** False: no byte of the request was sent. */
  readonly sent: boolean
  readonly reason: RefusalReason | null

  constructor(fault: EgressFault, details: { readonly sent: boolean; readonly reason?: RefusalReason }) {
    super(`${fault}: ${egressFaults[fault]}`)
    this.fault = fault
    this.sent = details.sent
    this.reason = details.reason ?? null
  }
}

/** Before anything is sent. */
export const refuse = (reason: RefusalReason): never => {
  throw new EgressFailed('egress_refused', { sent: false, reason })
}

const clientErrors: Readonly<Record<string, EgressFault>> = {
  UND_ERR_HEADERS_TIMEOUT: 'headers_timeout',
  UND_ERR_BODY_TIMEOUT: 'idle_timeout',
  UND_ERR_HEADERS_OVERFLOW: 'response_invalid',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'response_invalid',
  UND_ERR_INVALID_ARG: 'egress_refused',
  UND_ERR_REQ_CONTENT_LENGTH_MISMATCH: 'egress_refused',
  UND_ERR_CLOSED: 'aborted',
  UND_ERR_DESTROYED: 'aborted',
  UND_ERR_ABORTED: 'aborted',
}

/** An error of the HTTP client or of a socket in use. */
export function toFault(error: Error): EgressFault {
  const { code = '', name = '' } = error as NodeJS.ErrnoException
  const known = clientErrors[code]
  if (known) return known
  if (name === 'HTTPParserError') return 'response_invalid'
  if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return 'tls_invalid'
  return 'connection_reset'
}
