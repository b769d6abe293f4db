/** L1 and L2: a steady rate of requests by many tenants for a while; how long answers take, and that none is wrong. */
import {
  buildMixedTargets,
  buildReadTargets,
  countErrors,
  isInconclusive,
  type LoadSetup,
  omitWindows,
  withLoadSetup,
} from './load-setup.ts'

const TENANTS = 20
const WARM_UP_S = 10

interface SteadyOptions {
  readonly seed: number
  readonly seconds: number
  readonly per_second: number
}

async function runSteadyLoad(
  options: SteadyOptions,
  kind: 'mixed' | 'reads',
  limits: { p99_ms: number; allowed: number[] },
) {
  return withLoadSetup(async (setup: LoadSetup) => {
    const { server, port } = setup
    const generator = await setup.startGenerator()
    const tenants = await setup.seedTenants(TENANTS, { users: 20, callers: 5 })
    const targets = kind === 'mixed' ? buildMixedTargets(tenants) : buildReadTargets(tenants)
    const request = { port, targets, seed: options.seed, per_second: options.per_second }
    await generator.ask('run', { ...request, seconds: WARM_UP_S })
    await server.ask('loop', null)
    const result = await generator.ask('run', { ...request, seconds: options.seconds })
    const loop = await server.ask('loop', null)
    const errors = countErrors(result, limits.allowed)
    const voided = isInconclusive(result)
    return {
      ...options,
      ...omitWindows(result),
      ...loop,
      errors,
      p99_limit_ms: limits.p99_ms,
      void: voided,
      passed: !voided && errors === 0 && result.foreign === 0 && result.p99_ms <= limits.p99_ms,
    }
  })
}

export const runMixedLoad = (options: SteadyOptions) =>
  runSteadyLoad(options, 'mixed', { p99_ms: 120, allowed: [200, 201, 404] })
export const runReadLoad = (options: SteadyOptions) => runSteadyLoad(options, 'reads', { p99_ms: 150, allowed: [200] })
