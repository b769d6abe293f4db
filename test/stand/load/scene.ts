/** What stands under load or attack stand on: a durable database, the server and the generators as processes of their own, furnished tenants. */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Bucket } from '../../../src/kernel/limits.ts'
import { type Ground, layGround } from '../ground.ts'
import {
  type GeneratorPart,
  LATE_LIMIT_MS,
  type LoadResult,
  playGenerator,
  type Target,
  UNIQUE,
} from './generator-part.ts'
import { moveApart } from './machine.ts'
import { type Part, type Skills, standOrPart, startPart } from './parts.ts'
import { type FurnishedTenant, playServer, type ServerPart } from './server-part.ts'

export interface Scene {
  readonly port: number
  /** Where an orchestrator asks whether the process is alive. */
  readonly metrics_port: number
  /** Whether generators have a core of their own. */
  readonly apart: boolean
  readonly base: string
  /** The API document the server publishes. */
  readonly document: object
  readonly server: ServerPart
  startGenerator(): Promise<GeneratorPart>
  /** As superuser, past every wall. */
  ask: Ground['ask']
  furnish(
    count: number,
    order: { users: number; callers: number; limits?: Readonly<Partial<Record<Bucket, number>>> },
  ): Promise<FurnishedTenant[]>
}

export async function withScene<T>(
  body: (scene: Scene) => Promise<T>,
  { apart: wantsApart = false, ...options }: { trusted_proxies?: number; apart?: boolean } = {},
): Promise<T> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-load-'))
  const apart = wantsApart && moveApart(process.pid, 'served')
  const ground = await layGround()
  const parts: Part<Skills>[] = []
  const start = async <S extends Skills>(name: 'server' | 'generator'): Promise<Part<S>> => {
    const part = await startPart<S>(name)
    parts.unshift(part as unknown as Part<Skills>)
    return part
  }
  try {
    const server: ServerPart = await start('server')
    const { port, metrics_port, document } = await server.ask('serve', {
      connections: { app: ground.connection('app'), worker: ground.connection('worker') },
      log_file: path.join(folder, 'service.log'),
      jobs: true,
      ...options,
    })
    // From here on the stand itself only watches: what it collects must not be felt by the server.
    if (apart) moveApart(process.pid, 'asking')
    return await body({
      port,
      metrics_port,
      apart,
      base: `http://127.0.0.1:${port}`,
      document,
      server,
      startGenerator: async () => {
        const generator: GeneratorPart = await start('generator')
        if (apart) moveApart(generator.process.pid as number, 'asking')
        return generator
      },
      ask: ground.ask,
      furnish: async (count, order) => server.ask('furnish', { tenants: await ground.makeTenants(count), ...order }),
    })
  } finally {
    for (const part of parts) await part.stop()
    await ground.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** Limits that nothing in a stand will meet. */
export const PLENTY = 1_000_000

/** Plays this process's part, or runs the stand, prints its one line and sets the exit code. */
export const runStand = (name: string, stand: () => Promise<{ passed: boolean }>): Promise<void> =>
  standOrPart({ server: playServer, generator: playGenerator }, async () => {
    const result = await stand()
    console.log(JSON.stringify({ stand: name, ...result }))
    process.exitCode = result.passed ? 0 : 1
  })

const spread = <T>(values: readonly T[], number: number): T => values[number % values.length] as T

/** Reads of one row each, of every tenant's own rows. */
export const readTargets = (tenants: readonly FurnishedTenant[]): Target[] =>
  tenants.flatMap(({ marker, tokens, user_ids }) => [
    ...user_ids.map((user_id, n) => ({
      at: `GET /users/${user_id}`,
      token: spread(tokens, n),
      weight: 8 / user_ids.length,
      marker,
    })),
    ...tokens.map((token) => ({ at: 'GET /tenant', token, weight: 2 / tokens.length, marker })),
  ])

/** What a console and a few machines do all day; one in forty asks for a row of another tenant. */
export const mixedTargets = (tenants: readonly FurnishedTenant[]): Target[] =>
  tenants.flatMap(({ marker, tokens, user_ids }, place) => {
    const foreign = spread(tenants, place + 1).user_ids[0] as string
    const person = { name: `${marker} ${UNIQUE}`, email: `${UNIQUE}@${marker}.example`, roles: ['viewer'] }
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
        (user_id) => [8.5 / user_ids.length, `PATCH /users/${user_id}`, { team: `${marker} ${UNIQUE}` }] as const,
      ),
    ]
    return mix.map(([weight, at, body], n) => ({
      at,
      token: spread(tokens, n),
      weight,
      marker,
      ...(body && { body: JSON.stringify(body) }),
    }))
  })

/** A run whose generator was late says nothing about the server. */
export const isVoid = (...results: readonly LoadResult[]): boolean =>
  results.some(({ late_ms }) => late_ms > LATE_LIMIT_MS)

/** What is worth a line: everything but the seconds. */
export function brief({ windows: _, ...rest }: LoadResult): Omit<LoadResult, 'windows'> {
  return rest
}

export const errorsOf = ({ statuses, unanswered }: LoadResult, allowed: readonly number[]): number =>
  Object.entries(statuses).reduce(
    (sum, [status, count]) => sum + (allowed.includes(Number(status)) ? 0 : count),
    unanswered,
  )
