/**
 * F4, `npm run acceptance -- rolling-restart`: two replicas behind a balancer are stopped in turn (SIGTERM) and started again under load. No
 * request fails: nothing is repeated, so every one that is cut off or refused counts.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WireRequest } from '../support/keep-alive-client.ts'
import { runFaultTest } from './faults/fault-test.ts'
import { type KillableDatabase, startKillableDatabase } from './faults/killable-database.ts'
import { LoadBalancer } from './faults/load-balancer.ts'
import { freePort, Service } from './faults/service.ts'

/** As in production, only sooner: five times what the balancer needs to notice. */
const DRAIN_MS = 1500
const TENANTS = 4

/** What the load consists of: short reads, long polls, writes, and uploads that take a while to arrive. */
function randomRequest(
  { tenants }: KillableDatabase,
  jobs: ReadonlyMap<string, string>,
  random: (below: number) => number,
): WireRequest {
  const { tenant_id, token } = tenants[random(tenants.length)] as KillableDatabase['tenants'][number]
  const headers = { authorization: `Bearer ${token}` }
  const chance = random(100)
  if (chance < 60) return { method: 'GET', url: '/api/users?limit=20', headers }
  if (chance < 64) return { method: 'GET', url: `/api/jobs/${jobs.get(tenant_id)}?wait=${1 + random(3)}`, headers }
  if (chance < 66) return { method: 'GET', url: `/api/jobs/${jobs.get(tenant_id)}/events`, headers }
  if (chance < 72) {
    const body = Buffer.alloc(500_000 + random(1_500_000), 1)
    return {
      method: 'POST',
      url: '/api/uploads',
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body,
    }
  }
  const body = JSON.stringify({ name: 'Ada', email: `${randomUUID()}@acceptance.example`, roles: ['viewer'] })
  return { method: 'POST', url: '/api/users', headers: { ...headers, 'content-type': 'application/json' }, body }
}

await runFaultTest('rolling-restart', { stops: 20, clients: 12 }, async ({ counts, random, signal, say: log }) => {
  const database = await startKillableDatabase(TENANTS)
  const env = { ...database.env, PROBITY_DRAIN_MS: String(DRAIN_MS) }
  const services = [new Service('api', await freePort(), env), new Service('api', await freePort(), env)]
  try {
    await Promise.all(services.map((service) => service.start(signal)))
    const balancer = new LoadBalancer(
      services.map(({ base }) => base),
      counts.clients,
    )
    const jobs = await startJobs(database, services[0] as Service)
    const awaitReady = async (service: Service) => {
      while (!balancer.isReady(service.base)) await sleep(20, undefined, { signal })
    }
    await Promise.all(services.map(awaitReady))

    const answers = new Map<string, number>()
    const failed: string[] = []
    let working = true
    const client = async () => {
      while (working) {
        const request = randomRequest(database, jobs, random)
        const reply = await balancer.send(request)
        const outcome = !reply ? 'nobody ready' : reply.complete ? String(reply.status) : 'cut off'
        answers.set(outcome, (answers.get(outcome) ?? 0) + 1)
        if (outcome !== '200' && outcome !== '201') {
          failed.push(`${request.method} ${request.url}: ${outcome} ${reply?.text.slice(0, 200) ?? ''}`)
        }
      }
    }
    const clients = Promise.all(Array.from({ length: counts.clients }, client))
    const exit_codes = new Set<number | null>()
    let stops = 0
    let longest_stop_ms = 0
    while (stops < counts.stops && !signal.aborted) {
      const service = services[stops % services.length] as Service
      await sleep(300 + random(700))
      const from_ms = performance.now()
      exit_codes.add(await service.stop())
      longest_stop_ms = Math.max(longest_stop_ms, performance.now() - from_ms)
      await service.start(signal)
      await awaitReady(service)
      if (++stops % 5 === 0) log(`${stops} stops, ${failed.length} failed requests`)
    }
    working = false
    await clients
    await balancer.close()
    const requests = [...answers.values()].reduce((sum, n) => sum + n, 0)
    return {
      stops,
      requests,
      failed: failed.length,
      examples: failed.slice(0, 5),
      answers: Object.fromEntries(answers),
      exit_codes: [...exit_codes],
      longest_stop_ms: Math.round(longest_stop_ms),
      passed: stops === counts.stops && failed.length === 0 && requests > 0 && [...exit_codes].join() === '0',
    }
  } finally {
    await Promise.all(services.map((service) => service.kill()))
    await database.stop()
  }
})

/** One in each tenant that nobody works on, to be waited for. */
async function startJobs(database: KillableDatabase, { base }: Service): Promise<Map<string, string>> {
  const jobs = new Map<string, string>()
  for (const { tenant_id, token } of database.tenants) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const reply = await fetch(`${base}/api/audit/verify`, { method: 'POST', headers, body: '{}' })
    jobs.set(tenant_id, ((await reply.json()) as { job_id: string }).job_id)
  }
  return jobs
}
