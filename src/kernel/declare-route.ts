/**
 * Declares routes. Routing, validation, handler types, OpenAPI, roles, the tenant transaction, limits and the generated test
 * matrices all come from one declaration, which has no defaults. A handler can use only what its declaration names.
 */
import type { Static, TSchema } from 'typebox'
import type { AuditNotes } from './audit/record.ts'
import type { Roles } from './auth/roles.ts'
import type { Tx, TxMode } from './database/tx.ts'
import type { Capabilities, Capability } from './kernel.ts'
import type { ProblemCode } from './problem.ts'
import {
  type Actor,
  type Endpoint,
  type Method,
  type ReplySchema,
  type RequestMetadata,
  type Route,
  type RouteOptions,
  type StreamReply,
  streamReply,
  type TenantRouteOptions,
} from './route.ts'

type StaticOf<S> = S extends TSchema ? Static<S> : undefined

// The stream first: every object type is a TSchema to the compiler.
type ReplyValue<R> = R extends StreamReply
  ? AsyncIterable<string | Uint8Array> & { readonly file_name?: string; readonly media_type?: string }
  : R extends TSchema
    ? Static<R>
    : undefined

/** What a handler returns is only serialised: members and lists may be read-only. */
type Immutable<T> = T extends readonly (infer E)[]
  ? readonly Immutable<E>[]
  : T extends AsyncIterable<unknown>
    ? T
    : T extends object
      ? { readonly [K in keyof T]: Immutable<T[K]> }
      : T

interface CommonSpec<P, Q, B, R extends ReplySchema, U extends Capability> extends RouteOptions {
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly reply: readonly [status: 200 | 201 | 202 | 204, schema: R]
  readonly problems?: readonly ProblemCode[]
  /** Members of the kernel that the functions of this route need; they get no others. */
  readonly uses?: readonly U[]
  /** Path of the created resource, relative to /api. */
  readonly location?: (reply: ReplyValue<R>) => string
  /** Headers that depend on the reply. */
  readonly headers?: (reply: ReplyValue<R>) => Record<string, string>
  /** The same body under another status, for replies whose status depends on their content. */
  readonly alternateStatus?: { readonly status: number; readonly when: (reply: ReplyValue<R>) => boolean }
}

/** Without `uses` there is no `kernel` at all. */
type KernelInput<U extends Capability> = [U] extends [never] ? unknown : { readonly kernel: Capabilities<U> }

interface RequestInput<P, Q, B> {
  readonly params: StaticOf<P>
  readonly query: StaticOf<Q>
  readonly body: StaticOf<B>
  readonly request: RequestMetadata
}
interface OpenTxInput {
  readonly tx: Tx
}
interface SelfTxInput {
  /** No transaction is open: each of these opens one. Nothing outside the database is awaited inside. */
  read<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  write<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  /** The write that completes the request: `Idempotency-Key` is honoured in its transaction. */
  settle<T>(fingerprint: string, body: (tx: Tx) => Promise<T>): Promise<T>
  /** Names this request and its retries, for rows that are written before `settle`; null without `Idempotency-Key`. */
  readonly request_key: string | null
  /** What `settle` stored for an earlier request with the same key: for work before `settle` that must not be done twice. */
  findSettled<T>(fingerprint: string): Promise<T | undefined>
}

export type TenantInput<P, Q, B, M extends TxMode, U extends Capability> = RequestInput<P, Q, B> & {
  readonly actor: Actor
  readonly audit: AuditNotes
} & (M extends 'self' ? SelfTxInput : OpenTxInput) &
  KernelInput<U>
export type PublicInput<P, Q, B, U extends Capability> = RequestInput<P, Q, B> & KernelInput<U>

/** The caller for whom a reply is redacted. `read` uses the open transaction where there is one. */
export type RedactionContext<U extends Capability = never> = {
  readonly actor: Actor
  read<T>(body: (tx: Tx) => Promise<T>): Promise<T>
} & KernelInput<U>

