/**
 * Kills workers with SIGKILL at chosen points of provider calls: before a request is marked as sent, after it, after the answer
 * arrived, and after the answer was stored. A counting provider tells what it received, and each of its requests is compared with
 * the rows of its call: no call or page with a stored answer is sent again, a call that promises once is received at most once, every
 * request is a row that counts as spend, and a send that the provider never saw is one whose process died.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CountingProvider, createRegistryPayload } from '../support/counting-provider.ts'
import { type CrashPoint, crashPoints } from './support/crash-points.ts'
import {
  compareLedger,
  type LedgerAttempt,
  type LedgerComparison,
  type Promised,
  readLedger,
} from './support/provider-ledger.ts'
import { parseNumbers, type RunningApi, reportResult, startApi } from './support/running-api.ts'
import { WorkerProcesses } from './support/worker-processes.ts'

const WORKERS = 3
const BACKLOG = 24
const LAST_CALL_LIMIT_MS = 10 * 60_000
/** The database asks who writes; each call may use another connection. */
const AS_OPERATOR = `set app.actor = 'operator:acceptance';`
/** Of the attempts of a worker, the share that it does not survive. */
const CRASH_SHARE = 0.2

const COST_MINOR = 40
/** Calls with an unknown outcome that are made again at the end. */
const REPEATED = 5

/** At each point; a worker has so many calls at once. */
const { kills: wanted, slots } = parseNumbers({ kills: 100, slots: 4 })

type CallKind = Promised | 'paged'
const capabilities: Readonly<Record<CallKind, object>> = {
  free: { safe: true },
  keyed: { safe: false, idempotency_header: 'idempotency-key' },
  once: { safe: false },
  paged: { safe: true, pages: { next: '/links/next', max: 3 } },
}

/** Every answer has a link; only the paged capability follows it, to the third page. */
const answerPage: CountingProvider['respond'] = ({ path }) => {
  const [name = '', page_no = '1'] = path.split('?page=')
  const next = Number(page_no) < 3 ? `?page=${Number(page_no) + 1}` : null
  return { body: { ...createRegistryPayload(name.split('/').at(-1) ?? ''), links: { next } } }
}

async function createProviders(api: RunningApi, provider: CountingProvider): Promise<Record<CallKind, string>> {
  const keys = {} as Record<CallKind, string>
  for (const [kind, capability] of Object.entries(capabilities) as [CallKind, object][]) {
    const provider_key = `counting-${kind}`
    const request = { method: 'GET', url: `http://127.0.0.1:${provider.port}/${kind}/{input.number}` }
    const definition = provider.createManifest({ ...capability, request, timeout_ms: 5000 })
    await api.call('POST /providers', { provider_key, title: kind, definition })
    await api.call(`POST /providers/${provider_key}/versions/draft/publish`, {})
    await api.call(`POST /providers/${provider_key}/activations`, { version: 1, reason: 'acceptance' })
    const { credential_id } = await api.call<{ credential_id: string }>('POST /provider-credentials', {
      provider_key,
      label: 'Main',
    })
    const versions = `/provider-credentials/${credential_id}/versions`
    await api.call(`POST ${versions}`, { members: { api_key: 'counted' } })
    await api.call(`POST ${versions}/1/activations`, { reason: 'acceptance' })
    keys[kind] = provider_key
  }
  return keys
}

async function run(api: RunningApi, provider: CountingProvider) {
  const { database } = api
  const keys = await createProviders(api, provider)
  const kinds = Object.keys(keys) as CallKind[]
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'provider-kills-')), 'deaths')
  fs.writeFileSync(file, '')
  const calls = new Map<string, string>()
  let going = true
  const countOpen = async () =>
    Number(
      (
        await database.call<{ n: string }>(
          `select count(*) as n from app.job where kind = 'provider-call' and state in ('queued', 'running') and deferred_since is null`,
        )
      )[0]?.n,
    )
  const startCalls = async () => {
    for (; going; await sleep(50)) {
      for (let limit = BACKLOG - (await countOpen()); limit > 0; limit--) {
        const kind = kinds[calls.size % kinds.length] as CallKind
        const input = { number: `c${calls.size}` }
        const { resource } = await api.call<{ resource: string }>(`POST /providers/${keys[kind]}/calls`, {
          capability: 'company.lookup',
          input,
        })
        calls.set(`/${kind}/${input.number}`, resource.split('/').at(-1) as string)
      }
    }
  }
  const workers = new WorkerProcesses(database, slots, {
    egress: provider.egress,
    crash: { share: CRASH_SHARE, file },
  })
  const keepWorking = async () => {
    while (going) await workers.runToEnd()
  }
  const working = Array.from({ length: WORKERS }, keepWorking)
  const feeder = startCalls()
  let crashes = countDeaths(file)
  while (crashPoints.some((point) => crashes[point] < wanted)) {
    await sleep(500)
    crashes = countDeaths(file)
  }
  going = false
  await feeder
  await workers.stop()
  await Promise.all(working)
  crashes = countDeaths(file)
  const last = new WorkerProcesses(database, slots, { egress: provider.egress })
  try {
    await last.start()
    await endCalls(api)
    const attempts = await readLedger(api)
    const { faults, ...ledger } = compareLedger(attempts, provider.requests, calls)
    faults.push(
      ...compareDeaths({ ...ledger, faults }, crashes),
      ...(await compareSpend(api, keys, { ...ledger, faults })),
    )
    const repetition = await repeatUnknown(api, provider, attempts)
    const all = [...faults, ...repetition.faults]
    const { repeated } = repetition
    return {
      slots,
      crashes,
      calls: calls.size,
      ...ledger,
      repeated,
      faults: all.slice(0, 20),
      passed: all.length === 0,
    }
  } finally {
    await last.stop()
  }
}

