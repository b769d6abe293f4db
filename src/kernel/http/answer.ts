/** How what a handler came to leaves the process: body or stream, 304 where the caller has it already, a link to the next page. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Route } from '../route.ts'
import type { Outcome } from './dispatch.ts'

/** `headers` is the caller's to give away: what the outcome has to say is added to it. */
export function answer(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: Outcome,
  headers: Record<string, string>,
): FastifyReply {
  Object.assign(headers, outcome.headers)
  const { status } = outcome
  if ('stream' in outcome) return reply.status(status).headers(headers).send(Readable.from(outcome.stream))
  const { etag } = outcome.headers
  if (route.method === 'GET' && etag !== undefined && matches(request.headers['if-none-match'], etag)) {
    return reply.status(304).headers(headers).send()
  }
  if (outcome.body === undefined) return reply.status(status).headers(headers).send()
  const next = route.method === 'GET' && route.query ? nextLink(request, outcome.body) : undefined
  if (next) headers['link'] = next
  headers['content-type'] = 'application/json; charset=utf-8'
  headers['content-length'] = String(Buffer.byteLength(outcome.body))
  // Written here and now: going through the framework's own way of sending, header by header, cost as much as finding the row.
  reply.raw.writeHead(status, headers)
  // Not before: what cannot be a header is still answered as an error.
  reply.hijack()
  reply.raw.end(outcome.body)
  return reply
}

const CURSOR_TAIL = /"next_cursor":"([A-Za-z0-9_.~-]+)"\}$/

function nextLink(request: FastifyRequest, body: string): string | undefined {
  const cursor = CURSOR_TAIL.exec(body.slice(-1200))?.[1]
  if (cursor === undefined) return undefined
  const url = new URL(request.url, 'http://any')
  url.searchParams.set('cursor', cursor)
  return `<${url.pathname}${url.search}>; rel="next"`
}

export const etagsIn = (header: string): readonly string[] | '*' =>
  header.trim() === '*' ? '*' : header.split(',').map((part) => part.trim())

/** If-None-Match compares weakly: W/ makes no difference. If-Match compares strongly, so there it does. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const given = etagsIn(header)
  return given === '*' || given.some((tag) => tag.replace(/^W\//, '') === etag)
}
