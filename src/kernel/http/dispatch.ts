/**
 * Runs a declared route in its transaction mode and returns a response ready to send. Idempotency and approval run inside the same
 * transaction as the effect; no transaction is open while a client is waited for.
 */
import { AuditNotesCollector, getAuditedObject, getOnlyRestriction, recordEvent } from '../audit/record.ts'
import { requestScope, type Scope } from '../database/scope.ts'
import type { Transactions, Tx } from '../database/tx.ts'
import type { ProtocolInput, ProtocolReply } from '../declare-route.ts'
import { type Kernel, pickCapabilities } from '../kernel.ts'
import { ChangeRequestView, type ProposedChange, proposeIfGoverned } from '../request/approval.ts'
import { findBreakGlass, requestBreakGlassReview } from '../request/break-glass.ts'
import { PROPOSAL_REVIEW } from '../request/change-reviews.ts'
import {
  computeFingerprint,
  findReplay,
  type Idempotency,
  isReplayed,
  runIdempotent,
  type SerializedResponse,
} from '../request/idempotency.ts'
import type { Actor, RequestMetadata, Route } from '../route.ts'
import { type DispatchResult, ResponseBuilder } from './response-builder.ts'

export interface RequestInputs {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly request: RequestMetadata
}

export interface RecordedEvent {
  readonly event_id: string
  readonly value: unknown
  readonly restriction_id: string | null
}

/** What is recorded of a request that did not come as an HTTP request of its own. */
export interface CallRecord {
  /** Members of the event. */
  readonly detail: Readonly<Record<string, unknown>>
  /** Of the event, unless the handler notes that of its object. */
  readonly restriction_id: string | null
  /** Stores what the caller of the operation keeps of it, in the transaction of the event. */
  onEvent(tx: Tx, event: RecordedEvent): void
  /** Set when a transaction that records the event was committed. */
  isRecorded: boolean
  /** Set while a transaction that records the event runs. */
  isNoted: boolean
  /** Of the request, once it is dispatched: the handler notes the restriction of its object there. */
  notes: Pick<AuditNotesCollector, 'restriction'> | null
}

export interface DispatchOptions {
  readonly idempotencyKey?: string | undefined
  readonly record?: CallRecord | undefined
  /** Instead of what the caller may see. */
  readonly scope?: Scope
}

export interface DispatcherOptions {
  readonly kernel: Kernel
  readonly fingerprint_key: Buffer
  /** In tests: a reply that does not match its declared schema is an internal error. */
  readonly strict_replies: boolean
}

/** One request of a tenant while its route runs. */
interface Execution {
  readonly route: Route
  readonly actor: Actor
  readonly inputs: RequestInputs
  readonly scope: Scope
  /** The capabilities that the route declares. */
  readonly kernel: object
  readonly notes: AuditNotesCollector
  readonly idempotency: Idempotency | undefined
  readonly record: CallRecord | undefined
}

/** For whom a reply is redacted. */
interface Reader {
  readonly actor: Actor
  readonly kernel: object
  read<T>(body: (tx: Tx) => Promise<T>): Promise<T>
}

const toProposalDetail = ({ cr_id, existing }: ProposedChange) => ({ proposed: cr_id, ...(existing && { existing }) })

/** A read is recorded where its route says so, and where the object has a restriction in force. */
const isRecordedRead = ({ route, notes }: Execution): boolean =>
  route.audited === true || (route.method === 'GET' && notes.restriction.is_in_force)

export class Dispatcher {
  readonly #kernel: Kernel
  readonly #transactions: Transactions
  readonly #fingerprint_key: Buffer
  readonly #responses: ResponseBuilder
  readonly #capabilities: ReadonlyMap<Route, object>

