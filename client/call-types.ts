/** The types of a call: which paths a method has, what each takes and what it gives. Types only. */
import type { ParamsOption, RequestBodyOption } from 'openapi-fetch'
import type { components, operations, paths } from './types.ts'

/** The named schemas of the OpenAPI document: `Schemas['User']`, `Schemas['Job']` … */
export type Schemas = components['schemas']

/** The operationId of every operation, as `GET /api/auth/me` lists those the caller may use. */
export type OperationId = keyof operations

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
type PathsWith<M extends Method> = { [P in keyof paths]: paths[P][M] extends undefined ? never : P }[keyof paths]

type SuccessStatus = 200 | 201 | 202 | 204
type JsonBody<R> = R extends { content: { 'application/json': infer Body } } ? Body : undefined

/** The JSON body a call takes. */
export type RequestBody<M extends Method, P extends keyof paths> = paths[P][M] extends {
  requestBody?: { content: { 'application/json': infer Body } }
}
  ? Body
  : never

/** What a call resolves to. A governed change is either done or waits: see `isChangeRequest`. */
export type ResponseBody<M extends Method, P extends keyof paths> = paths[P][M] extends { responses: infer R }
  ? { [S in keyof R & SuccessStatus]: JsonBody<R[S]> }[keyof R & SuccessStatus]
  : never

export interface CallOptions {
  readonly signal?: AbortSignal
  /** On POST; without it each call has a random one, the same for all its attempts. */
  readonly idempotency_key?: string
  /** The ETag a change is made against: refused with `precondition_failed` when the resource has moved. */
  readonly if_match?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type CallInit<M extends Method, P extends keyof paths> = ParamsOption<paths[P][M]> &
  RequestBodyOption<paths[P][M]> &
  CallOptions

/** The second argument may be left out where nothing in it is required. */
export type Call<M extends Method> = <P extends PathsWith<M>>(
  path: P,
  ...init: Record<never, never> extends CallInit<M, P> ? [init?: CallInit<M, P>] : [init: CallInit<M, P>]
) => Promise<ResponseBody<M, P>>

export type ListItem<P extends keyof paths> =
  ResponseBody<'get', P> extends { items: (infer Item)[]; next_cursor: string | null } ? Item : never

export type ListPath = { [P in PathsWith<'get'>]: [ListItem<P>] extends [never] ? never : P }[PathsWith<'get'>]
