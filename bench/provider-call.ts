/**
 * A provider call from the stored request to the admitted answer, beside bare undici requests to the same server on the loopback: with
 * address check, encrypted input and answer, attempt, cost, limits, access log and source contract. The queue is not part of it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { roles } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { expectReady } from '#modules/provider-credentials/index.ts'
import { advanceCall, createCall } from '#modules/providers/index.ts'
import { CountingProvider, createRegistryPayload } from '#test/support/counting-provider.ts'
import { createBenchRuntime } from './bench-runtime.ts'
import { type BenchDatabases, MASTER_KEY_HEX } from './database.ts'
import { median } from './median.ts'
import type { Comparison } from './registry-bench.ts'

const ROUNDS = 5
const PROVIDER_KEY = 'bench-registry'
/** At once, as a worker runs calls. */
const CONCURRENT = 4
/** How long the provider takes, and how many calls are measured in a round. */
const cases = [
  { latency_ms: 0, calls: 200 },
  { latency_ms: 100, calls: 40 },
]

export async function measureProviderCalls(databases: BenchDatabases, tenant_id: string): Promise<Comparison[]> {
  const provider = await CountingProvider.start()
  const connections = { app: databases.isolated('app'), worker: databases.isolated('worker') }
  const runtime = await createBenchRuntime({ ...connections, master_key_hex: MASTER_KEY_HEX, egress: provider.egress })
  const agent = new Agent({ connections: CONCURRENT })
  try {
    await databases.runAsAdmin(`update app.approval_policy set rules = '[]' where tenant_id = '${tenant_id}'`)
    const make = await createCaller(runtime, tenant_id)
    await connect(make, provider)
    const { kernel } = runtime
    const scope = fullScope(tenant_id, 'operator:bench')
    const signal = new AbortController().signal
    let number = 0
    const ours = async (): Promise<void> => {
      const input = { number: String(number++) }
      const { call_id } = await kernel.transactions.write(scope, async (tx: Tx) => {
        const ready = (await expectReady(kernel, tx, [PROVIDER_KEY])).get(PROVIDER_KEY)
        if (!ready) throw new Error('the provider is not ready')
        return createCall(kernel, tx, ready, { capability: 'company.lookup', input, subject_id: null })
      })
      const step = await advanceCall({ kernel, scope, signal }, call_id)
      if (step.kind !== 'ended' || step.end.outcome !== 'answered') throw new Error(JSON.stringify(step))
    }
    const bare = async (): Promise<void> => {
      const { body } = await request(`http://127.0.0.1:${provider.port}/companies/1`, { dispatcher: agent })
      JSON.parse(await body.text())
    }
    const rows: Comparison[] = []
    for (const { latency_ms, calls } of cases) {
      provider.respond = ({ path }) => ({
        body: createRegistryPayload(path.split('/').at(-1) ?? ''),
        ...(latency_ms > 0 && { after: sleep(latency_ms) }),
      })
      const rounds: { ours_ms: number; bare_ms: number }[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        const measured = { ours_ms: await timeEach(ours, calls), bare_ms: await timeEach(bare, calls) }
        // The first round warms.
        if (round > 0) rounds.push(measured)
        provider.requests.length = 0
      }
      rows.push({
        label: `provider call, ${CONCURRENT} at once, the provider answers ${latency_ms === 0 ? 'at once' : `after ${latency_ms} ms`}`,
        entries: calls,
        ours: `${median(rounds.map(({ ours_ms }) => ours_ms)).toFixed(2)} ms`,
        baseline: `bare undici ${median(rounds.map(({ bare_ms }) => bare_ms)).toFixed(2)} ms`,
        ratio: median(rounds.map(({ ours_ms, bare_ms }) => bare_ms / ours_ms)),
        ...(latency_ms > 0 && { aim: 0.4 }),
      })
    }
    return rows
  } finally {
    await agent.close()
    await runtime.close()
    await provider.close()
  }
}

export type Make = (at: string, body?: object) => Promise<Record<string, never>>

/** A change that waits for approval is answered 202 too, so whoever starts jobs says so. */
export async function createCaller(
  runtime: Awaited<ReturnType<typeof createBenchRuntime>>,
  tenant_id: string,
  starts_jobs = false,
): Promise<Make> {
  const server = await runtime.createServer()
  const who = { tenant_id, principal: `user:${tenant_id}`, roles, lifetime_s: 3600 } as const
  const { token } = await runtime.kernel.issuer.mint(who)
  return async (at, body) => {
    const [method, url] = at.split(' ') as ['POST', string]
    const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) }
    const payload = body && { payload: JSON.stringify(body) }
    const reply = await server.app.inject({ method, url: `/api${url}`, headers, ...payload })
    if (reply.statusCode >= 300 || (reply.statusCode === 202 && !starts_jobs))
      throw new Error(`${at}: ${reply.statusCode} ${reply.body}`)
    return reply.json()
  }
}

export async function connect(make: Make, provider: CountingProvider, provider_key = PROVIDER_KEY): Promise<void> {
  const definition = provider.createManifest()
  await make('POST /providers', { provider_key, title: 'Measured', definition })
  await make(`POST /providers/${provider_key}/versions/draft/publish`, {})
  await make(`POST /providers/${provider_key}/activations`, { version: 1, reason: 'measured' })
  const { credential_id } = await make('POST /provider-credentials', { provider_key, label: 'Measured' })
  await make(`POST /provider-credentials/${credential_id}/versions`, { members: { api_key: 'measured' } })
  await make(`POST /provider-credentials/${credential_id}/versions/1/activations`, { reason: 'measured' })
}

/** Milliseconds for each, with some at once. */
export async function timeEach(body: () => Promise<void>, count: number): Promise<number> {
  let left = count
  const run = async () => {
    while (left-- > 0) await body()
  }
  const from_ms = performance.now()
  await Promise.all(Array.from({ length: CONCURRENT }, run))
  return (performance.now() - from_ms) / count
}
