/** The setup of load and fuzz runs: a durable database, the server and the generators as processes of their own, seeded tenants. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Bucket } from '#kernel/auth/queries.ts'
import { type DurableDatabase, startDurableDatabase } from '../support/durable-database.ts'
import { type ChildService, type RpcHandlers, runMainOrChild, startChild } from './child-processes.ts'
import { pinToCores } from './cpu.ts'
import {
  createGeneratorHandlers,
  type GeneratorProcess,
  type LoadResult,
  type LoadTarget,
  MAX_GENERATOR_LAG_MS,
  UNIQUE_PLACEHOLDER,
} from './generator-process.ts'
import { createServerHandlers, type SeededTenant, type ServerProcess } from './server-process.ts'

export interface LoadSetup {
  readonly port: number
  /** Where an orchestrator asks whether the process is alive. */
  readonly metrics_port: number
  /** Whether generators have a core of their own. */
  readonly apart: boolean
  readonly base: string
  /** The API document the server publishes. */
  readonly document: object
  readonly server: ServerProcess
  startGenerator(): Promise<GeneratorProcess>
  /** As superuser, who bypasses tenant isolation. */
  ask: DurableDatabase['call']
  seedTenants(
    count: number,
    request: { users: number; callers: number; limits?: Readonly<Partial<Record<Bucket, number>>> },
  ): Promise<SeededTenant[]>
}

export async function withLoadSetup<T>(
  body: (setup: LoadSetup) => Promise<T>,
  { apart: wantsPinning = false, ...options }: { trusted_proxies?: number; apart?: boolean } = {},
): Promise<T> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-load-'))
  const apart = wantsPinning && pinToCores(process.pid, 'server')
  const database = await startDurableDatabase()
  const parts: ChildService<RpcHandlers>[] = []
  const start = async <S extends RpcHandlers>(name: 'server' | 'generator'): Promise<ChildService<S>> => {
    const part = await startChild<S>(name)
    parts.unshift(part as unknown as ChildService<RpcHandlers>)
    return part
  }
  try {
    const server: ServerProcess = await start('server')
    const { port, metrics_port, document } = await server.ask('serve', {
      connections: { app: database.connection('app'), worker: database.connection('worker') },
      log_file: path.join(folder, 'service.log'),
      jobs: true,
      ...options,
    })
    // From here on the run itself only watches: what it collects must not be felt by the server.
    if (apart) pinToCores(process.pid, 'generator')
    return await body({
      port,
      metrics_port,
      apart,
      base: `http://127.0.0.1:${port}`,
      document,
      server,
      startGenerator: async () => {
        const generator: GeneratorProcess = await start('generator')
        if (apart) pinToCores(generator.process.pid as number, 'generator')
        return generator
      },
      ask: database.call,
      seedTenants: async (count, request) =>
        server.ask('seedTenants', { tenants: await database.makeTenants(count), ...request }),
    })
  } finally {
    for (const part of parts) await part.stop()
    await database.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Limits that nothing in a run will meet. */
export const UNLIMITED = 1_000_000

/** Plays this process's part, or runs the run, prints its one line and sets the exit code. */
export const runLoadTest = (name: string, run: () => Promise<{ passed: boolean }>): Promise<void> =>
  runMainOrChild({ server: createServerHandlers, generator: createGeneratorHandlers }, async () => {
    const result = await run()
    console.log(JSON.stringify({ run: name, ...result }))
    process.exitCode = result.passed ? 0 : 1
  })

const pickRoundRobin = <T>(values: readonly T[], number: number): T => values[number % values.length] as T

/** Reads of one row each, of every tenant's own rows. */
export const buildReadTargets = (tenants: readonly SeededTenant[]): LoadTarget[] =>
  tenants.flatMap(({ marker, tokens, user_ids }) => [
    ...user_ids.map((user_id, n) => ({
      at: `GET /users/${user_id}`,
      token: pickRoundRobin(tokens, n),
      weight: 8 / user_ids.length,
      marker,
    })),
    ...tokens.map((token) => ({ at: 'GET /tenant', token, weight: 2 / tokens.length, marker })),
  ])

/** What a console and a few machines do all day; one in forty asks for a row of another tenant. */
export const buildMixedTargets = (tenants: readonly SeededTenant[]): LoadTarget[] =>
  tenants.flatMap(({ marker, tokens, user_ids }, place) => {
    const foreign = pickRoundRobin(tenants, place + 1).user_ids[0] as string
    const person = {
      name: `${marker} ${UNIQUE_PLACEHOLDER}`,
      email: `${UNIQUE_PLACEHOLDER}@${marker}.example`,
      roles: ['viewer'],
    }
    const mix: readonly (readonly [weight: number, at: string, body?: object])[] = [
      [12, 'GET /tenant'],
      [6, 'GET /auth/me'],
      [14, 'GET /users?limit=20'],
      [6, 'GET /audit/events?limit=20'],
      [5, 'GET /jobs?limit=20'],
      [4, 'GET /api-keys'],
      [10, 'POST /users', person],
      [2.5, `GET /users/${foreign}`],
      ...user_ids.map((user_id) => [32 / user_ids.length, `GET /users/${user_id}`] as const),
      ...user_ids.map(
        (user_id) =>
          [8.5 / user_ids.length, `PATCH /users/${user_id}`, { team: `${marker} ${UNIQUE_PLACEHOLDER}` }] as const,
      ),
    ]
    return mix.map(([weight, at, body], n) => ({
      at,
      token: pickRoundRobin(tokens, n),
      weight,
      marker,
      ...(body && { body: JSON.stringify(body) }),
    }))
  })

/** A run whose generator was late says nothing about the server. */
export const isInconclusive = (...results: readonly LoadResult[]): boolean =>
  results.some(({ late_ms }) => late_ms > MAX_GENERATOR_LAG_MS)

/** What is worth a line: everything but the seconds. */
export function omitWindows({ windows: _, ...rest }: LoadResult): Omit<LoadResult, 'windows'> {
  return rest
}

export const countErrors = ({ statuses, unanswered }: LoadResult, allowed: readonly number[]): number =>
  Object.entries(statuses).reduce(
    (sum, [status, count]) => sum + (allowed.includes(Number(status)) ? 0 : count),
    unanswered,
  )
