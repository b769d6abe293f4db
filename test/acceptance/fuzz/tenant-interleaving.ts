/** The full form of T4: fifty tenants on a server process of its own, and a look at the rows afterwards. */
import { UNLIMITED, withLoadSetup } from '../load/load-setup.ts'
import { COUNT_STRAY_USERS_SQL, runInterleavedRequests } from './interleaved-requests.ts'

const TENANTS = 50

export async function runTenantInterleaving(options: { seed: number; requests: number }) {
  const started_ms = performance.now()
  return withLoadSetup(async ({ base, server, seedTenants, ask: query }) => {
    const limits = { principal: UNLIMITED, tenant: UNLIMITED, in_flight: UNLIMITED }
    const tenants = await seedTenants(TENANTS, { users: 10, callers: 3, limits })
    const result = await runInterleavedRequests({
      base,
      tenants,
      at_once: 32,
      ...options,
      onProgress: (sent) => console.error(`${sent} requests sent`),
    })
    const [rows] = await query<{ strayed: number }>(COUNT_STRAY_USERS_SQL)
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
