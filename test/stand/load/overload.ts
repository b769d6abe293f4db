/**
 * L3: three times what the server can do. It must keep doing most of it, refuse the rest in order, look alive to whoever
 * probes it, and be as before soon after.
 */
import { median } from '../../../bench/median.ts'
import type { Window } from './generator-part.ts'
import { STOLEN_LIMIT, watchStolen } from './machine.ts'
import { hundredths } from './numbers.ts'
import { brief, errorsOf, isVoid, mixedTargets, PLENTY, readTargets, type Scene, withScene } from './scene.ts'

const TENANTS = 20
const GOODPUT = 0.7
const OFFERED = 0.95
const BACK_WITHIN_S = 10
/** As an orchestrator sees it: three probes in a row that fail, or take longer than a second, and it is restarted. */
const PROBE_LIMIT_MS = 1000
const PROBES_IN_A_ROW = 3

interface OverloadOptions {
  readonly seed: number
  readonly rounds: number
  readonly seconds: number
  /** 1: reads of one row only, which cost so little that refusing them costs a good part of it. */
  readonly reads: number
}

export const overloadStand = (options: OverloadOptions) =>
  withScene((scene) => overload(scene, options), { apart: true })

async function overload(scene: Scene, { seed, rounds, seconds, reads }: OverloadOptions) {
  const { port, metrics_port, apart } = scene
  const generator = await scene.startGenerator()
  const prober = await scene.startGenerator()
  const tenants = await scene.furnish(TENANTS, {
    users: 20,
    callers: 5,
    limits: { principal: PLENTY, tenant: PLENTY },
  })
  const order = { port, seed, targets: reads ? readTargets(tenants) : mixedTargets(tenants) }
  const closed = { ...order, per_second: 0, at_once: 64 }
  const measureCapacity = async () => (await generator.ask('run', { ...closed, seconds: 5 })).good_per_second
  await generator.ask('run', { ...closed, seconds: 5 })
  const stolenShare = watchStolen()
  const capacities = [await measureCapacity()]
  const gentle = { ...order, per_second: Math.round((capacities[0] as number) * 0.3) }
  const before = await generator.ask('run', { ...gentle, seconds: 10 })
  const normal_ms = Math.max(50, 2 * before.p99_ms)

  const round = async () => {
    const capacityBefore = capacities.at(-1) as number
    const probing = prober.ask('probe', { port: metrics_port, seconds: seconds + BACK_WITHIN_S })
    const per_second = Math.round(capacityBefore * 3)
    const during = await generator.ask('run', { ...order, per_second, seconds, most_connections: 4000 })
    const after = await generator.ask('run', { ...gentle, seconds: BACK_WITHIN_S + 2 })
    const probes = await probing
    const capacityAfter = await measureCapacity()
    capacities.push(capacityAfter)
    return {
      // A machine is not always as fast as a minute ago.
      goodput: hundredths(during.good_per_second / ((capacityBefore + capacityAfter) / 2)),
      strange: errorsOf({ ...during, unanswered: 0 }, [200, 201, 404, 429, 503]) + during.refused_without_advice,
      alive: longestSilence(probes) < PROBES_IN_A_ROW,
      probe_max_ms: Math.round(Math.max(...probes)),
      back_after_s: backAfter(after.windows, normal_ms),
      during: brief(during),
      after: brief(after),
      // At such a rate a generator need not be punctual; it must have sent what it meant to.
      void: isVoid(after) || during.sent < OFFERED * per_second * seconds,
    }
  }

  const seen: Awaited<ReturnType<typeof round>>[] = []
  for (let n = 0; n < rounds; n++) seen.push(await round())
  const goodput = median(seen.map((each) => each.goodput))
  const stolen = stolenShare()
  const voided = isVoid(before) || stolen > 4 * STOLEN_LIMIT || seen.some((each) => each.void)
  const inOrder = seen.every(
    ({ strange, alive, back_after_s }) => strange === 0 && alive && back_after_s <= BACK_WITHIN_S,
  )
  return {
    seed,
    seconds,
    apart,
    stolen,
    load: reads ? 'reads' : 'mixed',
    capacity_per_second: capacities,
    goodput,
    before: brief(before),
    rounds: seen,
    void: voided,
    passed: !voided && goodput >= GOODPUT && inOrder,
  }
}

/** The second from which on everything was answered well and as fast as before. */
function backAfter(windows: readonly Window[], normal_ms: number): number {
  const last = windows.findLastIndex(({ p99_ms, bad }) => bad > 0 || p99_ms > normal_ms)
  return last + 1
}

function longestSilence(latencies: readonly number[]): number {
  let longest = 0
  let row = 0
  for (const latency_ms of latencies) {
    row = latency_ms < 0 || latency_ms > PROBE_LIMIT_MS ? row + 1 : 0
    longest = Math.max(longest, row)
  }
  return longest
}
