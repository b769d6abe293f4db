/**
 * PF3 to PF6 and an outage, `npm run acceptance -- provider-outages`: four worker processes share the access token, the breaker and the
 * budget of a provider; a credential goes away between the request and the call; a provider says when to ask again; and one is down
 * for ten minutes. A counting provider tells what was sent. Prints one line of JSON.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CountingProvider, createRegistryPayload, type ProviderReply } from '../support/counting-provider.ts'
import { parseNumbers, type RunningApi, reportResult, startApi } from './support/running-api.ts'
import { WorkerProcesses } from './support/worker-processes.ts'

const WORKERS = 4
const SLOTS = 4
const settings = parseNumbers({ calls: 200, expiries: 5, budget: 100, probes: 4, down_s: 600, retry_after_s: 90 })
const AS_OPERATOR = `set app.actor = 'operator:acceptance';`
/** The pause before the next attempt grows to ten minutes. */
const MAX_PAUSE_S = 600
const OPEN_S = 3
const MAX_STARTS = 5

interface Job {
  readonly job_id: string
  readonly state: string
  readonly problem: { readonly code: string; readonly budget?: string } | null
}

class Run {
  readonly #replies = new Map<string, (path: string) => ProviderReply>()
  readonly api: RunningApi
  readonly provider: CountingProvider
  readonly faults: string[] = []

  constructor(api: RunningApi, provider: CountingProvider) {
    this.api = api
    this.provider = provider
    provider.respond = ({ path }) => {
      const [, provider_key = '', number = ''] = path.split('/')
      return this.#replies.get(provider_key)?.(path) ?? { body: createRegistryPayload(number) }
    }
  }

  expect(isRight: boolean, fault: string): void {
    if (!isRight) this.faults.push(fault)
  }

  /** How the provider answers the calls of one key; as it should without one. */
  reply(provider_key: string, reply?: (path: string) => ProviderReply): void {
    if (reply) this.#replies.set(provider_key, reply)
    else this.#replies.delete(provider_key)
  }

  received = (provider_key: string, page = '') =>
    this.provider.requests.filter(({ path }) => path.startsWith(`/${provider_key}/${page}`))

  async connect(provider_key: string, capability: object, change: object, members: object): Promise<string> {
    const { api, provider } = this
    const request = { method: 'GET', url: `http://127.0.0.1:${provider.port}/${provider_key}/{input.number}` }
    const definition = provider.createManifest({ request, timeout_ms: 10_000, ...capability }, change)
    await api.call('POST /providers', { provider_key, title: provider_key, definition })
    await api.call(`POST /providers/${provider_key}/versions/draft/publish`, {})
    await api.call(`POST /providers/${provider_key}/activations`, { version: 1, reason: 'acceptance' })
    return this.addCredential(provider_key, members)
  }

  async addCredential(provider_key: string, members: object): Promise<string> {
    const body = { provider_key, label: `Main ${Date.now()}` }
    const { credential_id } = await this.api.call<{ credential_id: string }>('POST /provider-credentials', body)
    await this.api.call(`POST /provider-credentials/${credential_id}/versions`, { members })
    await this.api.call(`POST /provider-credentials/${credential_id}/versions/1/activations`, { reason: 'acceptance' })
    return credential_id
  }

  async start(provider_key: string, count: number, prefix = 'c'): Promise<string[]> {
    const job_ids: string[] = []
    let next = 0
    const startNext = async () => {
      while (next < count) {
        const body = { capability: 'company.lookup', input: { number: `${prefix}${next++}` } }
        const { job_id } = await this.api.call<{ job_id: string }>(`POST /providers/${provider_key}/calls`, body)
        job_ids.push(job_id)
      }
    }
    // More would be shed by the API, which has few connections.
    await Promise.all(Array.from({ length: MAX_STARTS }, startNext))
    return job_ids
  }

  readJobs = (job_ids: readonly string[]) =>
    this.api.database.call<Job>('select job_id, state, problem from app.job where job_id = any ($1::uuid[])', [job_ids])

  async ended(job_ids: readonly string[]): Promise<Job[]> {
    for (;;) {
      const jobs = await this.readJobs(job_ids)
      if (jobs.every(({ state }) => state !== 'queued' && state !== 'running')) return jobs
      await sleep(250)
    }
  }

  async expectAllAnswered(what: string, job_ids: readonly string[]): Promise<void> {
    const jobs = await this.ended(job_ids)
    const failed = jobs.filter(({ state }) => state !== 'succeeded')
    this.expect(failed.length === 0, `${what}: ${failed.length} of ${jobs.length} failed (${failed[0]?.problem?.code})`)
  }
}

const API_KEY = { api_key: 'counted' }
const isTokenRequest = (path: string) => path.endsWith('/token')

