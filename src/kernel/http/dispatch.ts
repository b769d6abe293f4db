/**
 * Runs a declared route in its transaction mode and gives an answer ready to send. Idempotency and four eyes wrap the
 * handler inside the same transaction as its effect; no transaction is open while a client is waited for.
 */
import type { Readable } from 'node:stream'
import { AuditNotesCollector, getAuditedObject, recordEvent } from '../audit/record.ts'
import type { Scope, Tx } from '../database/tx.ts'
import type { JobRow } from '../job/queries.ts'
import { type Kernel, pickCapabilities } from '../kernel.ts'
import { ChangeRequestView, proposeIfGoverned } from '../request/approval.ts'
import { findBreakGlass, requestBreakGlassReview } from '../request/break-glass.ts'
import {
  computeFingerprint,
  type Idempotency,
  isReplayed,
  runIdempotent,
  type SerializedResponse,
} from '../request/idempotency.ts'
import type { ChangeRequestRow } from '../request/queries.ts'
import { toEtag } from '../revision.ts'
import { type Actor, isStreamReply, type RequestMetadata, type Route } from '../route.ts'
import type { TSchema } from '../schema.ts'
import { describeSchemaErrors } from './validation.ts'

export interface RequestInputs {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly request: RequestMetadata
}

export type DispatchResult =
  | SerializedResponse
  | {
      readonly status: number
      readonly headers: Record<string, string>
      readonly stream: AsyncIterable<string | Uint8Array>
    }

export interface DispatchOptions {
  readonly kernel: Kernel
  readonly fingerprint_key: Buffer
  /** In tests: a reply that breaks its declared contract is an internal error. */
  readonly strict_replies: boolean
}

/** For whom an answer is written, with the capabilities that the route declares. */
interface Reader {
  readonly actor: Actor
  readonly kernel: object
  read<T>(body: (tx: Tx) => Promise<T>): Promise<T>
}

