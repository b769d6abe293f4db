/**
 * Maps failures of PostgreSQL and of connections to problems. PostgreSQL's own texts (message, detail, hint, where) never leave
 * the process: they may quote another tenant's row.
 */
import { Problem } from '../problem.ts'

interface DatabaseFailure extends Error {
  readonly code?: string
  readonly constraint?: string
}

const CONNECTION_ERROR_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENOTFOUND',
  'EACCES',
])
const CONNECTION_SQLSTATES = /^(08...|57P0[1235]|53300|53400|58...)$/
const CONNECTION_ERROR_MESSAGES =
  /Connection terminated|connection error and is not queryable|Client was closed|timeout exceeded when trying to connect|server closed the connection/i

/**
 * A server expected to accept writes is read-only: a standby, or the former primary after a failover. Nothing was changed;
 * another connection may reach the primary. In a transaction that we made read-only the same state is a bug.
 */
export class ReadOnlyServer extends Error {}

/** None of the servers of a URL accepts writes. */
export class NoWritableServer extends Error {
  constructor(refusals: readonly string[]) {
    super(`none of ${refusals.length} database servers takes writes: ${refusals.join('; ')}`)
  }
}

export const isReadOnlyError = (error: unknown): boolean => (error as DatabaseFailure | null)?.code === '25006'

export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof ReadOnlyServer || error instanceof NoWritableServer) return true
  const { code } = error as DatabaseFailure
  if (code !== undefined && (CONNECTION_ERROR_CODES.has(code) || CONNECTION_SQLSTATES.test(code))) return true
  return CONNECTION_ERROR_MESSAGES.test(error.message)
}

export function isRetryable(error: unknown): boolean {
  const code = (error as DatabaseFailure | null)?.code
  return code === '40001' || code === '40P01'
}

/** The connection was lost during COMMIT: the change may or may not be there. */
export function unknownCommitOutcome(cause: unknown): Problem {
  const problem = new Problem('dependency_unavailable', {
    detail:
      'The database connection was lost while the change was being committed, so its outcome is unknown. ' +
      'Repeat the request with the same Idempotency-Key: it will take effect at most once.',
    retry_after_s: 1,
  })
  problem.cause = cause
  return problem
}

/** Raised by app.refuse_held_delete. */
const LEGAL_HOLD = 'PB008'
/** Raised where something would be stored about a subject that is erased. */
const ERASED = 'PB009'
/** Raised where something would be added to an object whose state does not allow it any more. */
const NOT_ALLOWED_NOW = 'PB010'

/** Constraint name → problem. Modules declare theirs; an unmapped unique violation is still a 409, never a 500. */
export type ConstraintProblems = Readonly<
  Record<string, readonly [code: 'duplicate' | 'conflict' | 'not_found' | 'approval_own_request', detail: string]>
>
const constraints = new Map<string, ConstraintProblems[string]>()

export function declareConstraints(problems: ConstraintProblems): void {
  for (const [name, problem] of Object.entries(problems)) constraints.set(name, problem)
}

const toUpper = (letter: string): string => letter.toUpperCase()

export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof Problem || !(error instanceof Error)) return error
  const { code, constraint } = error as DatabaseFailure
  const toProblem = (problem: Problem) => Object.assign(problem, { cause: error })
  if (isConnectionFailure(error)) return toProblem(new Problem('dependency_unavailable', { retry_after_s: 2 }))
  const declared = constraint === undefined ? undefined : constraints.get(constraint)
  if (declared) return toProblem(new Problem(declared[0], declared[1]))
  if (code === ERASED) return toProblem(new Problem('erased'))
  // Its message is written for people and contains nothing but a state.
  if (code === NOT_ALLOWED_NOW)
    return toProblem(new Problem('transition_not_allowed', `${error.message.replace(/^./, toUpper)}.`))
  if (code === LEGAL_HOLD) return toProblem(new Problem('legal_hold'))
  if (code === '23505') return toProblem(new Problem('duplicate'))
  // Cancelled by statement or lock timeout, or still in conflict after all retries.
  if (code === '57014' || code === '55P03' || isRetryable(error)) {
    return toProblem(new Problem('overloaded', { retry_after_s: 1 }))
  }
  return error
}
