/** Types of a call: which paths a method has, its parameters and its response. Types only. */
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

/** The response body of a call. A governed change returns either its result or a change request: see `isChangeRequest`. */
export type ResponseBody<M extends Method, P extends keyof paths> = paths[P][M] extends { responses: infer R }
  ? { [S in keyof R & SuccessStatus]: JsonBody<R[S]> }[keyof R & SuccessStatus]
  : never

export interface CallOptions {
  readonly signal?: AbortSignal
  /** For POST; by default a random key per call, the same for all its attempts. */
  readonly idempotency_key?: string
  /** The ETag the change is based on: refused with `precondition_failed` if the resource has changed. */
  readonly if_match?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type CallInit<M extends Method, P extends keyof paths> = ParamsOption<paths[P][M]> &
  RequestBodyOption<paths[P][M]> &
  CallOptions

/** The second argument is optional if none of its members is required. */
export type Call<M extends Method> = <P extends PathsWith<M>>(
  path: P,
  ...init: Record<never, never> extends CallInit<M, P> ? [init?: CallInit<M, P>] : [init: CallInit<M, P>]
) => Promise<ResponseBody<M, P>>

export type ListItem<P extends keyof paths> =
  ResponseBody<'get', P> extends { items: (infer Item)[]; next_cursor: string | null } ? Item : never

export type ListPath = { [P in PathsWith<'get'>]: [ListItem<P>] extends [never] ? never : P }[PathsWith<'get'>]
