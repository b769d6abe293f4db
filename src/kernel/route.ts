/**
 * A route is declared once, with no defaults: from the declaration come routing, validation, handler types, OpenAPI,
 * roles, the tenant transaction, limits, marks and the generated test matrices. Two constructors only.
 */
import type { Readable } from 'node:stream'
import type { Static, TSchema } from 'typebox'
import type { AuditNotes } from './audit/record.ts'
import type { Role, Roles } from './auth/roles.ts'
import type { ConstraintProblems } from './database/failures.ts'
import type { Tx, TxMode } from './database/tx.ts'
import type { JobKind } from './job/kind.ts'
import type { Kernel } from './kernel.ts'
import type { ProblemCode } from './problem.ts'
import type { ApprovalRule } from './request/queries.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type Endpoint = `${Method} /${string}`
type StaticOf<S> = S extends TSchema ? Static<S> : undefined

/** Who calls: a person (`user:<id>`) or a machine key (`key:<id>`), for one tenant. */
export interface Actor {
  readonly principal: string
  readonly tenant_id: string
  readonly roles: readonly Role[]
  readonly name: string | null
  readonly token_id: string
  readonly issuer: string
  readonly issued_at_s: number
  readonly expires_at_s: number
}

/** What a handler may know of the request beyond its validated parts. */
export interface RequestMetadata {
  readonly id: string
  /** Aborts when the client goes away or the process shuts down. */
  readonly signal: AbortSignal
  /** The revisions named by If-Match, or undefined without the header; '*' matches any. */
  readonly if_match: readonly string[] | '*' | undefined
  readonly address: string
  /** The change request this very execution was approved by. */
  readonly change_request_id?: string
  /** Who asked for what this execution approves. */
  readonly requested_by?: string
  /** The body of a route declared with `bytes`, unread. */
  readonly stream: Readable | undefined
}

/** A reply that is not JSON: bytes or events, sent as they come. */
export interface StreamReply {
  /** The first is sent unless the stream names another one of them. */
  readonly media_types: readonly string[]
  readonly description: string
}
export const streamReply = (media_types: string | readonly string[], description: string): StreamReply => ({
  media_types: [media_types].flat(),
  description,
})

/** Media types of the file formats that exports are written in. */
export const fileMediaTypes = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const
export const isStreamReply = (reply: unknown): reply is StreamReply =>
  typeof reply === 'object' && reply !== null && 'media_types' in reply

type ReplySchema = TSchema | StreamReply | null
// The stream first: every object type is a TSchema to the compiler.
type ReplyValue<R> = R extends StreamReply
  ? AsyncIterable<string | Uint8Array> & { readonly file_name?: string; readonly media_type?: string }
  : R extends TSchema
    ? Static<R>
    : undefined

interface CommonSpec<P, Q, B, R extends ReplySchema> {
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** The body is a stream of bytes of any media type instead of JSON. */
  readonly bytes?: { readonly description: string; readonly max_bytes: 'upload' }
  readonly reply: readonly [status: 200 | 201 | 202 | 204, schema: R]
  readonly problems?: readonly ProblemCode[]
  /** Where the created thing is, relative to /api. */
  readonly location?: (reply: ReplyValue<R>) => string
  /** Headers that depend on the reply. */
  readonly headers?: (reply: ReplyValue<R>) => Record<string, string>
  /** operationId that reads what this one made, with the reply member to use for each of its parameters. */
  readonly links?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The reply holds a secret that is shown once: it is never stored for repetition. */
  readonly secret?: true
}

/** What is asked for, as it was validated. */
export interface GovernedChange {
  readonly params: unknown
  readonly body: unknown
}

interface RouteOptions {
  /** The action name in the tenant's approval policy, and the state a proposal is bound to. */
  readonly governed?: {
    readonly action: string
    readonly head: (tx: Tx, params: Record<string, string>) => Promise<string | null>
    /** What this operation does without approval whatever the policy says, such as a dry run. */
    readonly skipApprovalIf?: (body: unknown) => boolean
    /** The reason given for an emergency: the change is made at once, by a person, and somebody else reviews it. */
    readonly breakGlass?: (body: unknown) => string | undefined
    /** The rule that holds where the policy has none for this action. */
    readonly findDefaultRule?: (tx: Tx, change: GovernedChange) => Promise<ApprovalRule | undefined>
    /** Asked inside the transaction where the policy asks for approvers: false when this change can do without them. */
    readonly requiresApproval?: (tx: Tx, rule: ApprovalRule, change: GovernedChange) => Promise<boolean>
  }
  /** Always asks for approval of this governed action, whatever the policy says of the caller. The reply is a change request. */
  readonly proposes?: string
  /** A POST that only computes: nothing is stored, and nothing is recorded. */
  readonly stores_nothing?: true
  /** A read that is itself recorded. Changes always are. */
  readonly audited?: true
  /** Creates a change request for the governed operation of this id: its callers may read those change requests too. */
  readonly submits?: string
  /** Starts long work: answers 202 with the job and its Location. */
  readonly starts?: string
  /** Counts against the tenant's allowance of heavy work. */
  readonly limit?: 'heavy'
  /** Reply carries an ETag of its own making: 304 to whoever has it already. */
  readonly cacheable?: true
  /** Reply carries `revision`: strong ETag, If-None-Match on reads, If-Match on changes. */
  readonly revisioned?: true
}

interface CommonInput<P, Q, B> {
  readonly params: StaticOf<P>
  readonly query: StaticOf<Q>
  readonly body: StaticOf<B>
  readonly request: RequestMetadata
  readonly kernel: Kernel
}
interface OpenTxInput {
  readonly tx: Tx
}
interface SelfTxInput {
  /** No transaction is open: these open one each, and nothing is waited for inside. */
  read<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  write<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  /** The write that completes the request: `Idempotency-Key` is honoured in its transaction. */
  settle<T>(fingerprint: string, body: (tx: Tx) => Promise<T>): Promise<T>
}

