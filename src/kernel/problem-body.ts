/** The JSON body of a problem. */
import { type Problem, type ProblemType, problems } from './problem.ts'

/** RFC 9457 body. `instance` identifies this occurrence, as `request_id` does in logs. */
export function toProblemBody(problem: Problem, requestId: string): Record<string, unknown> {
  const type: ProblemType = problems[problem.code]
  return {
    type: `/api/errors/${problem.code}`,
    title: type.title,
    status: type.status,
    code: problem.code,
    detail: problem.extra.detail ?? type.advice,
    instance: `urn:uuid:${requestId}`,
    request_id: requestId,
    retryable: type.retryable ?? false,
    ...(problem.extra.errors && { errors: problem.extra.errors }),
    ...problem.extra.members,
  }
}
