/**
 * The catalogue of errors that a client can see, each with status, title and advice; modules throw them by code.
 * Codes are never renamed; titles are constant per code; `detail` says what to do and never echoes secrets or SQL.
 */
import { pluginProblems } from './plugin-problems.ts'
import type { ProblemType } from './problem-type.ts'
import { providerProblems } from './provider-problems.ts'
import { recordProblems } from './record-problems.ts'

export type { ProblemType } from './problem-type.ts'

export const problems = {
  malformed_request: {
    status: 400,
    title: 'The request cannot be read',
    advice: 'Send well-formed UTF-8 JSON without duplicate keys, and each scalar query parameter at most once.',
  },
  token_missing: {
    status: 401,
    title: 'A bearer token is required',
    advice: 'Send the header "Authorization: Bearer <token>". POST /api/auth/token exchanges an API key for one.',
  },
  token_invalid: {
    status: 401,
    title: 'The bearer token is not valid',
    advice: 'Obtain a new token from a configured issuer, or for an API key from POST /api/auth/token.',
  },
  token_expired: {
    status: 401,
    title: 'The bearer token has expired',
    advice: 'Obtain a new token and send the request again.',
  },
  token_revoked: {
    status: 401,
    title: 'The bearer token has been revoked',
    advice: 'Its token id, user or API key was revoked. Ask a tenant administrator for access.',
  },
  tenant_context_missing: {
    status: 401,
    title: 'The token names no tenant',
    advice: 'Use a token that carries the tenant claim of an existing tenant.',
  },
  tenant_suspended: {
    status: 401,
    title: 'The tenant is suspended',
    advice: 'Nothing was deleted. Ask the platform operator to resume the tenant.',
  },
  api_key_invalid: {
    status: 401,
    title: 'The API key is not valid',
    advice: 'Check that the key is complete, not revoked and not expired, or create a new one.',
  },
  role_required: {
    status: 403,
    title: 'The caller lacks a required role',
    advice: 'The answer names the roles that may call this operation. GET /api/auth/permissions explains more.',
  },
  origin_not_allowed: {
    status: 403,
    title: 'The request comes from another site',
    advice:
      'Call the server by its public name, its address or localhost. Pages of other origins must be listed by the operator.',
  },
  tool_forbidden: {
    status: 403,
    title: 'The tool policy of the tenant forbids this',
    advice: 'The answer names the tool. GET /api/mcp/tool-policy shows the policy; a compliance officer can change it.',
  },
  tool_approval_required: {
    status: 409,
    title: 'A person must approve this tool call',
    advice:
      'The answer names the approval. When somebody else has approved it, the same call with the same arguments returns its result.',
  },
  tool_confirmation_required: {
    status: 409,
    title: 'The tool call must be confirmed',
    advice:
      'Show the person what would be proposed, and repeat the call with the argument confirm as the answer gives it.',
  },
  tool_declined: {
    status: 409,
    title: 'A person declined this tool call',
    advice:
      'Nothing was done. The answer says who declined and why, as far as they said so; ask that person before trying again.',
  },
  person_required: {
    status: 403,
    title: 'Only a person may do this',
    advice: 'Use the token of a person: an API key makes no emergency changes and approves nothing.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    advice: 'Check the path and the identifier. A row of another tenant is answered exactly like a missing one.',
  },
  cursor_not_found: {
    status: 404,
    title: 'The cursor is unknown or has expired',
    advice: 'Start again without a cursor, with the same filters throughout one listing.',
  },
  nothing_in_force: {
    status: 404,
    title: 'No version is in force',
    advice:
      'It exists, but at the instant asked for no version of it was active. See its timeline of activations, or activate a version.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed on this path',
    advice: 'Use one of the methods in the Allow header.',
  },
  not_acceptable: {
    status: 406,
    title: 'No acceptable representation',
    advice: 'Accept application/json, or the media type the operation documents.',
  },
  request_timeout: {
    status: 408,
    title: 'The request arrived too slowly',
    advice: 'Send the whole request within the documented time.',
    retryable: true,
  },
  conflict: {
    status: 409,
    title: 'The request conflicts with stored state',
    advice: 'Read the current state and decide again.',
  },
  duplicate: {
    status: 409,
    title: 'It exists already',
    advice: 'Choose another identifier, or read and change the existing one.',
  },
  revision_stale: {
    status: 409,
    title: 'The resource has changed since it was read',
    advice: 'Read it again and repeat the change with its current revision.',
  },
  transition_not_allowed: {
    status: 409,
    title: 'Its present state does not allow this',
    advice: 'The answer names the present state; read the resource to see what is possible now.',
  },
  ...recordProblems,
  not_finished: {
    status: 409,
    title: 'The work has not finished',
    advice: 'Poll the job until its state is terminal.',
    retryable: true,
  },
  version_never_in_force: {
    status: 409,
    title: 'The version was never in force',
    advice:
      'A rollback returns to a version that was in force here before. Put another version in force by an activation, with the approval the policy asks for.',
  },
  version_in_force: {
    status: 409,
    title: 'The version is in force or scheduled',
    advice: 'Put another version in force, or cancel the scheduled activation, and withdraw this one afterwards.',
  },
  approvers_missing: {
    status: 409,
    title: 'Too few people could approve this',
    advice:
      'The answer names the role and how many are missing. Invite or reactivate people with that role, or ask for fewer approvers; where the tenant cannot do that itself, its operator can: npx probity user add, npx probity user reactivate.',
  },
  approval_void: {
    status: 409,
    title: 'The approval no longer fits',
    advice: 'What would be changed has moved since the request was made. Withdraw it and propose the change again.',
  },
  author_not_permitted: {
    status: 409,
    title: 'The author may no longer propose this change',
    advice:
      'Who proposed it was deactivated, revoked or lost the role since. Reject it, or have somebody with the role propose the change again.',
  },
  approval_own_request: {
    status: 409,
    title: 'Nobody approves or acknowledges what they did themselves',
    advice: 'Ask another person who holds the approving role. API keys never approve or acknowledge.',
  },
  last_administrator: {
    status: 409,
    title: 'The tenant would lose its last administrator',
    advice: 'Give another active user the role tenant_admin first.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'A request with this Idempotency-Key is still running',
    advice: 'Wait a moment and repeat the same request with the same key.',
    retryable: true,
  },
  idempotency_key_reused: {
    status: 409,
    title: 'This Idempotency-Key was used for a different request',
    advice: 'Use a new key for a new request; repeat a request byte for byte to have its answer replayed.',
  },
  idempotency_not_replayable: {
    status: 409,
    title: 'The first answer held a secret and is not kept',
    advice: 'The first request succeeded. Rotate or revoke what it made if the secret was lost.',
  },
  upload_incomplete: {
    status: 409,
    title: 'The upload is not complete',
    advice: 'Send the bytes again; an interrupted upload is discarded.',
  },
  content_unstorable: {
    status: 409,
    title: 'The content cannot be kept exactly',
    advice: 'Leave out U+0000, and send numbers beyond ±9007199254740991 as texts. Each entry of errors names a place.',
  },
  type_violation: {
    status: 409,
    title: 'The data does not fit its type',
    advice: 'Each entry of errors names the place and what the type expects there. Nothing was stored.',
  },
  definition_invalid: {
    status: 409,
    title: 'The definition cannot be used',
    advice: 'Each entry of errors names the place and what is wrong with it. Nothing was stored.',
  },
  contract_violated: {
    status: 409,
    title: 'The payload breaks its source contract',
    advice:
      'GET /source-contracts/quarantine/{payload_id} names each place. Nothing is decided on a payload in quarantine.',
  },
  inputs_refused: {
    status: 409,
    title: 'An input is missing or has a value that is not allowed',
    advice:
      'Each entry of errors names the input and what it must be, or the value that a list does not have. Correct it and repeat the request: nothing was decided, run or stored.',
  },
  schedule_invalid: {
    status: 409,
    title: 'The schedule cannot be used',
    advice: 'Each entry of errors names the place and what is expected there. Nothing was stored.',
  },
  not_analysable: {
    status: 409,
    title: 'The definition is too large to be proved complete',
    advice:
      'Each finding names the columns. Split the table, or test fewer inputs in it: nothing is published unproved.',
  },
  head_moved: {
    status: 409,
    title: 'A newer version exists',
    advice: 'Read the list again, look at the newer version, and repeat with its number as expected_head.',
  },
  base_not_newest: {
    status: 409,
    title: 'The base version of the delta is not the newest version',
    advice:
      'head_version is the newest version. Find out which of the publisher’s changes it holds, and import those that follow it, or the full file.',
  },
  base_withdrawn: {
    status: 409,
    title: 'The base version of the delta is withdrawn',
    advice: 'Import the full file; later deltas may be applied to that version.',
  },
  base_incompatible: {
    status: 409,
    title: 'The entries of the base version are not in the form of this import',
    advice: 'Import the full file once; later deltas may be applied to that version.',
  },
  list_key_reserved: {
    status: 409,
    title: 'The key is reserved, or belongs to something shared',
    advice:
      'Choose another key. To depart from a shared list, make an overlay on it or pin a version of it; pin a version of a shared plugin; use a shared type as it is.',
  },
  gates_closed: {
    status: 409,
    title: 'The change is held back by one or more gates',
    advice: 'Each entry of gates says what is in the way and whether, and by whom, it can be overridden with a reason.',
  },
  type_incompatible: {
    status: 409,
    title: 'The new type version would break stored data',
    advice: 'Each entry of breaks names what would no longer fit. Correct the type, or publish it as incompatible.',
  },
  precondition_failed: {
    status: 412,
    title: 'The precondition in If-Match failed',
    advice: 'Read the resource again and repeat the change with its current ETag.',
  },
  too_large: {
    status: 413,
    title: 'The request body is too large',
    advice: 'JSON bodies are limited to 1 MiB. Store larger content with POST /api/uploads and name its upload_id.',
  },
  media_type_unsupported: {
    status: 415,
    title: 'The media type is not supported',
    advice: 'Send application/json; the bytes of a file, where they are taken, as application/octet-stream.',
  },
  validation_failed: {
    status: 422,
    title: 'The request is not valid',
    advice: 'Each entry of errors names the place and what was expected there.',
  },
  source_invalid: {
    status: 409,
    title: 'The source cannot be read',
    advice: 'The detail says where reading stopped. Nothing was imported; correct the file or the options and repeat.',
  },
  import_rejected: {
    status: 409,
    title: 'Some rows of the source are not valid',
    advice: 'Nothing was imported. The rejects of the import name each row, its place and what is wrong with it.',
  },
  ...providerProblems,
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    advice: 'Wait as long as Retry-After says. GET /api/limits shows the buckets.',
    retryable: true,
  },
  concurrency_limited: {
    status: 429,
    title: 'Too many requests or jobs at once',
    advice: 'Wait for running requests or jobs of this tenant to finish, then repeat.',
    retryable: true,
  },
  headers_too_large: {
    status: 431,
    title: 'The request headers are too large',
    advice: 'Send fewer or shorter headers. A token may have at most 8 KiB.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    advice: 'Nothing was changed. Quote request_id to the operator.',
  },
  content_corrupt: {
    status: 500,
    title: 'Stored content does not match its hash',
    advice: 'The content is not used. Tell the operator: the database was altered or damaged, and must be restored.',
  },
  ...pluginProblems,
  dependency_unavailable: {
    status: 503,
    title: 'A dependency is unavailable',
    advice: 'Wait as long as Retry-After says and repeat; nothing was changed.',
    retryable: true,
  },
  overloaded: {
    status: 503,
    title: 'The service is busy',
    advice: 'No database connection, thread or memory was free in time. Wait as long as Retry-After says and repeat.',
    retryable: true,
  },
  shutting_down: {
    status: 503,
    title: 'This process is shutting down',
    advice: 'Repeat the request; another replica will answer it.',
    retryable: true,
  },
} as const satisfies Record<string, ProblemType>

