/** I2: as many valid and invalid requests as asked for, from the API document, against a server process of its own. */
import { UNLIMITED, withLoadSetup } from '../load/load-setup.ts'
import { runGeneratedRequests } from './generated-requests.ts'

const BLOCKED_LIMIT_MS = 200

export async function runApiFuzz(options: { seed: number; valid: number; invalid: number }) {
  const started_ms = performance.now()
  return withLoadSetup(
    async ({ base, document, server, seedTenants }) => {
      const limits = { principal: UNLIMITED, tenant: UNLIMITED, in_flight: UNLIMITED, heavy: UNLIMITED }
      const [tenant] = await seedTenants(1, { users: 50, callers: 4, limits })
      await server.ask('loop', null)
      const result = await runGeneratedRequests({
        base,
        document,
        tokens: tenant?.tokens ?? [],
        ...options,
        at_once: 16,
        own_addresses: true,
        onProgress: (sent) => console.error(`${sent} requests sent`),
      })
      const loop = await server.ask('loop', null)
      return {
        ...result,
        ...loop,
        duration_s: Math.round((performance.now() - started_ms) / 1000),
        passed: result.faults === 0 && loop.blocked_max_ms <= BLOCKED_LIMIT_MS,
      }
    },
    // Each request may then name an address of its own, so that no limit per address is met.
    { trusted_proxies: 1 },
  )
}
