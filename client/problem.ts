/** The error of this client: a problem from the server, or the reason why there was no response. */
import type { components } from './types.ts'

type ProblemBody = components['schemas']['Problem']
export type Job = components['schemas']['Job']

/**
 * `unreachable`: no response. `unreadable_answer`: the response is not from this API, for example the page of a proxy. `job_failed`: the
 * job failed and does not say why.
 */
export type ClientCode = 'unreachable' | 'unreadable_answer' | 'job_cancelled' | 'job_failed'
export type ProblemCode = ProblemBody['code'] | ClientCode

interface ProblemFields {
  readonly code: ProblemCode
  readonly status: number
  readonly title: string
  readonly detail: string
  readonly retryable: boolean
  readonly request_id?: string | null
  readonly errors?: ProblemBody['errors'] | undefined
}
interface ProblemContext {
  readonly members?: Readonly<Record<string, unknown>>
  readonly retry_after_s?: number | null
  readonly job?: Job | null
  readonly cause?: unknown
}

export class ProbityProblem extends Error {
  /** Stable; the catalogue is at GET /api/errors. */
  readonly code: ProblemCode
  /** The HTTP status, or 0 without a response. */
  readonly status: number
  readonly title: string
  /** What to do about it. */
  readonly detail: string
  /** The errors of the request with their positions, after `validation_failed`. */
  readonly errors: NonNullable<ProblemBody['errors']>
  /** The id to report to the operator. */
  readonly request_id: string | null
  readonly retryable: boolean
  readonly retry_after_s: number | null
  /** The problem as received, with members that only some codes have, such as `required_roles`. */
  readonly members: Readonly<Record<string, unknown>>
  /** The job that failed or was cancelled, from `jobs.wait()`. */
  readonly job: Job | null

  constructor(facts: ProblemFields, circumstances: ProblemContext = {}) {
    super(`${facts.title}. ${facts.detail}`, { cause: circumstances.cause })
    this.name = 'ProbityProblem'
    this.code = facts.code
    this.status = facts.status
    this.title = facts.title
    this.detail = facts.detail
    this.errors = facts.errors ?? []
    this.request_id = facts.request_id ?? null
    this.retryable = facts.retryable
    this.retry_after_s = circumstances.retry_after_s ?? null
    this.members = circumstances.members ?? {}
    this.job = circumstances.job ?? null
  }
}

export const isProblem = (error: unknown): error is ProbityProblem => error instanceof ProbityProblem

function isProblemBody(body: unknown): body is ProblemBody & Record<string, unknown> {
  const { code, title, detail } = (body ?? {}) as Partial<ProblemBody>
  return typeof code === 'string' && typeof title === 'string' && typeof detail === 'string'
}

/** A proxy or a test server may leave out members that this API always sends. */
function completeFields(body: ProblemBody, status: number): ProblemFields {
  return {
    ...body,
    status: typeof body.status === 'number' ? body.status : status,
    retryable: body.retryable === true,
    errors: Array.isArray(body.errors) ? body.errors : undefined,
  }
}

export function problemFromResponse(response: Response, body: unknown): ProbityProblem {
  const retry_after_s = parseRetryAfter(response)
  if (isProblemBody(body)) {
    return new ProbityProblem(completeFields(body, response.status), { members: body, retry_after_s })
  }
  return unreadableProblem(response, { retry_after_s })
}

export function problemFromJob(job: Job): ProbityProblem {
  if (isProblemBody(job.problem)) {
    return new ProbityProblem(completeFields(job.problem, 0), { members: job.problem, job })
  }
  if (job.state === 'failed') {
    const facts = { code: 'job_failed', status: 0, title: 'The job failed', retryable: false } as const
    return new ProbityProblem({ ...facts, detail: 'It does not say why. The log of the server does.' }, { job })
  }
  const detail = 'Start it again with POST /api/jobs/{job_id}/retry.'
  return new ProbityProblem(
    { code: 'job_cancelled', status: 0, title: 'The job was cancelled', detail, retryable: false },
    { job },
  )
}

export function unreachableProblem(cause: unknown): ProbityProblem {
  const facts = { status: 0, title: 'No answer from the server', retryable: true } as const
  const detail = 'The connection failed or timed out. Whether the request had an effect is not known.'
  return new ProbityProblem({ ...facts, code: 'unreachable', detail }, { cause })
}

export function unreadableProblem(response: Response, circumstances: ProblemContext = {}): ProbityProblem {
  const { status } = response
  return new ProbityProblem(
    {
      code: 'unreadable_answer',
      status,
      title: 'The answer is not one of this API',
      detail: `Something else answered, with status ${status}. Check the address and any proxy in between.`,
      retryable: [429, 502, 503, 504].includes(status),
      request_id: response.headers.get('x-request-id'),
    },
    circumstances,
  )
}

/** JSON of another shape than the operation has. `expected` completes the sentence "The answer is not …". */
export function unexpectedBodyProblem(expected: string, status = 200): ProbityProblem {
  return new ProbityProblem({
    code: 'unreadable_answer',
    status,
    title: 'The answer is not one of this API',
    detail: `It is not ${expected}. Check the address and any proxy in between.`,
    retryable: false,
  })
}

/** Seconds from now, from either form of the Retry-After header. */
export function parseRetryAfter(response: Response): number | null {
  const header = response.headers.get('retry-after')
  if (header === null) return null
  if (/^\d+$/.test(header)) return Number(header)
  const at_ms = Date.parse(header)
  return Number.isNaN(at_ms) ? null : Math.max(0, (at_ms - Date.now()) / 1000)
}
