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
import { type Answer, fingerprintOf, type Idempotency, isRepeated, once } from '../request/idempotency.ts'
import type { ChangeRequestRow } from '../request/queries.ts'
import { etagOf } from '../revision.ts'
import { type Actor, isStreamed, type Reader, type RequestFacts, type Route } from '../route.ts'
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

  /** `visible` is what of the value the caller may read; headers are made from the whole. */
  const present = (route: Route, value: unknown, visible: unknown): Answer => {
    const [status, schema] = route.reply
    if (status === 204) return { status, headers: {}, body: undefined }
    const headers = headersOf(route, value)
    // Two representations of one revision never share a strong ETag.
    if (visible !== value && headers['etag']) headers['etag'] = headers['etag'].replace(/"$/, '-redacted"')
    return { status, headers, body: checked(route, schema as TSchema, visible) }
  }

  const presentTo = async (route: Route, value: unknown, reader: Reader): Promise<Answer> =>
    present(route, value, route.redact ? await route.redact(value, reader) : value)

  /** A stored answer was written for the roles that the caller had then. A change request (202) has no such texts for them. */
  const repeat = async (route: Route, answer: Answer, reader: Reader): Promise<Answer> => {
    if (!route.redact || answer.body === undefined || !isRepeated(answer) || answer.status !== route.reply[0])
      return answer
    const value: unknown = JSON.parse(answer.body)
    const visible = await route.redact(value, reader)
    return visible === value ? answer : { ...answer, body: checked(route, route.reply[1] as TSchema, visible) }
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
  const effect = async (
    tx: Tx,
    route: Route,
    inputs: Inputs,
    actor: Actor,
    idempotency: Idempotency | undefined,
    fingerprint: string,
    handle: () => Promise<unknown>,
    notes: CollectedNotes,
  ): Promise<Answer> => {
    const reader: Reader = { actor, kernel, read: (body) => body(tx) }
    const answer = await once(tx, idempotency, fingerprint, async () => {
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
        return presentTo(route, value, reader)
      }
      record(tx, route, inputs, waiting, { ...notes.detail, proposed: waiting.cr_id })
      return {
        status: 202,
        headers: { location: `/api/change-requests/${waiting.cr_id}` },
        body: checked(route, ChangeRequestView, waiting),
      }
    })
    return repeat(route, answer, reader)
  }

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
        effect(tx, route, inputs, actor, idempotency, fingerprint, () => route.handle(given(tx)), notes),
      )
      if (route.starts) kernel.jobs.nudge()
      return answer
    }
    if (route.tx === 'self') return runSelf(route, actor, scope, inputs, notes, idempotency)
    const value = await transactions[route.tx as 'one' | 'read'](scope, (tx) => route.handle(given(tx)))
    // A read of something sensitive is itself recorded, before anything of it leaves.
    if (route.audited) await transactions.write(scope, async (tx) => record(tx, route, inputs, value, notes.detail))
    return route.redact ? presentTo(route, value, readerOf(actor, scope)) : outcomeOf(route, value)
  }

  const readerOf = (actor: Actor, scope: Scope): Reader => ({
    actor,
    kernel,
    read: (body) => kernel.transactions.read(scope, body),
  })

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
    const reader = readerOf(actor, scope)
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
            return presentTo(route, made, { actor, kernel, read: (each) => each(tx) })
          }),
        )
        return (settled.body === undefined ? undefined : JSON.parse(settled.body)) as T
      },
      // Last: V8 gives an object to which members are added after a spread a shape of its own each time.
      ...inputs,
    })
    if (settled) return repeat(route, settled, reader)
    return route.redact ? presentTo(route, value, reader) : outcomeOf(route, value)
  }

  function outcomeOf(route: Route, value: unknown): Outcome {
    const [status, schema] = route.reply
    if (!isStreamed(schema)) return present(route, value, value)
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
