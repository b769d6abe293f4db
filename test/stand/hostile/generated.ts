/** I2: as many valid and invalid requests as asked for, from the API document, against a server process of its own. */
import { PLENTY, withScene } from '../load/scene.ts'
import { generatedRun } from './generated-run.ts'

const BLOCKED_LIMIT_MS = 200

export async function generatedStand(options: { seed: number; valid: number; invalid: number }) {
  const started_ms = performance.now()
  return withScene(
    async ({ base, document, server, furnish }) => {
      const limits = { principal: PLENTY, tenant: PLENTY, in_flight: PLENTY, heavy: PLENTY }
      const [tenant] = await furnish(1, { users: 50, callers: 4, limits })
      await server.ask('loop', null)
      const result = await generatedRun({
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
