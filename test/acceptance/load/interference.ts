/**
 * L10 and L8: what others do must not be felt. One tenant asks ten times as often as it may, or thousands of connections
 * are open and idle. Quiet tenants are measured in that company and without it, in turns within one run: beside a tenant
 * that keeps to its limit, or alone.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '#bench/median.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { MAX_STEAL_SHARE, watchStealTime } from './cpu.ts'
import type { EventLoopStats } from './event-loop.ts'
import type { LoadResult } from './generator-process.ts'
import {
  buildReadTargets,
  countErrors,
  isInconclusive,
  type LoadSetup,
  omitWindows,
  withLoadSetup,
} from './load-setup.ts'
import { hundredths } from './rounding.ts'

const MEASURED_TENANTS = 10
const MEASURED_PER_SECOND = 200
/** More than are ever in use at once: connections that are opened wait for each other, whoever's they are. */
const MEASURED_CONNECTIONS = 50
const MAX_P99_RATIO = 1.5
/** Rounds in which a generator was late or the machine was taken away are repeated, so often for each that is wanted at most. */
const MAX_REPEATS = 2

interface InterferenceOptions {
  readonly seed: number
  readonly rounds: number
  readonly seconds: number
}
interface Disturbance {
  /** What it is compared with; nobody else where it is left out. */
  baseline?<T>(seconds: number, body: () => Promise<T>): Promise<T>
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
const NOISE_LEAD_S = 3
/** It shares the machine with the server and with whoever measures, and comes after. */
const NOISE_NICE = 5
/** Ten for each of its callers. */
const NOISE_CONNECTIONS = 200

/** Nobody gets a core of its own: on two that would leave one to server and database, and double what each other's work costs them. */
function measureInterference(
  options: InterferenceOptions,
  createDisturbance: (setup: LoadSetup) => Promise<Disturbance>,
) {
  return withLoadSetup((setup) => measureInSetup(setup, options, createDisturbance))
}

async function measureInSetup(
  setup: LoadSetup,
  options: InterferenceOptions,
  createDisturbance: (setup: LoadSetup) => Promise<Disturbance>,
) {
  const { port, server } = setup
  const generator = await setup.startGenerator()
  const targets = buildReadTargets(await setup.seedTenants(MEASURED_TENANTS, { users: 20, callers: 2 }))
  const { baseline: before = (_, body) => body(), during, judge } = await createDisturbance(setup)
  const measured = (seconds: number, seed: number) => () =>
    generator.ask('run', {
      port,
      targets,
      seed,
      seconds,
      per_second: MEASURED_PER_SECOND,
      kept_connections: MEASURED_CONNECTIONS,
    })
  // Both ways: what is measured is how they live together, not how code is compiled.
  await before(WARM_UP_S, measured(WARM_UP_S, options.seed))
  await during(WARM_UP_S, measured(WARM_UP_S, options.seed))
  const without: LoadResult[] = []
  const together: LoadResult[] = []
  const loops: EventLoopStats[] = []
  const mostRepeats = MAX_REPEATS * options.rounds
  const repeats = { late: 0, stolen: 0 }
  for (let round = 0; without.length < options.rounds; round++) {
    const stolen = watchStealTime()
    const alone = await before(options.seconds, measured(options.seconds, options.seed + round))
    await server.ask('loop', null)
    const beside = await during(options.seconds, measured(options.seconds, options.seed + round))
    const loop = await server.ask('loop', null)
    const why = stolen() > MAX_STEAL_SHARE ? 'stolen' : isInconclusive(alone, beside) ? 'late' : undefined
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
  const errors = [...without, ...together].reduce((sum, result) => sum + countErrors(result, [200]), 0)
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
    passed: !voided && ratio <= MAX_P99_RATIO && errors === 0 && foreign === 0 && complaints.length === 0,
  }
}

export const runNoisyNeighbour = (options: InterferenceOptions) =>
  measureInterference(options, async (setup) => {
    const noisy = await setup.startGenerator()
    const [tenant] = await setup.seedTenants(1, { users: 20, callers: 20 })
    const targets = buildReadTargets(tenant ? [tenant] : [])
    const within = defaultLimits.tenant.per_second
    const results: LoadResult[] = []
    const beside =
      (per_second: number) =>
      async <T>(seconds: number, body: () => Promise<T>): Promise<T> => {
        const noise = noisy.ask('run', {
          port: setup.port,
          targets,
          seed: options.seed,
          per_second,
          seconds: NOISE_LEAD_S + seconds,
          nice: NOISE_NICE,
          kept_connections: NOISE_CONNECTIONS,
          most_connections: NOISE_CONNECTIONS,
        })
        await sleep(NOISE_LEAD_S * 1000)
        const result = await body()
        results.push(await noise)
        return result
      }
    return {
      baseline: beside(within),
      during: beside(10 * within),
      judge: () => {
        const strange = results.reduce((sum, result) => sum + countErrors(result, [200, 429]), 0)
        const unadvised = results.reduce((sum, result) => sum + result.refused_without_advice, 0)
        return {
          facts: { loud: results.map(omitWindows) },
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

export const runIdleConnections = ({
  connections,
  ...options
}: InterferenceOptions & { readonly connections: number }) =>
  measureInterference(options, async (setup) => {
    const load = await setup.startGenerator()
    const waiting = await setup.seedTenants(10, { users: 1, callers: 1 })
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
        held.push(await load.ask('hold', { port: setup.port, connections, targets: polls }))
        await sleep(SETTLE_S * 1000)
        try {
          return await body()
        } finally {
          await load.ask('release', null)
        }
      },
      judge: () => ({
        facts: { idle_connections: held, long_polls: polls.length },
        complaints: held.filter((count) => count < connections).map((count) => `only ${count} connections were held`),
      }),
    }
  })