  constructor({ kernel, fingerprint_key, strict_replies }: DispatcherOptions) {
    this.#kernel = kernel
    this.#transactions = kernel.transactions
    this.#fingerprint_key = fingerprint_key
    this.#responses = new ResponseBuilder(strict_replies)
    const protocols = kernel.modules.flatMap((module) => module.protocols ?? [])
    this.#capabilities = new Map(
      [...kernel.routes, ...protocols].map((route) => [route, pickCapabilities(kernel, route.uses)]),
    )
  }

  dispatchProtocol(route: Route, input: ProtocolInput<never>): Promise<ProtocolReply> {
    return route.handle({ ...input, kernel: this.#capabilities.get(route) }) as Promise<ProtocolReply>
  }

  async dispatchPublic(route: Route, inputs: RequestInputs): Promise<DispatchResult> {
    const value = await route.handle({ ...inputs, kernel: this.#capabilities.get(route) })
    return this.#responses.toResult(route, value)
  }

  async dispatch(
    route: Route,
    actor: Actor,
    inputs: RequestInputs,
    { idempotencyKey, record, scope = requestScope(actor) }: DispatchOptions,
  ): Promise<DispatchResult> {
    const kernel = this.#capabilities.get(route) as object
    const notes = new AuditNotesCollector(this.#kernel.auditKeys)
    const execution: Execution = {
      route,
      actor,
      inputs,
      scope,
      kernel,
      notes,
      idempotency: this.#createIdempotency(route, actor, notes, idempotencyKey),
      record,
    }
    if (record) {
      record.notes = notes
      notes.belongsTo({ restriction_id: record.restriction_id, is_in_force: false })
    }
    if (route.beforeTransaction) {
      const { params, query, body, request } = inputs
      await route.beforeTransaction({ params, query, body, request, actor, kernel })
    }
    if (route.tx === 'write') return this.#runWrite(execution)
    if (route.tx === 'self') return this.#runSelfManaged(execution)
    return this.#runRead(execution, route.tx as 'one' | 'read')
  }

  #createIdempotency(
    route: Route,
    actor: Actor,
    notes: AuditNotesCollector,
    key: string | undefined,
  ): Idempotency | undefined {
    if (route.method !== 'POST' || key === undefined) return undefined
    const { principal } = actor
    return { principal, operation: route.id, key, secret: route.secret ?? false, mac_key: this.#fingerprint_key, notes }
  }

  async #runRead(execution: Execution, mode: 'one' | 'read'): Promise<DispatchResult> {
    const { route, scope } = execution
    const value = await this.#transactions[mode](scope, (tx) => this.#handle(execution, tx))
    // A read of something sensitive is itself recorded, before anything of it is sent.
    if (isRecordedRead(execution)) await this.#write(execution, async (tx) => this.#recordChange(execution, tx, value))
    if (!route.redact) return this.#responses.toResult(route, value)
    return this.#redact(route, value, this.#createReader(execution))
  }

  /** The members are written out: spreading `inputs` for each request costs more than validating it. */
  #handle({ route, inputs: { params, query, body, request }, actor, kernel, notes }: Execution, tx: Tx) {
    return route.handle({ params, query, body, request, actor, kernel, audit: notes, tx })
  }

  async #runWrite(execution: Execution): Promise<DispatchResult> {
    const { route, inputs, idempotency } = execution
    const { params = null, query = null, body = null } = inputs
    const fingerprint = idempotency ? computeFingerprint(this.#fingerprint_key, { params, query, body }) : ''
    const response = await this.#write(execution, async (tx) => {
      const reader = this.#createReader(execution, tx)
      const settled = await runIdempotent(tx, idempotency, fingerprint, () => this.#runEffect(execution, tx, reader))
      return this.#redactReplayed(route, settled, reader)
    })
    if (route.starts) this.#kernel.jobs.wakeWorker()
    return response
  }

  /** Runs the handler, or stores a change request where the tenant's policy requires approval. */
  async #runEffect(execution: Execution, tx: Tx, reader: Reader): Promise<SerializedResponse> {
    const { route, inputs } = execution
    const handle = () => this.#handle(execution, tx)
    const breakGlass = await findBreakGlass(tx, route, inputs)
    const changeRequest = breakGlass
      ? undefined
      : await proposeIfGoverned(tx, route, inputs, {
          run: handle,
          audit: execution.notes,
          request: inputs.request,
        })
    if (changeRequest) {
      const stored = await this.#reviewProposal(tx, changeRequest)
      this.#recordChange(execution, tx, stored, toProposalDetail(stored))
      return {
        status: 202,
        headers: { location: `/api/change-requests/${stored.cr_id}` },
        body: this.#responses.serialize(route, ChangeRequestView, stored),
      }
    }
    const handled = await handle()
    const made = route.proposes ? await this.#reviewProposal(tx, handled as ProposedChange) : handled
    const review_id = breakGlass && (await requestBreakGlassReview(tx, route, inputs, breakGlass))
    const value = review_id ? { ...(made as object), review_id } : made
    this.#recordChange(execution, tx, value, {
      ...(review_id && { break_glass: review_id }),
      ...(route.proposes && toProposalDetail(value as ProposedChange)),
    })
    return this.#redact(route, value, reader)
  }

  async #reviewProposal(tx: Tx, proposed: ProposedChange): Promise<ProposedChange> {
    const reviews = await this.#kernel.reviews.begin(PROPOSAL_REVIEW, tx, proposed)
    let stored = proposed
    for (const finish of reviews) for (const changed of await finish()) stored = { ...stored, ...(changed as object) }
    return stored
  }

  async #runSelfManaged(execution: Execution): Promise<DispatchResult> {
    const { route, actor, inputs, scope, kernel, notes } = execution
    const transactions = this.#transactions
    const reader = this.#createReader(execution)
    // A settled response may be the stored one of an earlier request; it then replaces what the handler returns.
    let settled: SerializedResponse | undefined
    const parse = <T>({ body }: SerializedResponse) => (body === undefined ? undefined : JSON.parse(body)) as T
    const value = await route.handle({
      actor,
      kernel,
      audit: notes,
      read: <T>(body: (tx: Tx) => Promise<T>) => transactions.read(scope, body),
      write: <T>(body: (tx: Tx) => Promise<T>) => transactions.write(scope, body),
      settle: async <T>(fingerprint: string, body: (tx: Tx) => Promise<T>): Promise<T> => {
        settled = await this.#settle(execution, fingerprint, body)
        return parse<T>(settled)
      },
      request_key: this.#getRequestKey(execution),
      findSettled: async <T>(fingerprint: string): Promise<T | undefined> => {
        settled = await this.#findSettled(execution, fingerprint)
        return settled && parse<T>(settled)
      },
      // Last: V8 creates a new hidden class for every object that gets members after a spread.
      ...inputs,
    })
    if (settled) return this.#redactReplayed(route, settled, reader)
    if (isRecordedRead(execution)) await this.#write(execution, async (tx) => this.#recordChange(execution, tx, value))
    return route.redact ? this.#redact(route, value, reader) : this.#responses.toResult(route, value)
  }

  #getRequestKey({ idempotency }: Execution): string | null {
    if (!idempotency) return null
    const { principal, operation, key } = idempotency
    return computeFingerprint(this.#fingerprint_key, { principal, operation, key })
  }

  #findSettled({ idempotency, scope }: Execution, fingerprint: string): Promise<SerializedResponse | undefined> {
    if (!idempotency) return Promise.resolve(undefined)
    const keyed = computeFingerprint(this.#fingerprint_key, fingerprint)
    return this.#transactions.write(scope, (tx) => findReplay(tx, idempotency, keyed))
  }

  #settle(execution: Execution, fingerprint: string, body: (tx: Tx) => Promise<unknown>): Promise<SerializedResponse> {
    const { route, idempotency } = execution
    const fingerprintOrNone = idempotency ? computeFingerprint(this.#fingerprint_key, fingerprint) : ''
    return this.#write(execution, (tx) =>
      runIdempotent(tx, idempotency, fingerprintOrNone, async () => {
        const value = await body(tx)
        this.#recordChange(execution, tx, value)
        return this.#redact(route, value, this.#createReader(execution, tx))
      }),
    )
  }

  /** A transaction that may record the event of this request; it may run more than once. */
  async #write<T>({ scope, record }: Execution, body: (tx: Tx) => Promise<T>): Promise<T> {
    if (!record) return this.#transactions.write(scope, body)
    const result = await this.#transactions.write(scope, (tx) => {
      record.isNoted = false
      return body(tx)
    })
    record.isRecorded ||= record.isNoted
    return result
  }

  /** One change, one event, in the transaction of the change. */
  #recordChange(
    { route, inputs, notes, record }: Execution,
    tx: Tx,
    value: unknown,
    detail: Record<string, unknown> = {},
  ): void {
    const event_id = recordEvent(tx, this.#kernel.auditKeys, {
      operation: route.id,
      request_id: inputs.request.id,
      detail: { ...notes.detail, ...detail, ...record?.detail },
      restriction_id: notes.restriction.restriction_id,
      also_restriction_id: notes.restriction.also_restriction_id,
      ...getAuditedObject(route, inputs.params, value, tx.tenant_id),
    })
    if (!record) return
    record.isNoted = true
    record.onEvent(tx, { event_id, value, restriction_id: getOnlyRestriction(notes.restriction) })
  }

  /** Reads in the given transaction, or in one of its own. */
  #createReader({ actor, kernel, scope }: Execution, tx?: Tx): Reader {
    return { actor, kernel, read: (body) => (tx ? body(tx) : this.#transactions.read(scope, body)) }
  }

  async #redact(route: Route, value: unknown, reader: Reader): Promise<SerializedResponse> {
    const visible = route.redact ? await route.redact(value, reader) : value
    return this.#responses.toResponse(route, value, visible)
  }

  /** A stored response was written for the roles that the caller had then. A change request (202) has nothing to redact. */
  async #redactReplayed(route: Route, response: SerializedResponse, reader: Reader): Promise<SerializedResponse> {
    const { status, body } = response
    if (!route.redact || body === undefined || !isReplayed(response) || status !== route.reply[0]) return response
    const value: unknown = JSON.parse(body)
    const visible = await route.redact(value, reader)
    return visible === value ? response : { ...response, body: this.#responses.serializeReply(route, visible) }
  }
}
