/** What a message of the tool protocol is answered with: the caller, the request, and what the answers need of the kernel. */
import { CLIENT_INFO_META_KEY, ProtocolError, type ServerContext } from '@modelcontextprotocol/server'
import { toAlarmReason } from '#kernel/alarm.ts'
import type { ToolRule } from '#kernel/auth/tool-policy.ts'
import { requestScope, unrestrictedScope } from '#kernel/database/scope.ts'
import { toProblem } from '#kernel/http/problem-reply.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem, problems } from '#kernel/problem.ts'
import { toProblemBody } from '#kernel/problem-body.ts'
import type { Actor, RequestMetadata } from '#kernel/route.ts'
import { nameClient } from './client-name.ts'

export const SESSION_CAPABILITIES = [
  'routes',
  'call',
  'transactions',
  'auditKeys',
  'integrity',
  'tenantStatusCache',
  'limits',
  'metrics',
  'build',
  'log',
  'raiseAlarm',
] as const
export type SessionKernel = Capabilities<(typeof SESSION_CAPABILITIES)[number]>

export interface Session {
  readonly kernel: SessionKernel
  readonly actor: Actor
  readonly request: RequestMetadata
  /** Names a program whose messages do not: what it said when it began, else its user agent. */
  readonly client: string | null
  /** Instead of the policy of the tenant. */
  readonly rules?: readonly ToolRule[]
}

const MAX_NAME_LENGTH = 100

/** A name that a caller made up, as it is answered: anything but visible ASCII is written as an escape. */
export const toAnsweredName = (name: string): string =>
  [...name.slice(0, MAX_NAME_LENGTH)]
    .map((each) => (/^[\x20-\x7e]$/.test(each) ? each : `\\u{${(each.codePointAt(0) as number).toString(16)}}`))
    .join('')
    .slice(0, MAX_NAME_LENGTH)

/** What the client calls itself. Nothing depends on it. */
export function getClientName({ client }: Session, ctx: ServerContext): string | null {
  const envelope = ctx.mcpReq.envelope as Readonly<Record<string, unknown>> | undefined
  return nameClient(envelope?.[CLIENT_INFO_META_KEY]) ?? client
}

export const toScope = ({ actor }: Session) => requestScope(actor)

/** As the operation of a tool runs: nothing restricted reaches an assistant, whatever its caller may see. */
export const toToolScope = ({ actor }: Session) => unrestrictedScope(actor.tenant_id, actor.principal)

export const toProblemObject = (error: unknown, { request }: Pick<Session, 'request'>): Record<string, unknown> => {
  const problem = toProblem(error)
  const { retry_after_s } = problem.extra
  return { ...toProblemBody(problem, request.id), ...(retry_after_s !== undefined && { retry_after_s }) }
}

export const INVALID_PARAMS = -32_602
const INTERNAL_ERROR = -32_603

/** The problem of any error. One that nobody expected is reported here, and its text goes no further. */
export function reportProblem(error: unknown, { kernel, request }: Session, operation = 'callTool'): Problem {
  const problem = toProblem(error)
  if (problem.code === 'internal' && !(error instanceof Problem)) {
    kernel.raiseAlarm(toAlarmReason(error), { err: error, request_id: request.id, operation }, 'internal error')
  }
  return problem
}

/** For messages whose results have no place for a problem, such as a prompt. */
export function toProtocolError(error: unknown, session: Pick<Session, 'request'>): ProtocolError {
  const problem: Problem = toProblem(error)
  const code = problem.status < 500 ? INVALID_PARAMS : INTERNAL_ERROR
  return new ProtocolError(code, problems[problem.code].title, toProblemObject(problem, session))
}
