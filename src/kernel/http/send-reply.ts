/** Sends what a route returned: 304 for a version the client already has, a Link header for the next page. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProtocolReply } from '../declare-route.ts'
import type { Route } from '../route.ts'
import { parseEtags } from './request-inputs.ts'
import type { DispatchResult } from './response-builder.ts'

export function sendReply(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  outcome: DispatchResult,
): FastifyReply {
  reply.status(outcome.status).headers(outcome.headers)
  if ('stream' in outcome) return reply.send(Readable.from(outcome.stream))
  const etag = outcome.headers['etag']
  if (route.method === 'GET' && etag !== undefined && matchesEtag(request.headers['if-none-match'], etag)) {
    return reply.status(304).send()
  }
  if (outcome.body === undefined) return reply.send()
  const next = route.method === 'GET' && route.query ? buildNextLink(request, outcome.body) : undefined
  if (next) reply.header('link', next)
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .serializer((text: unknown) => text as string)
    .send(outcome.body)
}

export function sendProtocolReply(reply: FastifyReply, { status, headers, body }: ProtocolReply): FastifyReply {
  reply.status(status).headers(headers)
  if (body === undefined) return reply.send()
  if (typeof body !== 'string') return reply.send(Readable.from(body))
  return reply.serializer((text: unknown) => text as string).send(body)
}

const CURSOR_TAIL = /"next_cursor":"([A-Za-z0-9_.~-]+)"\}$/

function buildNextLink(request: FastifyRequest, body: string): string | undefined {
  const cursor = CURSOR_TAIL.exec(body.slice(-1200))?.[1]
  if (cursor === undefined) return undefined
  const url = new URL(request.url, 'http://any')
  url.searchParams.set('cursor', cursor)
  return `<${url.pathname}${url.search}>; rel="next"`
}

/** If-None-Match uses the weak comparison, which ignores W/. If-Match uses the strong one. */
function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const given = parseEtags(header)
  return given === '*' || given.some((tag) => tag.replace(/^W\//, '') === etag)
}
