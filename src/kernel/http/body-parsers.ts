/** Reads request bodies: JSON as a whole, scanned before it is parsed; an upload as a stream. */
import type { FastifyInstance } from 'fastify'
import type { Limits } from '../limits.ts'
import { Problem } from '../problem.ts'
import type { Route } from '../route.ts'
import { parseStrictJson } from '../strict-json.ts'
import { failOnSlowBody, readBody } from './request-body.ts'
import { getRequestContext, startProcessing } from './request-context.ts'
import { isFreeFormAt } from './validation.ts'

export const JSON_LIMIT_BYTES = 1024 * 1024

export function installBodyParsers(app: FastifyInstance, limits: Limits): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const context = getRequestContext(request)
    if (context.route?.bytes) {
      done(new Problem('media_type_unsupported', 'Send application/octet-stream.'))
      return
    }
    readBody(payload, { max_bytes: JSON_LIMIT_BYTES, receiving: context.bodyReservation }, (error, bytes) => {
      if (error) {
        done(error)
        return
      }
      let body: unknown
      try {
        startProcessing(context, limits)
        // Many clients declare JSON on requests that need no body; the handler decides whether one was needed.
        body = bytes === undefined || bytes.length === 0 ? undefined : parseStrictJson(bytes)
      } catch (fault) {
        done(toContentProblem(context.route, fault as Error))
        return
      }
      done(null, body)
    })
  })
  app.addContentTypeParser('application/octet-stream', (request, payload, done) => {
    if (!getRequestContext(request).route?.bytes) {
      done(new Problem('media_type_unsupported'))
      return
    }
    failOnSlowBody(payload)
    done(null, payload)
  })
}

/** A number that would lose precision is a fault of the content, not of the request, where the schema leaves the content open. */
function toContentProblem(route: Route | undefined, error: Error): Error {
  const [fault] = error instanceof Problem ? (error.extra.errors ?? []) : []
  if (!route?.body || !fault?.detail.startsWith('The number is beyond')) return error
  return isFreeFormAt(route.body, fault.pointer) ? new Problem('content_unstorable', { errors: [fault] }) : error
}
