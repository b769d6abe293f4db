/**
 * How long the event loop was blocked. On a machine that is shared the scheduler takes the processor away too, so the time
 * the process itself was computing is taken beside the time that passed: only what is in both was our own blocking.
 */
const SAMPLE_INTERVAL_MS = 10

export interface EventLoopStats {
  /** The longest time in which nothing was answered because we were computing. */
  readonly blocked_max_ms: number
  /** The longest time in which nothing was answered, for whatever reason. */
  readonly stalled_max_ms: number
  readonly over_100_ms: number
}

export function watchEventLoop(): () => EventLoopStats {
  let blocked_max_ms = 0
  let stalled_max_ms = 0
  let over_100_ms = 0
  let seen_ms = performance.now()
  let used = process.cpuUsage()
  const sample = () => {
    const now_ms = performance.now()
    const { user, system } = process.cpuUsage(used)
    const stalled_ms = Math.max(0, now_ms - seen_ms - SAMPLE_INTERVAL_MS)
    const blocked_ms = Math.min(stalled_ms, (user + system) / 1000)
    stalled_max_ms = Math.max(stalled_max_ms, stalled_ms)
    blocked_max_ms = Math.max(blocked_max_ms, blocked_ms)
    if (blocked_ms > 100) over_100_ms++
    seen_ms = now_ms
    used = process.cpuUsage()
  }
  setInterval(sample, SAMPLE_INTERVAL_MS).unref()
  return () => {
    const view = {
      blocked_max_ms: Math.round(blocked_max_ms),
      stalled_max_ms: Math.round(stalled_max_ms),
      over_100_ms,
    }
    blocked_max_ms = 0
    stalled_max_ms = 0
    over_100_ms = 0
    return view
  }
}