export type TenantInput<P, Q, B, M extends TxMode> = CommonInput<P, Q, B> & {
  readonly actor: Actor
  readonly audit: AuditNotes
} & (M extends 'self' ? SelfTxInput : OpenTxInput)
export type PublicInput<P, Q, B> = CommonInput<P, Q, B>

/** For whom an answer is written. `read` uses the open transaction where there is one. */
export interface RedactionContext {
  readonly actor: Actor
  readonly kernel: Kernel
  read<T>(body: (tx: Tx) => Promise<T>): Promise<T>
}

export interface TenantSpec<P, Q, B, R extends ReplySchema, M extends TxMode>
  extends CommonSpec<P, Q, B, R>,
    RouteOptions {
  readonly roles: Roles
  readonly tx: M
  /**
   * Gives the reply as the roles of the caller may read it: the same object where they may read all of it. Applied last, also
   * to an answer that is repeated for an `Idempotency-Key`, because the caller may have lost a role since.
   */
  readonly redact?: (reply: ReplyValue<R>, reader: RedactionContext) => ReplyValue<R> | Promise<ReplyValue<R>>
  /** Checks that must not keep a transaction open, made before one is: a worker thread, for example, is waited for here. */
  readonly beforeTransaction?: (input: CommonInput<P, Q, B> & { readonly actor: Actor }) => Promise<void>
}
export interface PublicSpec<P, Q, B, R extends ReplySchema> extends CommonSpec<P, Q, B, R> {
  /** Served at the root too, for probes that cannot be given a prefix. */
  readonly also_at_root?: true
  /** Never counted by the rate limiter. */
  readonly unlimited?: true
  /** The same body under another status, for answers whose status follows their content. */
  readonly alternateStatus?: { readonly status: number; readonly when: (reply: ReplyValue<R>) => boolean }
}

/** A declared route with its types erased, as the server, the document and the tests see it. */
export interface Route extends RouteOptions {
  readonly access: 'tenant' | 'public'
  readonly at: Endpoint
  readonly method: Method
  /** Path below /api with `:name` parameters. */
  readonly path: string
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly roles: readonly Role[]
  readonly tx: TxMode | null
  readonly params?: TSchema
  readonly query?: TSchema
  readonly body?: TSchema
  readonly bytes?: CommonSpec<never, never, never, null>['bytes']
  readonly reply: readonly [status: number, schema: ReplySchema]
  readonly problems: readonly ProblemCode[]
  readonly location?: (reply: unknown) => string
  readonly headers?: (reply: unknown) => Record<string, string>
  readonly links?: CommonSpec<never, never, never, null>['links']
  readonly secret?: true
  readonly also_at_root?: true
  readonly unlimited?: true
  readonly alternateStatus?: { readonly status: number; readonly when: (reply: unknown) => boolean }
  readonly beforeTransaction?: (input: unknown) => Promise<void>
  readonly redact?: (reply: unknown, reader: RedactionContext) => unknown
  readonly handle: (input: unknown) => Promise<unknown>
}

function declareRoute(access: 'tenant' | 'public', at: Endpoint, spec: object, handle: unknown): Route {
  const [method, path] = at.split(' ') as [Method, string]
  return { access, at, method, path, roles: [], tx: null, problems: [], ...spec, handle } as unknown as Route
}

/** The handler sits in a chained call, because literals widen when it is a member of the spec object. */
export const tenantRoute = <
  R extends ReplySchema,
  const M extends TxMode,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  at: Endpoint,
  spec: TenantSpec<P, Q, B, R, M>,
) => ({
  handle: (handle: (input: TenantInput<P, Q, B, M>) => Promise<ReplyValue<R>>): Route =>
    declareRoute('tenant', at, spec, handle),
})

export const publicRoute = <
  R extends ReplySchema,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(
  at: Endpoint,
  spec: PublicSpec<P, Q, B, R>,
) => ({
  handle: (handle: (input: PublicInput<P, Q, B>) => Promise<ReplyValue<R>>): Route =>
    declareRoute('public', at, spec, handle),
})

/** The same declaration at a second path, for readers of the specification who expect it there. */
export const aliasRoute = (route: Route, at: Endpoint, id: string): Route => {
  const [method, path] = at.split(' ') as [Method, string]
  return { ...route, at, method, path, id }
}

/** The door of a module, as `src/app/modules.ts` lists it. */
export interface Module {
  readonly name: string
  /** First URL segments this module answers; the OpenAPI tag is the module's name. */
  readonly segments: readonly string[]
  readonly tier: 'foundation' | 'domain' | 'views'
  readonly summary: string
  readonly routes: readonly Route[]
  readonly jobs: readonly JobKind[]
  readonly constraints?: ConstraintProblems
  /**
   * Writes one row into each table of this module, for the tenant of `tx`. The canary tenant is planted with it, so that
   * isolation can be shown on real rows; the isolation tests use it too.
   */
  readonly canary: (tx: Tx) => Promise<void>
  /** A table that has a row once the canary was planted; none where the module has no table. */
  readonly canary_table?: string
  /**
   * By the name a module above gives to changes it makes: asked inside the transaction, before the change, and what it gives
   * is asked again after it for everything that is now in the way.
   */
  readonly reviews?: Readonly<Record<string, ChangeReview>>
  /** Governed actions whose impact this module measures; a policy may ask for it before they are approved. */
  readonly measures?: readonly string[]
}

export type ChangeReview = (kernel: Kernel, tx: Tx, change: unknown) => Promise<() => Promise<readonly unknown[]>>
