/** Readiness: each check of this process with its status and latency. */

export interface CheckResult {
  readonly status: 'ok' | 'failed' | 'not_configured'
  readonly latency_ms?: number
  readonly detail?: string
  readonly [fact: string]: unknown
}
export interface Readiness {
  readonly status: 'ready' | 'not_ready'
  readonly checks: Readonly<Record<string, CheckResult>>
}

export type CheckFunction = () => Promise<CheckResult>

export const CHECK_TIMEOUT_MS = 2000

/** The fallback, if the result takes longer. */
export async function resolveWithin<T>(result: Promise<T>, timeout_ms: number, fallback: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(fallback()), timeout_ms)
  })
  try {
    return await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Runs all checks concurrently; one that throws or hangs fails alone. `not_configured` does not affect readiness. */
export async function runChecks(
  checks: Readonly<Record<string, CheckFunction>>,
  timeout_ms = CHECK_TIMEOUT_MS,
): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]): Promise<[string, CheckResult]> => {
      const started = performance.now()
      const late = (): CheckResult => ({ status: 'failed', detail: `no answer within ${timeout_ms} ms` })
      const result = await resolveWithin(check(), timeout_ms, late).catch(
        (): CheckResult => ({ status: 'failed', detail: 'unreachable' }),
      )
      return [name, { ...result, latency_ms: Math.round(performance.now() - started) }]
    }),
  )
  const failed = results.some(([, check]) => check.status === 'failed')
  return { status: failed ? 'not_ready' : 'ready', checks: Object.fromEntries(results) }
}

/** Each failed check with its detail, which names the command that helps. */
export const listFailedChecks = ({ checks }: Readiness): string[] =>
  Object.entries(checks)
    .filter(([, { status }]) => status === 'failed')
    .map(([name, { detail }]) => `${name}: ${detail ?? 'failed'}`)
