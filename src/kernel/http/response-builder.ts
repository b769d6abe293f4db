/** Builds the response of a route from the value its handler returned: status, headers, and serialized body or stream. */
import type { Readable } from 'node:stream'
import type { JobRow } from '../job/queries.ts'
import type { SerializedResponse } from '../request/idempotency.ts'
import { toEtag } from '../revision.ts'
import { isStreamReply, type Route } from '../route.ts'
import type { TSchema } from '../schema.ts'
import { describeSchemaErrors } from './validation.ts'

export type DispatchResult =
  | SerializedResponse
  | {
      readonly status: number
      readonly headers: Record<string, string>
      readonly stream: AsyncIterable<string | Uint8Array>
    }

export class ResponseBuilder {
  readonly #isStrict: boolean

  /** `isStrict`: a body that does not match its schema is an error. */
  constructor(isStrict: boolean) {
    this.#isStrict = isStrict
  }

  serialize(route: Route, schema: TSchema, value: unknown): string {
    const body = JSON.stringify(value)
    const fault = this.#isStrict ? describeSchemaErrors(schema, JSON.parse(body)) : null
    if (fault) throw new Error(`${route.id} broke its declared reply: ${fault}`)
    return body
  }

  serializeReply(route: Route, value: unknown): string {
    return this.serialize(route, route.reply[1] as TSchema, value)
  }

  /** `visible` is the part of the value that the caller may read; headers are made from the whole value. */
  toResponse(route: Route, value: unknown, visible: unknown): SerializedResponse {
    const status = route.alternateStatus?.when(value) ? route.alternateStatus.status : route.reply[0]
    if (status === 204) return { status, headers: {}, body: undefined }
    const headers = buildHeaders(route, value)
    // Two representations of one revision never share a strong ETag.
    if (visible !== value && headers['etag']) headers['etag'] = headers['etag'].replace(/"$/, '-redacted"')
    return { status, headers, body: this.serializeReply(route, visible) }
  }

  toResult(route: Route, value: unknown): DispatchResult {
    const [status, schema] = route.reply
    if (!isStreamReply(schema)) return this.toResponse(route, value, value)
    const { file_name, media_type = schema.media_types[0] as string } = value as {
      file_name?: string
      media_type?: string
    }
    const disposition = file_name && { 'content-disposition': toContentDisposition(file_name) }
    return {
      status,
      headers: { 'content-type': media_type, ...disposition, ...buildHeaders(route, value) },
      stream: value as Readable,
    }
  }
}

/**
 * By RFC 6266: an ASCII name for old clients, and where that is not the whole name, the name in UTF-8 by RFC 8187. Quotes and
 * backslashes would end the quoted text, and a percent sign is decoded by some browsers.
 */
export function toContentDisposition(file_name: string): string {
  const ascii = file_name.replaceAll(/[^\x20-\x7e]|["%\\]/gu, '_')
  if (ascii === file_name) return `attachment; filename="${file_name}"`
  const encoded = encodeURIComponent(file_name).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

function buildHeaders(route: Route, value: unknown): Record<string, string> {
  const headers: Record<string, string> = {}
  if (route.location) headers['location'] = `/api${route.location(value)}`
  if (route.starts) {
    headers['location'] = `/api/jobs/${(value as JobRow).job_id}`
    headers['retry-after'] = '1'
  }
  if (route.revisioned) headers['etag'] = toEtag((value as { revision: number }).revision)
  return route.headers ? { ...headers, ...route.headers(value) } : headers
}
