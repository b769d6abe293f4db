/**
 * Runs a declared route in its transaction mode and gives an answer ready to send. Idempotency and four eyes wrap the
 * handler inside the same transaction as its effect; no transaction is open while a client is waited for.
 */
import type { Readable } from 'node:stream'
import { CollectedNotes, objectOf, recordEvent } from '../audit/record.ts'
import type { Scope, Tx } from '../database/tx.ts'
import type { JobRow } from '../job/queries.ts'
import type { Kernel } from '../kernel.ts'
import { findEmergency, requestReview } from '../request/break-glass.ts'
import { ChangeRequestView, propose } from '../request/governed.ts'
import { type Answer, fingerprintOf, type Idempotency, once } from '../request/idempotency.ts'
import type { ChangeRequestRow } from '../request/queries.ts'
import { etagOf } from '../revision.ts'
import { type Actor, isStreamed, type RequestFacts, type Route } from '../route.ts'
import type { TSchema } from '../schema.ts'
import { schemaFault } from './validation.ts'

export interface Inputs {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly request: RequestFacts
}

export type Outcome =
  | Answer
  | {
      readonly status: number
      readonly headers: Record<string, string>
      readonly stream: AsyncIterable<string | Uint8Array>
    }

export interface DispatchOptions {
  readonly kernel: Kernel
  readonly idempotency_key: Buffer
  /** In tests: a reply that breaks its declared contract is an internal error. */
  readonly strict_replies: boolean
}