function countDeaths(file: string): Record<CrashPoint, number> {
  const lines = fs.readFileSync(file, 'utf8').split('\n')
  const count = (point: CrashPoint) => lines.filter((line) => line === point).length
  return Object.fromEntries(crashPoints.map((point) => [point, count(point)])) as Record<CrashPoint, number>
}

/** A job that died five times is started again, as a person would. */
async function endCalls(api: RunningApi): Promise<void> {
  const { database } = api
  const give_up_at_ms = performance.now() + LAST_CALL_LIMIT_MS
  for (; performance.now() < give_up_at_ms; await sleep(500)) {
    await database.call(
      `${AS_OPERATOR} update app.job set state = 'queued', attempts = 0, run_at = now(), finished_at = null, problem = null
        where kind = 'provider-call' and state = 'failed' and problem ->> 'code' = 'dependency_unavailable'`,
    )
    await database.call(
      `${AS_OPERATOR} update app.job set run_at = now() where state = 'queued' and kind = 'provider-call'`,
    )
    const [open] = await database.call<{ n: string }>(
      `select count(*) as n from app.job where kind = 'provider-call' and state in ('queued', 'running')`,
    )
    if (Number(open?.n) === 0) return
  }
}

/** What the state and the usage of the providers count, beside the sum of the rows. */
async function compareSpend(api: RunningApi, keys: Readonly<Record<CallKind, string>>, ledger: LedgerComparison) {
  let [spend_minor, used_minor, used] = [0, 0, 0]
  for (const provider_key of Object.values(keys)) {
    const status = await api.call<{ spend_this_month: string }>(`GET /providers/${provider_key}/status`)
    spend_minor += Math.round(Number(status.spend_this_month) * 100)
    const usage = await api.call<{ items: { sent: number; cost: string }[] }>(`GET /providers/${provider_key}/usage`)
    for (const { sent, cost } of usage.items) {
      used += sent
      used_minor += Math.round(Number.parseFloat(cost) * 100)
    }
  }
  const { sends, cost_minor } = ledger
  return [
    ...(cost_minor === sends * COST_MINOR ? [] : [`${sends} sends cost ${cost_minor} in the ledger`]),
    ...(spend_minor === cost_minor ? [] : [`the budget counts ${spend_minor}, the ledger ${cost_minor}`]),
    ...(used === sends && used_minor === cost_minor ? [] : [`the usage shows ${used} sends for ${used_minor}`]),
  ]
}

/**
 * A process that died after it marked a request as sent leaves an attempt without an outcome, and nothing else does. With one
 * request per process that is exactly one for each death between the mark and the stored answer.
 */
function compareDeaths(ledger: LedgerComparison, crashes: Readonly<Record<CrashPoint, number>>) {
  const { interrupted, unconfirmed, unseen } = ledger
  const expected = crashes.after_sent + crashes.after_answer
  const deaths = Object.values(crashes).reduce((sum, n) => sum + n, 0)
  const faults: string[] = []
  if (interrupted < expected) faults.push(`${expected} deaths left ${interrupted} attempts without an outcome`)
  if (interrupted > expected + deaths * (slots - 1)) faults.push(`${interrupted} attempts without an outcome`)
  if (unseen < crashes.after_sent || unseen > unconfirmed) faults.push(`${unseen} sends that the provider never saw`)
  if (slots === 1 && unseen > crashes.after_sent + unconfirmed - interrupted)
    faults.push(`${unseen} unseen, ${crashes.after_sent} died unsent`)
  return faults
}

/** What a person may decide: the call is made again as a new one, and the old one stays as it is. */
async function repeatUnknown(api: RunningApi, provider: CountingProvider, attempts: readonly LedgerAttempt[]) {
  const unknown = attempts.filter(({ job_problem }) => job_problem === 'outcome_unknown').slice(0, REPEATED)
  const before = provider.requests.length
  const faults: string[] = []
  for (const { call_id } of unknown) {
    const reason = 'The provider has no record of it'
    const { job_id } = await api.call<{ job_id: string }>(`POST /providers/calls/${call_id}/repeat`, { reason })
    const { state } = await api.ended(job_id)
    if (state !== 'succeeded') faults.push(`the repetition of ${call_id} is ${state}`)
    const { state: first } = await api.call<{ state: string }>(`GET /providers/calls/${call_id}`)
    if (first !== 'outcome_unknown') faults.push(`the repeated call ${call_id} is ${first}`)
  }
  const repeated = provider.requests.length - before
  if (repeated !== unknown.length) faults.push(`${unknown.length} repetitions were sent ${repeated} times`)
  return { repeated, faults }
}

const provider = await CountingProvider.start()
const api = await startApi()
provider.respond = answerPage
try {
  const started_ms = performance.now()
  const result = await run(api, provider)
  reportResult('provider-kills', { ...result, duration_s: Math.round((performance.now() - started_ms) / 1000) })
} finally {
  await api.close()
  await provider.close()
}