export type ProblemCode = keyof typeof problems

/** One located fault. `in` and `pointer` say where, `keyword` which rule of the schema, `detail` what was expected. */
export interface ProblemError {
  readonly in: 'body' | 'query' | 'path' | 'header'
  readonly pointer: string
  readonly detail: string
  readonly keyword?: string
  /** The pointer without its `#`, as validators of JSON Schema name it. */
  readonly instancePath?: string
}

export interface ProblemExtra {
  readonly detail?: string
  readonly errors?: readonly ProblemError[]
  readonly retry_after_s?: number
  /** Response headers that belong to the answer, for example Allow. */
  readonly headers?: Readonly<Record<string, string>>
  /** Further members of the problem object, documented where they are used. */
  readonly members?: Readonly<Record<string, unknown>>
}

export class Problem extends Error {
  readonly code: ProblemCode
  readonly extra: ProblemExtra
  constructor(code: ProblemCode, extra: ProblemExtra | string = {}) {
    super(code)
    this.name = 'Problem'
    this.code = code
    this.extra = typeof extra === 'string' ? { detail: extra } : extra
  }
  get status(): number {
    return problems[this.code].status
  }
}

/** For frequent refusals: without a stack trace, which costs more than everything else about them. */
export function failWithoutStack(code: ProblemCode, extra: ProblemExtra): never {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  const problem = new Problem(code, extra)
  Error.stackTraceLimit = limit
  throw problem
}

/** Throws. It is an expression: `find() ?? fail('not_found')`. */
export function fail(code: ProblemCode, extra: ProblemExtra | string = {}): never {
  throw new Problem(code, extra)
}

/** The row, or 404. */
export const assertFound = <T>(row: T | undefined): T => row ?? fail('not_found')

/** For a resource that the body names: the path is right, so a missing one is a conflict and no 404. */
export const assertReferenced = <T>(row: T | undefined, name: string): T =>
  row ?? fail('conflict', `There is no ${name}.`)
