/** Converts any error into a problem, the only form of error a client sees. An unknown error becomes 500 without detail. */
import { Problem, problems } from '../problem.ts'

interface FrameworkError {
  readonly code?: string
  readonly statusCode?: number
}

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  // The request was abandoned: by its client, or because the process is closing.
  if (error instanceof DOMException && error.name === 'AbortError') return new Problem('shutting_down')
  const { code, statusCode } = (error ?? {}) as FrameworkError
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE' || statusCode === 413) return new Problem('too_large')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' || statusCode === 415) return new Problem('media_type_unsupported')
  if (code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH') {
    return new Problem('malformed_request', 'The body is not as long as Content-Length says.')
  }
  if (code === 'FST_ERR_BAD_URL')
    return new Problem('malformed_request', 'The path is not valid percent-encoded UTF-8.')
  if (code?.startsWith('FST_') && statusCode !== undefined && statusCode < 500) return new Problem('malformed_request')
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new Problem('malformed_request', 'The connection ended before the request was complete.')
  }
  const internal = new Problem('internal')
  internal.cause = error
  return internal
}

/** `metadata_url` tells a client where it learns which issuers are trusted (RFC 9728); null where that is not published. */
export function toProblemHeaders(problem: Problem, metadata_url: string | null = null): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/problem+json', ...problem.extra.headers }
  const { retry_after_s } = problem.extra
  if (retry_after_s !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retry_after_s)))
  else if ((problem.status === 503 || problem.status === 429) && 'retryable' in problems[problem.code])
    headers['retry-after'] = '1'
  // The rest of the request is not read.
  if (problem.status === 408) headers['connection'] = 'close'
  if (problem.status === 401 && headers['www-authenticate'] === undefined) {
    const error = problem.code === 'token_missing' ? '' : ', error="invalid_token"'
    const metadata = metadata_url === null ? '' : `, resource_metadata="${metadata_url}"`
    headers['www-authenticate'] = `Bearer realm="probity"${error}${metadata}`
  }
  return headers
}

/** A problem for a client that speaks JSON-RPC: the message of a request that was never read has no id. */
export const toJsonRpcError = (problem: Problem, body: Readonly<Record<string, unknown>>) => ({
  jsonrpc: '2.0',
  id: null,
  error: {
    code: problem.code === 'malformed_request' ? PARSE_ERROR : INVALID_REQUEST,
    message: String(body['title']),
    data: body,
  },
})
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600
