/** JSON logs. One line per request; never bodies, tokens or secrets. */
import pino from 'pino'

export type Log = pino.Logger

export function createLog(options: { level: string; destination?: string | undefined; name: string }): Log {
  const target = options.destination
    ? pino.destination({ dest: options.destination, mkdir: true, mode: 0o600, sync: false })
    : pino.destination({ dest: 1, sync: false })
  return pino(
    {
      level: options.level,
      base: { process: options.name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // A second line of defence: nothing logs these on purpose.
      redact: {
        paths: [
          'authorization',
          'headers.authorization',
          '*.authorization',
          'token',
          '*.token',
          'secret',
          '*.secret',
          'api_key',
          '*.api_key',
        ],
        censor: '[redacted]',
      },
      serializers: { err: errorFacts },
    },
    target,
  )
}

interface LoggedError extends Error {
  readonly code?: string
  readonly severity?: string
  readonly constraint?: string
  readonly table?: string
  readonly routine?: string
}

/**
 * Where and why, never what was in the row: PostgreSQL quotes it in detail, hint and where, and in the message of a value
 * that does not fit (class 22).
 */
function errorFacts(error: unknown): unknown {
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
    ...(cause !== undefined && { cause: errorFacts(cause) }),
  }
}

export const silentLog = (): Log => pino({ level: 'silent' })
