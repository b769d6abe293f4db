/**
 * L3: three times what the server can do. It must keep doing most of it, refuse the rest in order, look alive to whoever
 * probes it, and be as before soon after.
 */
import { median } from '#bench/median.ts'
import { MAX_STEAL_SHARE, watchStealTime } from './cpu.ts'
import type { Window } from './generator-process.ts'
import {
  buildMixedTargets,
  buildReadTargets,
  countErrors,
  isInconclusive,
  type LoadSetup,
  omitWindows,
  UNLIMITED,
  withLoadSetup,
} from './load-setup.ts'
import { hundredths } from './rounding.ts'

const TENANTS = 20
const MIN_GOODPUT = 0.7
const MIN_OFFERED_SHARE = 0.95
const MAX_RECOVERY_S = 10
/** As an orchestrator sees it: three probes in a row that fail, or take longer than a second, and it is restarted. */
const PROBE_LIMIT_MS = 1000
const MAX_FAILED_PROBES = 3

interface OverloadOptions {
  readonly seed: number
  readonly rounds: number
  readonly seconds: number
  /** 1: reads of one row only, which cost so little that refusing them costs a good part of it. */
  readonly reads: number
}

export const runOverload = (options: OverloadOptions) =>
  withLoadSetup((setup) => measureOverload(setup, options), { apart: true })

async function measureOverload(setup: LoadSetup, { seed, rounds, seconds, reads }: OverloadOptions) {
  const { port, metrics_port, apart } = setup
  const generator = await setup.startGenerator()
  const prober = await setup.startGenerator()
  const tenants = await setup.seedTenants(TENANTS, {
    users: 20,
    callers: 5,
    limits: { principal: UNLIMITED, tenant: UNLIMITED },
  })
  const request = { port, seed, targets: reads ? buildReadTargets(tenants) : buildMixedTargets(tenants) }
  const closedLoop = { ...request, per_second: 0, at_once: 64 }
  const measureCapacity = async () => (await generator.ask('run', { ...closedLoop, seconds: 5 })).good_per_second
  await generator.ask('run', { ...closedLoop, seconds: 5 })
  const stolenShare = watchStealTime()
  const capacities = [await measureCapacity()]
  const lightLoad = { ...request, per_second: Math.round((capacities[0] as number) * 0.3) }
  const before = await generator.ask('run', { ...lightLoad, seconds: 10 })
  const normal_ms = Math.max(50, 2 * before.p99_ms)

  const round = async () => {
    const capacityBefore = capacities.at(-1) as number
    const probing = prober.ask('probe', { port: metrics_port, seconds: seconds + MAX_RECOVERY_S })
    const per_second = Math.round(capacityBefore * 3)
    const during = await generator.ask('run', { ...request, per_second, seconds, most_connections: 4000 })
    const after = await generator.ask('run', { ...lightLoad, seconds: MAX_RECOVERY_S + 2 })
    const probes = await probing
    const capacityAfter = await measureCapacity()
    capacities.push(capacityAfter)
    return {
      // A machine is not always as fast as a minute ago.
      goodput: hundredths(during.good_per_second / ((capacityBefore + capacityAfter) / 2)),
      strange: countErrors({ ...during, unanswered: 0 }, [200, 201, 404, 429, 503]) + during.refused_without_advice,
      alive: longestProbeFailure(probes) < MAX_FAILED_PROBES,
      probe_max_ms: Math.round(Math.max(...probes)),
      back_after_s: findRecoverySecond(after.windows, normal_ms),
      during: omitWindows(during),
      after: omitWindows(after),
      // At such a rate a generator need not be punctual; it must have sent what it meant to.
      void: isInconclusive(after) || during.sent < MIN_OFFERED_SHARE * per_second * seconds,
    }
  }

  const seen: Awaited<ReturnType<typeof round>>[] = []
  for (let n = 0; n < rounds; n++) seen.push(await round())
  const goodput = median(seen.map((each) => each.goodput))
  const stolen = stolenShare()
  const voided = isInconclusive(before) || stolen > 4 * MAX_STEAL_SHARE || seen.some((each) => each.void)
  const inOrder = seen.every(
    ({ strange, alive, back_after_s }) => strange === 0 && alive && back_after_s <= MAX_RECOVERY_S,
  )
  return {
    seed,
    seconds,
    apart,
    stolen,
    load: reads ? 'reads' : 'mixed',
    capacity_per_second: capacities,
    goodput,
    before: omitWindows(before),
    rounds: seen,
    void: voided,
    passed: !voided && goodput >= MIN_GOODPUT && inOrder,
  }
}

/** The second from which on everything was answered well and as fast as before. */
function findRecoverySecond(windows: readonly Window[], normal_ms: number): number {
  const last = windows.findLastIndex(({ p99_ms, bad }) => bad > 0 || p99_ms > normal_ms)
  return last + 1
}

function longestProbeFailure(latencies: readonly number[]): number {
  let longest = 0
  let row = 0
  for (const latency_ms of latencies) {
    row = latency_ms < 0 || latency_ms > PROBE_LIMIT_MS ? row + 1 : 0
    longest = Math.max(longest, row)
  }
  return longest
}
