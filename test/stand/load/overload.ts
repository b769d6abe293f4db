/**
 * L3: three times what the server can do. It must keep doing most of it, refuse the rest in order, look alive to whoever
 * probes it, and be as before soon after.
 */
import type { Window } from './generator-part.ts'
import { brief, errorsOf, isVoid, mixedTargets, PLENTY, readTargets, withScene } from './scene.ts'

const TENANTS = 20
const GOODPUT = 0.7
const OFFERED = 0.95
/** In life the crowd has machines of its own: here it comes last, so as not to take the time of what it asks for. */
const CROWD_NICE = 10
const BACK_WITHIN_S = 10
/** As an orchestrator sees it: three probes in a row that fail, or take longer than a second, and it is restarted. */
const PROBE_LIMIT_MS = 1000
const PROBES_IN_A_ROW = 3

interface OverloadOptions {
  readonly seed: number
  readonly seconds: number
  /** 1: reads of one row only, which cost so little that refusing them costs a good part of it. */
  readonly reads: number
}

export async function overloadStand({ seed, seconds, reads }: OverloadOptions) {
  return withScene(async (scene) => {
    const { port, metrics_port } = scene
    const generator = await scene.startGenerator()
    const prober = await scene.startGenerator()
    const tenants = await scene.furnish(TENANTS, {
      users: 20,
      callers: 5,
      limits: { principal: PLENTY, tenant: PLENTY },
    })
    const order = { port, seed, targets: reads ? readTargets(tenants) : mixedTargets(tenants) }
    const closed = { ...order, per_second: 0, at_once: 64 }
    await generator.ask('run', { ...closed, seconds: 5 })
    const capacityBefore = (await generator.ask('run', { ...closed, seconds: 10 })).good_per_second
    const gentle = { ...order, per_second: Math.round(capacityBefore * 0.3) }
    const before = await generator.ask('run', { ...gentle, seconds: 10 })
    const probing = prober.ask('probe', { port: metrics_port, seconds: seconds + BACK_WITHIN_S })
    const per_second = Math.round(capacityBefore * 3)
    const during = await generator.ask('run', {
      ...order,
      per_second,
      seconds,
      most_connections: 4000,
      nice: CROWD_NICE,
    })
    const after = await generator.ask('run', { ...gentle, seconds: 2 * BACK_WITHIN_S })
    const probes = await probing
    const capacityAfter = (await generator.ask('run', { ...closed, seconds: 10 })).good_per_second
    // A machine is not always as fast as a minute ago.
    const capacity = (capacityBefore + capacityAfter) / 2
    const normal_ms = Math.max(50, 2 * before.p99_ms)
    const back_after_s = backAfter(after.windows, normal_ms)
    const goodput = during.good_per_second / capacity
    const strange = errorsOf({ ...during, unanswered: 0 }, [200, 201, 404, 429, 503])
    const alive = longestSilence(probes) < PROBES_IN_A_ROW
    // At such a rate the generator cannot be punctual on the server's own machine; it must have sent what it meant to.
    const voided = isVoid(before, after) || during.sent < OFFERED * per_second * seconds
    return {
      seed,
      seconds,
      load: reads ? 'reads' : 'mixed',
      capacity_per_second: [capacityBefore, capacityAfter],
      goodput: Math.round(goodput * 100) / 100,
      before: brief(before),
      during: brief(during),
      after: brief(after),
      strange,
      probes: probes.length,
      probe_max_ms: Math.round(Math.max(...probes)),
      alive,
      back_after_s,
      void: voided,
      passed:
        !voided &&
        goodput >= GOODPUT &&
        strange === 0 &&
        during.refused_without_advice === 0 &&
        alive &&
        back_after_s <= BACK_WITHIN_S,
    }
  })
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
