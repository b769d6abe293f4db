/** L1 and L2: a steady rate of requests by many tenants for a while; how long answers take, and that none is wrong. */
import { brief, errorsOf, isVoid, mixedTargets, readTargets, type Scene, withScene } from './scene.ts'

const TENANTS = 20
const WARM_UP_S = 10

interface SteadyOptions {
  readonly seed: number
  readonly seconds: number
  readonly per_second: number
}

async function steady(options: SteadyOptions, kind: 'mixed' | 'reads', limits: { p99_ms: number; allowed: number[] }) {
  return withScene(async (scene: Scene) => {
    const { server, port } = scene
    const generator = await scene.startGenerator()
    const tenants = await scene.furnish(TENANTS, { users: 20, callers: 5 })
    const targets = kind === 'mixed' ? mixedTargets(tenants) : readTargets(tenants)
    const order = { port, targets, seed: options.seed, per_second: options.per_second }
    await generator.ask('run', { ...order, seconds: WARM_UP_S })
    await server.ask('loop', null)
    const result = await generator.ask('run', { ...order, seconds: options.seconds })
    const loop = await server.ask('loop', null)
    const errors = errorsOf(result, limits.allowed)
    const voided = isVoid(result)
    return {
      ...options,
      ...brief(result),
      ...loop,
      errors,
      p99_limit_ms: limits.p99_ms,
      void: voided,
      passed: !voided && errors === 0 && result.foreign === 0 && result.p99_ms <= limits.p99_ms,
    }
  })
}

export const mixedStand = (options: SteadyOptions) =>
  steady(options, 'mixed', { p99_ms: 120, allowed: [200, 201, 404] })
export const readsStand = (options: SteadyOptions) => steady(options, 'reads', { p99_ms: 150, allowed: [200] })
