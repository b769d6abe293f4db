/**
 * L10 and L8: what others do must not be felt. One tenant asks ten times as often as it may, or thousands of connections
 * are open and idle. Quiet tenants are measured in that company and without it, in turns within one run: beside a tenant
 * that keeps to its limit, or alone.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../../../bench/median.ts'
import { defaultLimits } from '../../../src/kernel/limits.ts'
import type { LoopView } from './blocked-loop.ts'
import type { LoadResult } from './generator-part.ts'
import { STOLEN_LIMIT, watchStolen } from './machine.ts'
import { hundredths } from './numbers.ts'
import { brief, errorsOf, isVoid, readTargets, type Scene, withScene } from './scene.ts'

const QUIET_TENANTS = 10
const QUIET_PER_SECOND = 200
/** More than are ever in use at once: connections that are opened wait for each other, whoever's they are. */
const QUIET_CONNECTIONS = 50
const RATIO_LIMIT = 1.5
/** Rounds in which a generator was late or the machine was taken away are repeated, so often for each that is wanted at most. */
const MOST_REPEATS = 2

interface CompanyOptions {
  readonly seed: number
  readonly rounds: number
  readonly seconds: number
}
interface Company {
  /** What it is compared with; nobody else where it is left out. */
  before?<T>(seconds: number, body: () => Promise<T>): Promise<T>
  during<T>(seconds: number, body: () => Promise<T>): Promise<T>
  judge(): {
    readonly facts: object
    /** How the company behaved; empty when it is as it should be. */
    readonly complaints: readonly string[]
  }
}

/** Until nothing more is compiled. */
const WARM_UP_S = 20
/** What it may ask in one go is gone by then: from there on nine in ten are refused. */
const LOUD_BEFORE_S = 3
/** It shares the machine with the server and with whoever measures, and comes after. */
const LOUD_NICE = 5
/** Ten for each of its callers. */
const LOUD_CONNECTIONS = 200

/** Nobody gets a core of its own: on two that would leave one to server and database, and double what each other's work costs them. */
function measure(options: CompanyOptions, company: (scene: Scene) => Promise<Company>) {
  return withScene((scene) => measureIn(scene, options, company))
}

async function measureIn(scene: Scene, options: CompanyOptions, company: (scene: Scene) => Promise<Company>) {
  const { port, server } = scene
  const generator = await scene.startGenerator()
  const targets = readTargets(await scene.furnish(QUIET_TENANTS, { users: 20, callers: 2 }))
  const { before = (_, body) => body(), during, judge } = await company(scene)
  const quiet = (seconds: number, seed: number) => () =>
    generator.ask('run', {
      port,
      targets,
      seed,
      seconds,
      per_second: QUIET_PER_SECOND,
      kept_connections: QUIET_CONNECTIONS,
    })
  // Both ways: what is measured is how they live together, not how code is compiled.
  await before(WARM_UP_S, quiet(WARM_UP_S, options.seed))
  await during(WARM_UP_S, quiet(WARM_UP_S, options.seed))
  const without: LoadResult[] = []
  const together: LoadResult[] = []
  const loops: LoopView[] = []
  const mostRepeats = MOST_REPEATS * options.rounds
  const repeats = { late: 0, stolen: 0 }
  for (let round = 0; without.length < options.rounds; round++) {
    const stolen = watchStolen()
    const alone = await before(options.seconds, quiet(options.seconds, options.seed + round))
    await server.ask('loop', null)
    const beside = await during(options.seconds, quiet(options.seconds, options.seed + round))
    const loop = await server.ask('loop', null)
    const why = stolen() > STOLEN_LIMIT ? 'stolen' : isVoid(alone, beside) ? 'late' : undefined
    if (why) repeats[why]++
    if (why && repeats.late + repeats.stolen <= mostRepeats) continue
    without.push(alone)
    together.push(beside)
    loops.push(loop)
  }
  // Rounds are short and take turns, so that whatever disturbs the machine falls on both sides alike.
  const without_ms = median(without.map(({ p99_ms }) => p99_ms))
  const together_ms = median(together.map(({ p99_ms }) => p99_ms))
  const ratio = together_ms / without_ms
  const errors = [...without, ...together].reduce((sum, result) => sum + errorsOf(result, [200]), 0)
  const foreign = [...without, ...together].reduce((sum, result) => sum + result.foreign, 0)
  const voided = repeats.late + repeats.stolen > mostRepeats
  const { facts, complaints } = judge()
  return {
    ...options,
    repeats,
    without_p99_ms: without_ms,
    together_p99_ms: together_ms,
    ratio: hundredths(ratio),
    rounds_p99_ms: without.map(({ p99_ms }, n) => [p99_ms, together[n]?.p99_ms]),
    errors,
    foreign,
    ...facts,
    loops,
    complaints,
    void: voided,
    passed: !voided && ratio <= RATIO_LIMIT && errors === 0 && foreign === 0 && complaints.length === 0,
  }
}

export const neighbourStand = (options: CompanyOptions) =>
  measure(options, async (scene) => {
    const loud = await scene.startGenerator()
    const [tenant] = await scene.furnish(1, { users: 20, callers: 20 })
    const targets = readTargets(tenant ? [tenant] : [])
    const within = defaultLimits.tenant.per_second
    const results: LoadResult[] = []
    const beside =
      (per_second: number) =>
      async <T>(seconds: number, body: () => Promise<T>): Promise<T> => {
        const noise = loud.ask('run', {
          port: scene.port,
          targets,
          seed: options.seed,
          per_second,
          seconds: LOUD_BEFORE_S + seconds,
          nice: LOUD_NICE,
          kept_connections: LOUD_CONNECTIONS,
          most_connections: LOUD_CONNECTIONS,
        })
        await sleep(LOUD_BEFORE_S * 1000)
        const result = await body()
        results.push(await noise)
        return result
      }
    return {
      before: beside(within),
      during: beside(10 * within),
      judge: () => {
        const strange = results.reduce((sum, result) => sum + errorsOf(result, [200, 429]), 0)
        const unadvised = results.reduce((sum, result) => sum + result.refused_without_advice, 0)
        return {
          facts: { loud: results.map(brief) },
          complaints: [
            ...(strange > 0 ? [`${strange} answers to the loud tenant were neither 200 nor 429`] : []),
            ...(unadvised > 0 ? [`${unadvised} refusals came without Retry-After`] : []),
          ],
        }
      },
    }
  })

/** Long polls are kept below what a tenant may have in flight. */
const POLLS_EACH = 20
/** Opening ten thousand connections is work, and what it leaves is collected soon after: here they are to be idle. */
const SETTLE_S = 5

export const idleStand = ({ connections, ...options }: CompanyOptions & { readonly connections: number }) =>
  measure(options, async (scene) => {
    const crowd = await scene.startGenerator()
    const waiting = await scene.furnish(10, { users: 1, callers: 1 })
    const polls = waiting.flatMap(({ job_id, tokens, marker }) =>
      Array.from({ length: POLLS_EACH }, () => ({
        at: `GET /jobs/${job_id}?wait=8`,
        token: tokens[0] as string,
        weight: 1,
        marker,
      })),
    )
    const held: number[] = []
    return {
      during: async (_, body) => {
        held.push(await crowd.ask('hold', { port: scene.port, connections, targets: polls }))
        await sleep(SETTLE_S * 1000)
        try {
          return await body()
        } finally {
          await crowd.ask('release', null)
        }
      },
      judge: () => ({
        facts: { idle_connections: held, long_polls: polls.length },
        complaints: held.filter((count) => count < connections).map((count) => `only ${count} connections were held`),
      }),
    }
  })
