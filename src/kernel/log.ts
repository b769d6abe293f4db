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
      serializers: { err: pino.stdSerializers.err },
    },
    target,
  )
}

export const silentLog = (): Log => pino({ level: 'silent' })
