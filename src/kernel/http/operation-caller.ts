/**
 * Calls a declared operation for a caller of another protocol: limits, role, validation and dispatch in the order of HTTP, by the
 * same code. What names a tool or a resource leaves exactly one audit event, reads and refusals included.
 */
import { toAlarmReason } from '../alarm.ts'
import { getAuditedObject, getOnlyRestriction, recordEvent } from '../audit/record.ts'
import { GroupCommit } from '../database/group-commit.ts'
import { requestScope, unrestrictedScope } from '../database/scope.ts'
import type { Kernel } from '../kernel.ts'
import { fail } from '../problem.ts'
import type { SerializedResponse } from '../request/idempotency.ts'
import type { CallInputs, CallOrigin, CallOutcome } from '../request/operation-call.ts'
import type { Actor, Route } from '../route.ts'
import { assertRole } from './authentication.ts'
import { type CallRecord, Dispatcher } from './dispatch.ts'
import { toProblem } from './problem-reply.ts'
import { assertValidInputs } from './request-inputs.ts'

export class OperationCaller {
  readonly #kernel: Kernel
  readonly #dispatcher: Dispatcher
  readonly #routes: ReadonlyMap<string, Route>
  readonly #records: GroupCommit

  constructor(kernel: Kernel, strict_replies: boolean) {
    const fingerprint_key = kernel.integrity.current('idempotency-fingerprint')
    this.#kernel = kernel
    this.#dispatcher = new Dispatcher({ kernel, fingerprint_key, strict_replies })
    this.#routes = new Map(kernel.routes.map((route) => [route.id, route]))
    this.#records = new GroupCommit(kernel.transactions)
  }

  async call(operation: string, actor: Actor, inputs: CallInputs, origin: CallOrigin): Promise<SerializedResponse> {
    const route = this.#routes.get(operation) ?? fail('not_found')
    const record = origin.recorded && createRecord(origin.recorded)
    try {
      const response = await this.#run(route, actor, inputs, { ...origin, record })
      if (record && !record.isRecorded) {
        const value = response.body === undefined ? null : JSON.parse(response.body)
        const restriction_id = getRestrictionId(record)
        await this.#recordCall(route, actor, { inputs, origin, value, problem: null, restriction_id })
      }
      return response
    } catch (error) {
      const problem = toProblem(error)
      if (problem.code === 'internal') {
        const facts = { err: error, request_id: origin.request.id, operation: route.id }
        this.#kernel.raiseAlarm(toAlarmReason(error), facts, 'internal error')
      }
      // An event of the effect was rolled back with it.
      if (record && !record.isRecorded) {
        const restriction_id = getRestrictionId(record)
        await this.#recordCall(route, actor, { inputs, origin, value: null, problem: problem.code, restriction_id })
      }
      throw problem
    }
  }

  async #run(
    route: Route,
    actor: Actor,
    inputs: CallInputs,
    { request, idempotency_key, record }: CallOrigin & { record: CallRecord | undefined },
  ): Promise<SerializedResponse> {
    const { limits, tenantStatusCache } = this.#kernel
    const status = (await tenantStatusCache.get(actor.tenant_id)) ?? fail('token_invalid')
    limits.takeToolCall(actor.tenant_id, actor.principal, status)
    assertRole(route, actor)
    assertValidInputs(route, inputs)
    const response = await this.#dispatcher.dispatch(
      route,
      actor,
      { ...inputs, request },
      // Nothing restricted reaches an assistant, whatever its caller may see: texts that it gets leave the service.
      { idempotencyKey: idempotency_key, record, scope: unrestrictedScope(actor.tenant_id, actor.principal) },
    )
    if ('stream' in response) throw new Error(`${route.id} answers a stream and cannot be called as an operation`)
    return response
  }

  #recordCall(
    route: Route,
    actor: Actor,
    call: { inputs: CallInputs; origin: CallOrigin } & Omit<CallOutcome, 'event_id'>,
  ): Promise<void> {
    const { inputs, origin, value, problem, restriction_id } = call
    const recorded = origin.recorded as NonNullable<CallOrigin['recorded']>
    return this.#records.write(requestScope(actor), (tx) => {
      const event_id = recordEvent(tx, this.#kernel.auditKeys, {
        operation: route.id,
        request_id: origin.request.id,
        detail: { ...recorded.detail, ...(problem !== null && { ...recorded.refused, problem }) },
        restriction_id,
        ...getAuditedObject(route, getNamedObject(route, inputs, problem), value, tx.tenant_id),
      })
      recorded.onEvent(tx, { event_id, problem, value, restriction_id })
    })
  }
}

/** Arguments that were refused may be anything: an event names only objects that exist. */
const getNamedObject = (route: Route, { params }: CallInputs, problem: string | null): unknown =>
  problem === null && route.params ? params : undefined

const getRestrictionId = ({ notes, restriction_id }: CallRecord): string | null =>
  notes ? getOnlyRestriction(notes.restriction) : restriction_id

function createRecord({ detail, restriction_id = null, onEvent }: NonNullable<CallOrigin['recorded']>): CallRecord {
  return {
    detail,
    restriction_id,
    onEvent: (tx, event) => onEvent(tx, { ...event, problem: null }),
    isRecorded: false,
    isNoted: false,
    notes: null,
  }
}
