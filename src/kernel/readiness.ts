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

const CHECK_TIMEOUT_MS = 2000

/** Runs all checks concurrently; one that throws or hangs fails alone. `not_configured` does not affect readiness. */
export async function runChecks(checks: Readonly<Record<string, CheckFunction>>): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]): Promise<[string, CheckResult]> => {
      const started = performance.now()
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<CheckResult>((resolve) => {
        timer = setTimeout(
          () => resolve({ status: 'failed', detail: `no answer within ${CHECK_TIMEOUT_MS} ms` }),
          CHECK_TIMEOUT_MS,
        )
      })
      const result = await Promise.race([check(), late]).catch(
        (): CheckResult => ({ status: 'failed', detail: 'unreachable' }),
      )
      clearTimeout(timer)
      return [name, { ...result, latency_ms: Math.round(performance.now() - started) }]
    }),
  )
  const failed = results.some(([, check]) => check.status === 'failed')
  return { status: failed ? 'not_ready' : 'ready', checks: Object.fromEntries(results) }
}
