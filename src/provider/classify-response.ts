/** What a response of a provider means. Whether its content is right is judged by the source contract. */
import { DEFAULT_MEDIA_TYPES, DEFAULT_NOT_FOUND, DEFAULT_OK, type HttpCapability } from './manifest.ts'

export interface ProviderResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export type ResponseFault =
  | 'status_unexpected'
  | 'media_type_unexpected'
  | 'body_empty'
  | 'unauthorized'
  | 'rate_limited'

/** `refused`: the provider does not accept the credential. `failed`: no answer; whether to repeat is planned by plan-retry.ts. */
export type ResponseOutcome =
  | { readonly kind: 'ok' | 'not_found'; readonly status: number; readonly media_type: string }
  | { readonly kind: 'refused'; readonly status: number; readonly fault: ResponseFault }
  | {
      readonly kind: 'failed'
      readonly status: number
      readonly fault: ResponseFault
      readonly retry_after_s: number | null
    }

export const UNKNOWN_MEDIA_TYPE = 'application/octet-stream'
const RATE_LIMITED = 429
const refusals = new Set([401, 403])

export function classifyResponse(
  { response: rules }: Pick<HttpCapability, 'response'>,
  { status, headers, body }: ProviderResponse,
  now_ms: number,
): ResponseOutcome {
  const media_type = getMediaType(headers)
  const fail = (fault: ResponseFault): ResponseOutcome => ({
    kind: 'failed',
    status,
    fault,
    retry_after_s: parseRetryAfter(headers['retry-after'], now_ms),
  })
  if ((rules?.ok ?? DEFAULT_OK).includes(status)) {
    if (body.length === 0) return fail('body_empty')
    const isExpected = (rules?.media_types ?? DEFAULT_MEDIA_TYPES).some((type) => type.toLowerCase() === media_type)
    return isExpected ? { kind: 'ok', status, media_type } : fail('media_type_unexpected')
  }
  if ((rules?.not_found ?? DEFAULT_NOT_FOUND).includes(status)) return { kind: 'not_found', status, media_type }
  if (refusals.has(status)) return { kind: 'refused', status, fault: 'unauthorized' }
  return fail(status === RATE_LIMITED ? 'rate_limited' : 'status_unexpected')
}

/** Without parameters, in lower case. */
export function getMediaType(headers: Readonly<Record<string, string>>): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';')
  const name = type.trim().toLowerCase()
  return /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(name) ? name : UNKNOWN_MEDIA_TYPE
}

/** RFC 9110: seconds or a date. Null where it says nothing usable. */
export function parseRetryAfter(text: string | undefined, now_ms: number): number | null {
  const value = text?.trim() ?? ''
  if (/^\d{1,15}$/.test(value)) return Number(value)
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(value)) return null
  const at_ms = Date.parse(value)
  return Number.isNaN(at_ms) ? null : Math.max(0, Math.ceil((at_ms - now_ms) / 1000))
}
