/** JSON logs. One line per request; never bodies, tokens or secrets. */
import pino from 'pino'

export type Log = pino.Logger

/** Buffered and written off the main thread, but flushed often enough to follow the log. */
const bufferedOutput = { sync: false, minLength: 16_000, periodicFlush: 100 } as const

export function createLog(options: { level: string; destination?: string | undefined; name: string }): Log {
  const target = options.destination
    ? pino.destination({ ...bufferedOutput, dest: options.destination, mkdir: true, mode: 0o600 })
    : pino.destination({ ...bufferedOutput, dest: 1 })
  return pino(
    {
      level: options.level,
      base: { process: options.name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (facts) => redactSecrets(facts) },
      serializers: { err: serializeError },
    },
    target,
  )
}

/** Fields of the log line of a request. */
export interface RequestLogEntry {
  readonly request_id: string
  readonly method: string
  readonly route: string
  readonly operation: string | undefined
  readonly tenant_id: string | undefined
  readonly principal: string | undefined
  readonly status: number
  readonly code: string | undefined
  readonly duration_ms: number
  readonly trace_id: string | undefined
  /** Address of the client, from the socket or the trusted proxies; unknown once the connection has closed. */
  readonly client: string | undefined
}

const { streamSym, chindingsSym } = pino.symbols as { readonly streamSym: symbol; readonly chindingsSym: symbol }
interface PinoInternals {
  readonly [name: symbol]: unknown
}
/** Longer than any address, shorter than an abused header. */
const MAX_CLIENT_CHARS = 64
let timestamp_ms = 0
let timestamp = ''

/**
 * The log line of a request, serialized by hand and written to the logger's stream: through the logger it costs as much as the
 * rest of the request bookkeeping. It contains only these fields.
 */
export function logRequest(log: Log, facts: RequestLogEntry): void {
  if (!log.isLevelEnabled('info')) return
  const now_ms = Date.now()
  if (now_ms !== timestamp_ms) {
    timestamp_ms = now_ms
    timestamp = new Date(now_ms).toISOString()
  }
  const { request_id, method, route, operation, tenant_id, principal, status, code, duration_ms, trace_id, client } =
    facts
  let line = `{"level":"info","time":"${timestamp}"${(log as unknown as PinoInternals)[chindingsSym] as string},"request_id":"${request_id}","method":"${method}","route":"${route}"`
  if (operation !== undefined) line += `,"operation":"${operation}"`
  if (tenant_id !== undefined) line += `,"tenant_id":"${tenant_id}","principal":"${principal}"`
  line += `,"status":${status}`
  if (code !== undefined) line += `,"code":"${code}"`
  line += `,"duration_ms":${duration_ms}`
  if (trace_id !== undefined) line += `,"trace_id":"${trace_id}"`
  // The only value a caller may have written, behind a proxy that does not set it.
  if (client !== undefined) line += `,"client":${JSON.stringify(client.slice(0, MAX_CLIENT_CHARS))}`
  ;((log as unknown as PinoInternals)[streamSym] as { write(line: string): void }).write(`${line},"msg":"request"}\n`)
}

const SECRETS = new Set(['authorization', 'token', 'secret', 'api_key'])

/** A second line of defence: nothing logs these on purpose. It runs for every line, so it copies only what it changes. */
function redactSecrets(facts: Record<string, unknown>, depth = 3): Record<string, unknown> {
  let safe = facts
  for (const name in facts) {
    const fact = facts[name]
    const redacted = SECRETS.has(name)
      ? '[redacted]'
      : depth > 0 && isPlain(fact)
        ? redactSecrets(fact, depth - 1)
        : fact
    if (redacted === fact) continue
    if (safe === facts) safe = { ...facts }
    safe[name] = redacted
  }
  return safe
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

interface LoggedError extends Error {
  readonly code?: string
  readonly severity?: string
  readonly constraint?: string
  readonly table?: string
  readonly routine?: string
}

/**
 * Location and reason of an error, never the row: PostgreSQL quotes it in detail, hint and where, and in messages of class 22.
 */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code, severity, constraint, table, routine, stack, cause } = error as LoggedError
  const quotes = severity !== undefined && code?.startsWith('22')
  const message = quotes ? 'a value does not fit its type' : error.message
  return {
    type: error.constructor.name,
    message,
    code,
    constraint,
    table,
    routine,
    stack: stack?.replace(error.message, message),
    ...(cause !== undefined && { cause: serializeError(cause) }),
  }
}

export const createSilentLog = (): Log => pino({ level: 'silent' })
