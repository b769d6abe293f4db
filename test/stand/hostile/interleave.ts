/** The full form of T4: fifty tenants on a server process of its own, and a look at the rows afterwards. */
import { PLENTY, withScene } from '../load/scene.ts'
import { interleaveRun, STRAYED_USERS } from './interleave-run.ts'

const TENANTS = 50

export async function interleaveStand(options: { seed: number; requests: number }) {
  const started_ms = performance.now()
  return withScene(async ({ base, server, furnish, ask }) => {
    const limits = { principal: PLENTY, tenant: PLENTY, in_flight: PLENTY }
    const tenants = await furnish(TENANTS, { users: 10, callers: 3, limits })
    const result = await interleaveRun({
      base,
      tenants,
      at_once: 32,
      ...options,
      onProgress: (sent) => console.error(`${sent} requests sent`),
    })
    const [rows] = await ask<{ strayed: number }>(STRAYED_USERS)
    const strayed = rows?.strayed ?? -1
    return {
      tenants: TENANTS,
      ...result,
      strayed,
      ...(await server.ask('loop', null)),
      duration_s: Math.round((performance.now() - started_ms) / 1000),
      passed: result.faults === 0 && strayed === 0 && result.broken_off > 0 && result.own_markers > 0,
    }
  })
}
