/** Reads request bodies: JSON as a whole, scanned before it is parsed; the bytes of an upload as they come. */
import type { FastifyInstance } from 'fastify'
import { readJson } from '../json-text.ts'
import type { Limits } from '../limits.ts'
import { Problem } from '../problem.ts'
import type { Route } from '../route.ts'
import { failWhenSlow, readWhole } from './request-body.ts'
import { isFreeAt } from './validation.ts'
import { startWork, visitOf } from './visit.ts'

export const JSON_LIMIT_BYTES = 1024 * 1024

export function installParsers(app: FastifyInstance, limits: Limits): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const visit = visitOf(request)
    if (visit.route?.bytes) {
      done(new Problem('media_type_unsupported', 'Send application/octet-stream.'))
      return
    }
    readWhole(payload, { max_bytes: JSON_LIMIT_BYTES, receiving: visit.receiving }, (error, bytes) => {
      if (error) {
        done(error)
        return
      }
      let body: unknown
      try {
        startWork(visit, limits)
        // Many clients declare JSON on requests that need no body; the handler decides whether one was needed.
        body = bytes === undefined || bytes.length === 0 ? undefined : readJson(bytes)
      } catch (fault) {
        done(inFreePart(visit.route, fault as Error))
        return
      }
      done(null, body)
    })
  })
  app.addContentTypeParser('application/octet-stream', (request, payload, done) => {
    if (!visitOf(request).route?.bytes) {
      done(new Problem('media_type_unsupported'))
      return
    }
    failWhenSlow(payload)
    done(null, payload)
  })
}

/** A number that would be rounded is no fault of the request where the schema leaves the content open, but of the content. */
function inFreePart(route: Route | undefined, error: Error): Error {
  const [fault] = error instanceof Problem ? (error.extra.errors ?? []) : []
  if (!route?.body || !fault?.detail.startsWith('The number is beyond')) return error
  return isFreeAt(route.body, fault.pointer) ? new Problem('content_unstorable', { errors: [fault] }) : error
}