export function createDispatch({ kernel, idempotency_key, strict_replies }: DispatchOptions) {
  const checked = (route: Route, schema: TSchema, value: unknown): string => {
    const body = JSON.stringify(value)
    const fault = strict_replies ? schemaFault(schema, JSON.parse(body)) : null
    if (fault) throw new Error(`${route.id} broke its declared reply: ${fault}`)
    return body
  }

  const present = (route: Route, value: unknown): Answer => {
    const [status, schema] = route.reply
    if (status === 204) return { status, headers: {}, body: undefined }
    return { status, headers: headersOf(route, value), body: checked(route, schema as TSchema, value) }
  }

  /** One change, one event, in the transaction of the change. */
  const record = (tx: Tx, route: Route, inputs: Inputs, value: unknown, detail: Record<string, unknown>): void =>
    recordEvent(tx, kernel.audit, {
      operation: route.id,
      request_id: inputs.request.id,
      detail,
      ...objectOf(route, inputs.params, value, tx.tenant_id),
    })

  /** The write that carries the effect: once per key, through four eyes where the tenant asks for them. */
  const effect = (
    tx: Tx,
    route: Route,
    inputs: Inputs,
    idempotency: Idempotency | undefined,
    fingerprint: string,
    handle: () => Promise<unknown>,
    notes: CollectedNotes,
  ): Promise<Answer> =>
    once(tx, idempotency, fingerprint, async () => {
      const emergency = await findEmergency(tx, route, inputs)
      const waiting = emergency ? undefined : await propose(tx, route, inputs, handle)
      if (!waiting) {
        const value = await handle()
        const review_id = emergency && (await requestReview(tx, route, inputs, emergency))
        const marks = {
          ...(review_id && { break_glass: review_id }),
          ...(route.proposes && { proposed: (value as ChangeRequestRow).cr_id }),
        }
        record(tx, route, inputs, value, { ...notes.detail, ...marks })
        return present(route, value)
      }
      record(tx, route, inputs, waiting, { ...notes.detail, proposed: waiting.cr_id })
      return {
        status: 202,
        headers: { location: `/api/change-requests/${waiting.cr_id}` },
        body: checked(route, ChangeRequestView, waiting),
      }
    })

  async function dispatch(
    route: Route,
    actor: Actor,
    inputs: Inputs,
    idempotencyKey: string | undefined,
  ): Promise<Outcome> {
    const scope: Scope = { tenant_id: actor.tenant_id, actor: actor.principal }
    const { transactions } = kernel
    const notes = new CollectedNotes(kernel.audit)
    const { params, query, body, request } = inputs
    // Written out: spreading these, once for each request, was dearer than validating them.
    const given = (tx: Tx) => ({ params, query, body, request, actor, kernel, audit: notes, tx })
    const idempotency: Idempotency | undefined =
      route.method === 'POST' && idempotencyKey !== undefined
        ? {
            principal: actor.principal,
            operation: route.id,
            key: idempotencyKey,
            secret: route.secret ?? false,
            code_key: idempotency_key,
          }
        : undefined
    if (route.before) await route.before({ params, query, body, request, actor, kernel })
    if (route.tx === 'write') {
      const fingerprint = idempotency
        ? fingerprintOf(idempotency_key, {
            params: params ?? null,
            query: query ?? null,
            body: body ?? null,
          })
        : ''
      const answer = await transactions.write(scope, (tx) =>
        effect(tx, route, inputs, idempotency, fingerprint, () => route.handle(given(tx)), notes),
      )
      if (route.starts) kernel.jobs.nudge()
      return answer
    }
    if (route.tx === 'self') return runSelf(route, actor, scope, inputs, notes, idempotency)
    const value = await transactions[route.tx as 'one' | 'read'](scope, (tx) => route.handle(given(tx)))
    // A read of something sensitive is itself recorded, before anything of it leaves.
    if (route.audited) await transactions.write(scope, async (tx) => record(tx, route, inputs, value, notes.detail))
    return outcomeOf(route, value)
  }

  async function dispatchPublic(route: Route, inputs: Inputs): Promise<Outcome> {
    const value = await route.handle({ ...inputs, kernel })
    const outcome = outcomeOf(route, value)
    return route.otherwise?.when(value) ? { ...outcome, status: route.otherwise.status } : outcome
  }

  async function runSelf(
    route: Route,
    actor: Actor,
    scope: Scope,
    inputs: Inputs,
    notes: CollectedNotes,
    idempotency: Idempotency | undefined,
  ): Promise<Outcome> {
    const { transactions } = kernel
    // A settled answer may be a repetition of an earlier one; it then takes the place of what the handler returns.
    let settled: Answer | undefined
    const value = await route.handle({
      actor,
      kernel,
      audit: notes,
      read: <T>(body: (tx: Tx) => Promise<T>) => transactions.read(scope, body),
      write: <T>(body: (tx: Tx) => Promise<T>) => transactions.write(scope, body),
      settle: async <T>(fingerprint: string, body: (tx: Tx) => Promise<T>): Promise<T> => {
        settled = await transactions.write(scope, (tx) =>
          once(tx, idempotency, idempotency ? fingerprintOf(idempotency_key, fingerprint) : '', async () => {
            const made = await body(tx)
            record(tx, route, inputs, made, notes.detail)
            return present(route, made)
          }),
        )
        return (settled.body === undefined ? undefined : JSON.parse(settled.body)) as T
      },
      // Last: V8 gives an object to which members are added after a spread a shape of its own each time.
      ...inputs,
    })
    return settled ?? outcomeOf(route, value)
  }

  function outcomeOf(route: Route, value: unknown): Outcome {
    const [status, schema] = route.reply
    if (!isStreamed(schema)) return present(route, value)
    const { file_name } = value as { file_name?: string }
    const saved = file_name && { 'content-disposition': `attachment; filename="${file_name}"` }
    return {
      status,
      headers: { 'content-type': schema.media_type, ...saved, ...headersOf(route, value) },
      stream: value as Readable,
    }
  }

  return { dispatch, dispatchPublic }
}

function headersOf(route: Route, value: unknown): Record<string, string> {
  const headers: Record<string, string> = {}
  if (route.location) headers['location'] = `/api${route.location(value)}`
  if (route.starts) {
    headers['location'] = `/api/jobs/${(value as JobRow).job_id}`
    headers['retry-after'] = '1'
  }
  if (route.revisioned) headers['etag'] = etagOf((value as { revision: number }).revision)
  return route.headers ? { ...headers, ...route.headers(value) } : headers
}
