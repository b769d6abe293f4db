/**
 * The typed client of the Probity API. Paths, parameters and responses are those of the OpenAPI document (types.ts); a
 * call resolves to the response body or throws a ProbityProblem. Runs in Node >= 20 and in browsers.
 */
import createFetchClient, { type Client } from 'openapi-fetch'
import type { Call, CallInit, CallOptions, ListItem, ListPath, Method, Schemas } from './call-types.ts'
import { createJobs, type Jobs } from './jobs.ts'
import { problemFromResponse, unexpectedBodyProblem, unreadableProblem } from './problem.ts'
import { createKeyTokenSource, type Token, toTokenSource } from './tokens.ts'
import { createTransport, type TokenSource, type Transport } from './transport.ts'
import type { paths } from './types.ts'
import { createUploads, type Uploads } from './uploads.ts'

export type { CallOptions, ListPath, OperationId, RequestBody, ResponseBody, Schemas } from './call-types.ts'
export type { JobWaitOptions } from './jobs.ts'
export { type ClientCode, isProblem, ProbityProblem, type ProblemCode, problemFromResponse } from './problem.ts'
export type { Token } from './tokens.ts'
export type { TokenSource } from './transport.ts'
export type { components, operations, paths } from './types.ts'
export type { UploadContent, UploadProgress } from './upload-progress.ts'
export type { UploadOptions } from './uploads.ts'

export interface ProbityClient {
  readonly GET: Call<'get'>
  readonly POST: Call<'post'>
  readonly PUT: Call<'put'>
  readonly PATCH: Call<'patch'>
  readonly DELETE: Call<'delete'>
  /** Every item of a list, page after page. */
  paginate<P extends ListPath>(path: P, init?: CallInit<'get', P>): AsyncGenerator<ListItem<P>, void, undefined>
  readonly jobs: Jobs
  readonly uploads: Uploads
  /** openapi-fetch with the same token and retries, for headers and streams: returns `{ data, error, response }`. */
  readonly raw: Client<paths>
}

export interface TransportSettings {
  /** The address of the server, without /api. Empty in a page served by the server itself. */
  readonly url: string
  /** The maximum number of attempts per request; default 4. */
  readonly attempts?: number
  /** The timeout of one attempt; default 30 s. */
  readonly timeout_ms?: number
  /** A longer Retry-After throws instead of waiting; default 30 s. */
  readonly longest_pause_ms?: number
  readonly fetch?: typeof globalThis.fetch
}

export interface ProbityOptions extends TransportSettings {
  /** A token, a function that returns one for each request, or a source created by `apiKeyTokens`. */
  readonly token?: Token
  /** Exchanged for short-lived tokens, renewed before they expire. */
  readonly api_key?: string
}

export function createClient(options: ProbityOptions): ProbityClient {
  const { token, api_key } = options
  const url = trimTrailingSlash(options.url)
  if (token !== undefined && api_key !== undefined) throw new Error('Give a token or an API key, not both.')
  const send = buildTransport(
    options,
    api_key === undefined ? toTokenSource(token ?? '') : apiKeyTokens({ ...options, api_key }),
  )
  const raw = createFetchClient<paths>({
    baseUrl: url,
    headers: { accept: 'application/json' },
    fetch: (request) => send(() => request.clone()),
  })

  const call = async (method: Method, path: string, init: CallOptions = {}): Promise<unknown> => {
    const { idempotency_key, if_match, headers, ...rest } = init
    const extra = {
      ...headers,
      ...(idempotency_key !== undefined && { 'idempotency-key': idempotency_key }),
      ...(if_match !== undefined && { 'if-match': if_match }),
    }
    const request_init = { ...rest, headers: extra, parseAs: 'text' }
    const { data, error, response } = await (raw.request as UntypedRequest)(method, path, request_init)
    if (!response.ok) throw problemFromResponse(response, error)
    try {
      return data === undefined ? undefined : JSON.parse(data)
    } catch {
      throw unreadableProblem(response)
    }
  }
  const bindMethod = <M extends Method>(method: M) =>
    ((path: string, init?: CallOptions) => call(method, path, init)) as unknown as Call<M>
  const GET = bindMethod('get')

  return {
    GET,
    POST: bindMethod('post'),
    PUT: bindMethod('put'),
    PATCH: bindMethod('patch'),
    DELETE: bindMethod('delete'),
    // `call` is untyped; the interface states which item each path has.
    paginate: (path, init) => paginate((query) => call('get', path, withQuery(init ?? {}, query))) as never,
    jobs: createJobs(GET),
    uploads: createUploads(url, send),
    raw,
  }
}

/** The token source behind `api_key`, for callers that also need the token: `onToken` receives each new one. */
export function apiKeyTokens(
  settings: TransportSettings & { readonly api_key: string; readonly onToken?: (token: string) => void },
): TokenSource {
  const { api_key, onToken } = settings
  return createKeyTokenSource({
    url: trimTrailingSlash(settings.url),
    api_key,
    onToken,
    send: buildTransport(settings, null),
  })
}

/** Whether a change needs approval (202) and has become a change request. */
export function isChangeRequest(answer: unknown): answer is Schemas['ChangeRequest'] {
  return typeof answer === 'object' && answer !== null && 'cr_id' in answer && 'required_role' in answer
}

const trimTrailingSlash = (url: string): string => url.replace(/\/+$/, '')

function buildTransport(settings: TransportSettings, tokens: TokenSource | null): Transport {
  const { attempts = 4, timeout_ms = 30_000, longest_pause_ms = 30_000 } = settings
  const fetch = settings.fetch ?? ((input, init) => globalThis.fetch(input, init))
  return createTransport({ fetch, tokens, attempts, timeout_ms, longest_pause_ms })
}

type UntypedRequest = (
  method: Method,
  path: string,
  init: object,
) => Promise<{ data?: string; error?: unknown; response: Response }>

interface WithQuery extends CallOptions {
  readonly params?: { readonly query?: object }
}
const withQuery = (init: WithQuery, query: object): WithQuery => ({
  ...init,
  params: { ...init.params, query: { ...init.params?.query, ...query } },
})

interface Page {
  readonly items: readonly unknown[]
  readonly next_cursor: string | null
}
function isPage(answer: unknown): answer is Page {
  const { items, next_cursor } = (answer ?? {}) as Partial<Page>
  return Array.isArray(items) && (next_cursor === null || typeof next_cursor === 'string')
}

async function* paginate(read: (query: { cursor?: string }) => Promise<unknown>): AsyncGenerator<unknown, void> {
  const seen = new Set<string>()
  let query: { cursor?: string } | null = {}
  while (query !== null) {
    const page = await read(query)
    if (!isPage(page)) throw unexpectedBodyProblem('a page of a list')
    const { items, next_cursor } = page
    if (next_cursor !== null && seen.has(next_cursor)) {
      throw unexpectedBodyProblem('the next page: its cursor was returned before')
    }
    yield* items
    if (next_cursor !== null) seen.add(next_cursor)
    query = next_cursor === null ? null : { cursor: next_cursor }
  }
}