/** PF3: one token request per expiry, however many processes need it; and a token endpoint that is down for 5 s. */
async function runTokens(run: Run) {
  const key = 'tokens'
  const token_url = `http://127.0.0.1:${run.provider.port}/${key}/token`
  const auth = { kind: 'oauth2_client_credentials', token_url }
  await run.connect(key, {}, { auth, credential: undefined }, { client_id: 'c', client_secret: 's' })
  const token = { body: { access_token: 't', token_type: 'Bearer', expires_in: 3600 } }
  const requests: number[] = []
  for (let expiry = 0; expiry < settings.expiries; expiry++) {
    await run.api.database.call(
      `${AS_OPERATOR} update app.credential_token set expires_at = now() - interval '1 s', refresh_at = now() - interval '1 min' where token is not null`,
    )
    // Slow enough that every slot of every process waits for the token.
    run.reply(key, (path) =>
      isTokenRequest(path) ? { ...token, after: sleep(1000) } : { body: createRegistryPayload('1') },
    )
    const before = run.received(key, 'token').length
    await run.expectAllAnswered('token', await run.start(key, settings.calls, `e${expiry}-`))
    requests.push(run.received(key, 'token').length - before)
  }
  run.expect(
    requests.every((count) => count === 1),
    `token requests per expiry: ${requests.join(', ')}`,
  )
  await run.api.database.call(
    `${AS_OPERATOR} update app.credential_token set expires_at = now() - interval '1 s', refresh_at = now() - interval '1 min' where token is not null`,
  )
  const back_at_ms = Date.now() + 5000
  run.reply(key, (path) => {
    if (!isTokenRequest(path)) return { body: createRegistryPayload('1') }
    return Date.now() < back_at_ms ? { reset: true } : token
  })
  await run.expectAllAnswered('token endpoint down for 5 s', await run.start(key, settings.calls, 'down-'))
  return { token_requests: requests }
}

/** PF4: five failures open the breaker; afterwards exactly one request at a time tries whether the provider is back. */
async function runBreaker(run: Run) {
  const key = 'breaker'
  const breaker = { failures: 5, window_s: 60, open_s: OPEN_S }
  await run.connect(key, { retry: { on: [], attempts: 1 } }, { breaker }, API_KEY)
  const ended_at_ms: number[] = []
  const answerDown = (): ProviderReply => {
    const after = sleep(ended_at_ms.length < breaker.failures ? 0 : 500).then(() => ended_at_ms.push(Date.now()))
    return { status: 503, after }
  }
  run.reply(key, answerDown)
  const job_ids = await run.start(key, 40)
  // Requests that were under way when the fifth failed are not called back.
  const limit = breaker.failures + WORKERS * SLOTS - 1
  while ((await run.api.call<{ breaker: string }>(`GET /providers/${key}/status`)).breaker === 'closed') await sleep(50)
  await sleep(1000)
  const opening = run.received(key).length
  run.expect(opening <= limit, `${opening} requests until the breaker was open`)
  while (run.received(key).length < opening + settings.probes) await sleep(100)
  const probes = run.received(key).slice(opening, opening + settings.probes)
  for (const { received_at } of probes) {
    const last_ended_ms = Math.max(...ended_at_ms.filter((at) => at <= received_at.getTime()))
    const pause_ms = received_at.getTime() - last_ended_ms
    run.expect(pause_ms >= OPEN_S * 1000 - 50, `a probe followed ${pause_ms} ms after the last failure`)
  }
  run.reply(key)
  await run.expectAllAnswered('breaker', job_ids)
  return { requests_until_open: opening, probes: probes.length }
}

/** PF5: a budget is exact over processes. */
async function runBudget(run: Run) {
  const key = 'budget'
  const budget = { calls_per_day: settings.budget, on_reached: 'refuse' }
  await run.connect(key, {}, { budget }, API_KEY)
  const jobs = await run.ended(await run.start(key, settings.budget * 4))
  const sent = run.received(key).length
  const refused = jobs.filter(({ problem }) => problem?.code === 'budget_reached').length
  run.expect(sent === settings.budget, `a budget of ${settings.budget} let ${sent} requests out`)
  run.expect(refused === settings.budget * 3, `${refused} of ${jobs.length} calls were refused by the budget`)
  return { budget: settings.budget, sent, refused }
}