export function createDispatch({ kernel, fingerprint_key: idempotency_key, strict_replies }: DispatchOptions) {
  const capabilities = new Map(kernel.routes.map((route) => [route, pickCapabilities(kernel, route.uses)]))
  const getCapabilities = (route: Route): object => capabilities.get(route) as object

  const serializeReply = (route: Route, schema: TSchema, value: unknown): string => {
    const body = JSON.stringify(value)
    const fault = strict_replies ? describeSchemaErrors(schema, JSON.parse(body)) : null
    if (fault) throw new Error(`${route.id} broke its declared reply: ${fault}`)
    return body
  }

  /** `visible` is what of the value the caller may read; headers are made from the whole. */
  const toResponse = (route: Route, value: unknown, visible: unknown): SerializedResponse => {
    const [status, schema] = route.reply
    if (status === 204) return { status, headers: {}, body: undefined }
    const headers = buildHeaders(route, value)
    // Two representations of one revision never share a strong ETag.
    if (visible !== value && headers['etag']) headers['etag'] = headers['etag'].replace(/"$/, '-redacted"')
    return { status, headers, body: serializeReply(route, schema as TSchema, visible) }
  }

  const toRedactedResponse = async (route: Route, value: unknown, reader: Reader): Promise<SerializedResponse> =>
    toResponse(route, value, route.redact ? await route.redact(value, reader) : value)

  /** A stored answer was written for the roles that the caller had then. A change request (202) has no such texts for them. */
  const replayResponse = async (
    route: Route,
    answer: SerializedResponse,
    reader: Reader,
  ): Promise<SerializedResponse> => {
    if (!route.redact || answer.body === undefined || !isReplayed(answer) || answer.status !== route.reply[0])
      return answer
    const value: unknown = JSON.parse(answer.body)
    const visible = await route.redact(value, reader)
    return visible === value ? answer : { ...answer, body: serializeReply(route, route.reply[1] as TSchema, visible) }
  }

  /** One change, one event, in the transaction of the change. */
  const recordChange = (
    tx: Tx,
    route: Route,
    inputs: RequestInputs,
    value: unknown,
    detail: Record<string, unknown>,
  ): void =>
    recordEvent(tx, kernel.auditKeys, {
      operation: route.id,
      request_id: inputs.request.id,
      detail,
      ...getAuditedObject(route, inputs.params, value, tx.tenant_id),
    })

  /** The write that carries the effect: once per key, through four eyes where the tenant asks for them. */
  const runEffect = async (
    tx: Tx,
    route: Route,
    inputs: RequestInputs,
    actor: Actor,
    idempotency: Idempotency | undefined,
    fingerprint: string,
    handle: () => Promise<unknown>,
    notes: AuditNotesCollector,
  ): Promise<SerializedResponse> => {
    const reader: Reader = { actor, kernel: getCapabilities(route), read: (body) => body(tx) }
    const answer = await runIdempotent(tx, idempotency, fingerprint, async () => {
      const emergency = await findBreakGlass(tx, route, inputs)
      const changeRequest = emergency ? undefined : await proposeIfGoverned(tx, route, inputs, handle)
      if (!changeRequest) {
        const made = await handle()
        const review_id = emergency && (await requestBreakGlassReview(tx, route, inputs, emergency))
        const value = review_id ? { ...(made as object), review_id } : made
        const marks = {
          ...(review_id && { break_glass: review_id }),
          ...(route.proposes && { proposed: (value as ChangeRequestRow).cr_id }),
        }
        recordChange(tx, route, inputs, value, { ...notes.detail, ...marks })
        return toRedactedResponse(route, value, reader)
      }
      recordChange(tx, route, inputs, changeRequest, { ...notes.detail, proposed: changeRequest.cr_id })
      return {
        status: 202,
        headers: { location: `/api/change-requests/${changeRequest.cr_id}` },
        body: serializeReply(route, ChangeRequestView, changeRequest),
      }
    })
    return replayResponse(route, answer, reader)
  }

  async function dispatch(
    route: Route,
    actor: Actor,
    inputs: RequestInputs,
    idempotencyKey: string | undefined,
  ): Promise<DispatchResult> {
    const scope: Scope = { tenant_id: actor.tenant_id, actor: actor.principal }
    const { transactions } = kernel
    const notes = new AuditNotesCollector(kernel.auditKeys)
    const { params, query, body, request } = inputs
    // Written out: spreading these, once for each request, was dearer than validating them.
    const used = getCapabilities(route)
    const buildInput = (tx: Tx) => ({ params, query, body, request, actor, kernel: used, audit: notes, tx })
    const idempotency: Idempotency | undefined =
      route.method === 'POST' && idempotencyKey !== undefined
        ? {
            principal: actor.principal,
            operation: route.id,
            key: idempotencyKey,
            secret: route.secret ?? false,
            mac_key: idempotency_key,
          }
        : undefined
    if (route.beforeTransaction) await route.beforeTransaction({ params, query, body, request, actor, kernel: used })
    if (route.tx === 'write') {
      const fingerprint = idempotency
        ? computeFingerprint(idempotency_key, {
            params: params ?? null,
            query: query ?? null,
            body: body ?? null,
          })
        : ''
      const answer = await transactions.write(scope, (tx) =>
        runEffect(tx, route, inputs, actor, idempotency, fingerprint, () => route.handle(buildInput(tx)), notes),
      )
      if (route.starts) kernel.jobs.wakeWorker()
      return answer
    }
    if (route.tx === 'self') return runSelfManaged(route, actor, scope, inputs, notes, idempotency)
    const value = await transactions[route.tx as 'one' | 'read'](scope, (tx) => route.handle(buildInput(tx)))
    // A read of something sensitive is itself recorded, before anything of it leaves.
    if (route.audited)
      await transactions.write(scope, async (tx) => recordChange(tx, route, inputs, value, notes.detail))
    return route.redact ? toRedactedResponse(route, value, createReader(route, actor, scope)) : toResult(route, value)
  }

  const createReader = (route: Route, actor: Actor, scope: Scope): Reader => ({
    actor,
    kernel: getCapabilities(route),
    read: (body) => kernel.transactions.read(scope, body),
  })

  async function dispatchPublic(route: Route, inputs: RequestInputs): Promise<DispatchResult> {
    const value = await route.handle({ ...inputs, kernel: getCapabilities(route) })
    const outcome = toResult(route, value)
    return route.alternateStatus?.when(value) ? { ...outcome, status: route.alternateStatus.status } : outcome
  }

  async function runSelfManaged(
    route: Route,
    actor: Actor,
    scope: Scope,
    inputs: RequestInputs,
    notes: AuditNotesCollector,
    idempotency: Idempotency | undefined,
  ): Promise<DispatchResult> {
    const { transactions } = kernel
    const reader = createReader(route, actor, scope)
    // A settled answer may be a repetition of an earlier one; it then takes the place of what the handler returns.
    let completed: SerializedResponse | undefined
    const value = await route.handle({
      actor,
      kernel: reader.kernel,
      audit: notes,
      read: <T>(body: (tx: Tx) => Promise<T>) => transactions.read(scope, body),
      write: <T>(body: (tx: Tx) => Promise<T>) => transactions.write(scope, body),
      settle: async <T>(fingerprint: string, body: (tx: Tx) => Promise<T>): Promise<T> => {
        completed = await transactions.write(scope, (tx) =>
          runIdempotent(
            tx,
            idempotency,
            idempotency ? computeFingerprint(idempotency_key, fingerprint) : '',
            async () => {
              const made = await body(tx)
              recordChange(tx, route, inputs, made, notes.detail)
              return toRedactedResponse(route, made, { ...reader, read: (each) => each(tx) })
            },
          ),
        )
        return (completed.body === undefined ? undefined : JSON.parse(completed.body)) as T
      },
      // Last: V8 gives an object to which members are added after a spread a shape of its own each time.
      ...inputs,
    })
    if (completed) return replayResponse(route, completed, reader)
    return route.redact ? toRedactedResponse(route, value, reader) : toResult(route, value)
  }

  function toResult(route: Route, value: unknown): DispatchResult {
    const [status, schema] = route.reply
    if (!isStreamReply(schema)) return toResponse(route, value, value)
    const { file_name, media_type = schema.media_types[0] as string } = value as {
      file_name?: string
      media_type?: string
    }
    const saved = file_name && { 'content-disposition': `attachment; filename="${file_name}"` }
    return {
      status,
      headers: { 'content-type': media_type, ...saved, ...buildHeaders(route, value) },
      stream: value as Readable,
    }
  }

  return { dispatch, dispatchPublic }
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
