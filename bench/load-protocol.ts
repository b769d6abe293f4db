/** What the measuring process and the load generator say to each other, and requests as the bytes that go over the wire. */

export interface LoadTarget {
  readonly port: number
  /** Connection n sends the n-th of these over and over. UNIQUE in a request is replaced by a new value each time. */
  readonly requests: readonly string[]
  readonly expected_status: number
}

export interface LoadOptions {
  /** Under load in turns, never together. */
  readonly targets: readonly LoadTarget[]
  /** To each target. */
  readonly connections: number
  readonly warmup_ms: number
  /** Of each target, in so many slices. */
  readonly duration_ms: number
  readonly slices: number
}

/** Of one target. */
export interface LoadResult {
  readonly per_second: number
  readonly slices_per_second: readonly number[]
  readonly p50_ms: number
  readonly p99_ms: number
  readonly responses: number
  /** Answers with another status, by status. */
  readonly unexpected: Readonly<Record<string, number>>
}

/** As long as what replaces it, so that Content-Length stays true. */
export const UNIQUE_PLACEHOLDER = '@@unique-value-for-each-request-sent'

export function buildRawRequest(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): string {
  const lines = Object.entries({
    host: 'bench',
    ...headers,
    ...(body !== undefined && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    }),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}