/** PF6: no attempt is used up while the credential is missing. `stop` and `start` are those of the workers. */
async function runCredential(run: Run, workers: { stop(): Promise<void>; start(): Promise<void> }) {
  const key = 'credential'
  const credential_id = await run.connect(key, {}, {}, API_KEY)
  await workers.stop()
  const job_ids = await run.start(key, 20)
  await run.api.call(`DELETE /provider-credentials/${credential_id}?reason=acceptance`)
  await workers.start()
  const countHeld = async () =>
    (await run.readJobs(job_ids)).filter(({ problem }) => problem?.code === 'provider_credential_missing').length
  for (let tries = 0; tries < 240 && (await countHeld()) < job_ids.length; tries++) await sleep(250)
  const held = await countHeld()
  run.expect(held === job_ids.length, `${held} of ${job_ids.length} calls name the missing credential`)
  run.expect(run.received(key).length === 0, `${run.received(key).length} requests without a credential`)
  await run.addCredential(key, API_KEY)
  // Waiting calls go on by themselves; this only shortens the wait.
  await run.api.database.call(
    `${AS_OPERATOR} update app.job set run_at = now() where state = 'queued' and job_id in ('${job_ids.join("', '")}')`,
  )
  await run.expectAllAnswered('credential', job_ids)
  run.expect(
    run.received(key).length === job_ids.length,
    `${run.received(key).length} requests for ${job_ids.length} calls`,
  )
  return { held }
}

/** A provider that says when to ask again is not asked before, and the work does not fail. */
async function startRetryAfter(run: Run): Promise<() => Promise<{ retry_after_s: number; waited_s: number }>> {
  const key = 'retry-after'
  await run.connect(key, {}, {}, API_KEY)
  const asked_at_ms: number[] = []
  const headers = { 'retry-after': String(settings.retry_after_s) }
  run.reply(key, () => {
    asked_at_ms.push(Date.now())
    return asked_at_ms.length === 1 ? { status: 429, headers } : { body: createRegistryPayload('1') }
  })
  const job_ids = await run.start(key, 1)
  return async () => {
    await run.expectAllAnswered('retry-after', job_ids)
    const [first = 0, second = 0] = asked_at_ms
    const waited_s = (second - first) / 1000
    run.expect(asked_at_ms.length === 2 && waited_s >= settings.retry_after_s - 1, `asked again after ${waited_s} s`)
    return { retry_after_s: settings.retry_after_s, waited_s }
  }
}

/** A provider that cannot be reached fails no work, whatever the calls promise, and each is answered once it is back. */
async function runOutage(run: Run) {
  const kinds = {
    free: { safe: true },
    keyed: { safe: false, idempotency_header: 'idempotency-key' },
    once: { safe: false },
  }
  for (const [name, capability] of Object.entries(kinds)) await run.connect(`down-${name}`, capability, {}, API_KEY)
  await run.provider.stopListening()
  const started_ms = Date.now()
  const job_ids: string[] = []
  for (const name of Object.keys(kinds)) job_ids.push(...(await run.start(`down-${name}`, 10)))
  await sleep(settings.down_s * 1000)
  const failed = (await run.readJobs(job_ids)).filter(({ state }) => state !== 'queued' && state !== 'running')
  run.expect(
    failed.length === 0,
    `${failed.length} calls ended while the provider was down (${failed[0]?.problem?.code})`,
  )
  await run.provider.startListening()
  const back_ms = Date.now()
  await run.expectAllAnswered('outage', job_ids)
  const recovered_s = Math.round((Date.now() - back_ms) / 1000)
  run.expect(
    recovered_s <= MAX_PAUSE_S + 120,
    `the last call was answered ${recovered_s} s after the provider was back`,
  )
  const received = Object.keys(kinds).reduce((sum, name) => sum + run.received(`down-${name}`).length, 0)
  run.expect(received === job_ids.length, `${received} requests for ${job_ids.length} calls`)
  const [spend] = await run.api.database.call<{ n: string }>(
    `select coalesce(sum(spend_of_month_minor), 0) as n from app.provider_state where provider_key like 'down-%'`,
  )
  run.expect(Number(spend?.n) === received * 40, `the outage cost ${spend?.n}`)
  return { down_s: Math.round((back_ms - started_ms) / 1000), recovered_s, answered: job_ids.length }
}

const provider = await CountingProvider.start()
const api = await startApi()
const started_ms = performance.now()
let processes = new WorkerProcesses(api.database, SLOTS, { egress: provider.egress })
const workers = {
  start: async () => {
    processes = new WorkerProcesses(api.database, SLOTS, { egress: provider.egress })
    await Promise.all(Array.from({ length: WORKERS }, () => processes.start()))
  },
  stop: () => processes.stop(),
}
try {
  const run = new Run(api, provider)
  await workers.start()
  const endRetryAfter = await startRetryAfter(run)
  const figures = {
    tokens: await runTokens(run),
    breaker: await runBreaker(run),
    budget: await runBudget(run),
    credential: await runCredential(run, workers),
    retry_after: await endRetryAfter(),
    outage: await runOutage(run),
  }
  const duration_s = Math.round((performance.now() - started_ms) / 1000)
  const { faults } = run
  reportResult('provider-outages', { ...figures, faults, passed: faults.length === 0, duration_s })
} finally {
  await workers.stop()
  await api.close()
  await provider.close()
}