export interface TenantSpec<P, Q, B, R extends ReplySchema, M extends TxMode, U extends Capability>
  extends CommonSpec<P, Q, B, R, U>,
    TenantRouteOptions {
  readonly roles: Roles
  readonly tx: M
  /**
   * Returns the reply as the caller's roles may read it: the same object where they may read all of it. Applied last, also to a
   * reply that is repeated for an `Idempotency-Key`, because the caller may have lost a role since.
   */
  readonly redact?: (reply: ReplyValue<R>, reader: RedactionContext<U>) => ReplyValue<R> | Promise<ReplyValue<R>>
  /** Checks that run before the transaction is opened, because they wait for something, such as a worker thread. */
  readonly beforeTransaction?: (
    input: RequestInput<P, Q, B> & { readonly actor: Actor } & KernelInput<U>,
  ) => Promise<void>
}

export interface PublicSpec<P, Q, B, R extends ReplySchema, U extends Capability> extends CommonSpec<P, Q, B, R, U> {
  /** Served at the root too, for probes that cannot be given a prefix. */
  readonly also_at_root?: true
  /** Exists only on a server with demo sign-in, and for callers on its own machine; elsewhere it is an unknown path. */
  readonly demo_only?: true
  /** Not counted by the rate limiter. */
  readonly unlimited?: true
}

function declareRoute(access: Route['access'], at: Endpoint, spec: object, handle: unknown): Route {
  const [method, path] = at.split(' ') as [Method, string]
  const { secret_body, governed, proposes } = spec as TenantRouteOptions
  if (secret_body && (governed || proposes))
    throw new Error(`${at}: a change request would store the secret in its body`)
  return { access, at, method, path, roles: [], tx: null, uses: [], problems: [], ...spec, handle } as unknown as Route
}

/** The handler is given in a chained call, because literal types widen when it is a member of the spec object. */
export const tenantRoute = <
  R extends ReplySchema,
  const M extends TxMode,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
  const U extends Capability = never,
>(
  at: Endpoint,
  spec: TenantSpec<P, Q, B, R, M, U>,
) => ({
  handle: (handle: (input: TenantInput<P, Q, B, M, U>) => Promise<Immutable<ReplyValue<R>>>): Route =>
    declareRoute('tenant', at, spec, handle),
})

export const publicRoute = <
  R extends ReplySchema,
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
  const U extends Capability = never,
>(
  at: Endpoint,
  spec: PublicSpec<P, Q, B, R, U>,
) => ({
  handle: (handle: (input: PublicInput<P, Q, B, U>) => Promise<Immutable<ReplyValue<R>>>): Route =>
    declareRoute('public', at, spec, handle),
})

/** One message of another protocol, of an authenticated caller whose role and limits were checked. */
export type ProtocolInput<U extends Capability> = {
  readonly actor: Actor
  /** The parsed JSON body. */
  readonly message: unknown
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly request: RequestMetadata
} & KernelInput<U>

export interface ProtocolReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | AsyncIterable<Uint8Array> | undefined
}

interface ProtocolSpec<U extends Capability> extends RouteOptions {
  readonly roles: Roles
  readonly uses?: readonly U[]
}

/**
 * An endpoint of another protocol. The kernel checks Host, Origin, token, limits and role, and reads the JSON body; the handler
 * answers the message. It is not an operation: it is in no OpenAPI document, and a module lists it in `protocols`.
 */
export const protocolRoute = <const U extends Capability = never>(at: Endpoint, spec: ProtocolSpec<U>) => ({
  handle: (handle: (input: ProtocolInput<U>) => Promise<ProtocolReply>): Route =>
    declareRoute(
      'protocol',
      at,
      { ...spec, reply: [200, streamReply(['application/json', 'text/event-stream'], 'Messages of the protocol.')] },
      handle,
    ),
})
