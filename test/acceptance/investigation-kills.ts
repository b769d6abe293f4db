/**
 * Kills workers with SIGKILL while they gather for investigations, at chosen points of provider calls, in the modes `once` and `keyed`. A
 * counting provider tells what it received: a step that promises once is received at most once, a keyed one again only under its key,
 * no step is lost, and none shows as running a minute after its worker died.
 */
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CountingProvider, createRegistryPayload } from '../support/counting-provider.ts'
import { crashPoints } from './support/crash-points.ts'
import { parseNumbers, type RunningApi, reportResult, startApi } from './support/running-api.ts'
import { WorkerProcesses } from './support/worker-processes.ts'

const WORKERS = 2
const SLOTS = 2
const STEPS_OF_CASE = 10
const CRASH_SHARE = 0.35
const GIVE_UP_MS = 15 * 60_000
const MAX_RUNNING_MS = 60_000
/** The database asks who writes; each call may use another connection. */
const AS_OPERATOR = `set app.actor = 'operator:acceptance';`

const { steps: wanted, kills } = parseNumbers({ steps: 200, kills: 40 })

const modes = {
  once: { safe: false },
  keyed: { safe: false, idempotency_header: 'idempotency-key' },
} as const
type Mode = keyof typeof modes

const input = {
  type: 'object',
  additionalProperties: false,
  required: ['number', 'part'],
  properties: { number: { type: 'string', maxLength: 40 }, part: { type: 'string', maxLength: 40 } },
}

async function connect(api: RunningApi, provider: CountingProvider, mode: Mode): Promise<void> {
  const provider_key = `counting-${mode}`
  const request = {
    method: 'POST',
    url: `http://127.0.0.1:${provider.port}/${mode}/{input.number}/{input.part}`,
    body: null,
  }
  const capability = { ...modes[mode], input, request, timeout_ms: 5000 }
  const test = { capability: 'company.lookup', input: { number: '1', part: '1' } }
  const definition = provider.createManifest(capability, { test })
  await api.call('POST /providers', { provider_key, title: mode, definition })
  await api.call(`POST /providers/${provider_key}/versions/draft/publish`, {})
  await api.call(`POST /providers/${provider_key}/activations`, { version: 1, reason: 'acceptance' })
  const { credential_id } = await api.call<{ credential_id: string }>('POST /provider-credentials', {
    provider_key,
    label: 'Main',
  })
  const versions = `/provider-credentials/${credential_id}/versions`
  await api.call(`POST ${versions}`, { members: { api_key: 'counted' } })
  await api.call(`POST ${versions}/1/activations`, { reason: 'acceptance' })
  const steps = Array.from({ length: STEPS_OF_CASE }, (_, at) => ({
    key: `p${at}`,
    kind: 'provider',
    with: {
      provider: provider_key,
      capability: 'company.lookup',
      input: { number: { fact: 'number' }, part: { value: `p${at}` } },
    },
    required: true,
  }))
  const facts = [{ name: 'number', title: 'Number', type: 'string' }]
  const playbook = { title: mode, subject_types: ['company'], facts, steps, outcomes: ['INV_NO_SUSPICION'] }
  await api.call('POST /playbooks', { playbook_key: mode, title: mode, definition: playbook })
  await api.call(`POST /playbooks/${mode}/versions/draft/publish`, {})
  await api.call(`POST /playbooks/${mode}/activations`, { version: 1, reason: 'acceptance' })
}

async function openCase(api: RunningApi, mode: Mode, number: string): Promise<void> {
  const subject = { subject_type: 'company', name: 'Example Ltd', attributes: { number } }
  const { subject_id } = await api.call<{ subject_id: string }>('POST /subjects', subject)
  await api.call('POST /investigations', { subject_id, playbook_key: mode })
}

interface StepCounts {
  readonly ended: number
  readonly succeeded: number
  readonly indeterminate: number
  readonly others: string[]
}

async function countSteps(api: RunningApi, mode: Mode): Promise<StepCounts> {
  const rows = await api.database.call<{ state: string; n: string }>(
    `select t.state, count(*) as n from app.investigation_step t
       join app.investigation i on i.tenant_id = t.tenant_id and i.investigation_id = t.investigation_id
      where i.playbook_key = $1 group by t.state`,
    [mode],
  )
  const count = (state: string) => Number(rows.find((row) => row.state === state)?.n ?? 0)
  const [succeeded, indeterminate] = [count('succeeded'), count('indeterminate')]
  const others = rows
    .filter(({ state }) => state !== 'succeeded' && state !== 'indeterminate')
    .map(({ state, n }) => `${n} ${state}`)
  return { succeeded, indeterminate, others, ended: succeeded + indeterminate }
}

/** For how long, at most, a step showed as running whose job no worker had. */
async function watchRunning(api: RunningApi, isGoing: () => boolean): Promise<number> {
  const since = new Map<string, number>()
  let longest_ms = 0
  for (; isGoing(); await sleep(500)) {
    const rows = await api.database.call<{ id: string }>(
      `select t.investigation_id || t.step_key as id from app.investigation_step t
         left join app.job j on j.tenant_id = t.tenant_id and j.job_id = t.job_id
        where t.state = 'running' and not coalesce(j.state = 'running' and j.lease_until > now() + interval '1 s', false)`,
    )
    const now = performance.now()
    const seen = new Set(rows.map(({ id }) => id))
    for (const id of since.keys()) if (!seen.has(id)) since.delete(id)
    for (const id of seen) {
      if (!since.has(id)) since.set(id, now)
      longest_ms = Math.max(longest_ms, now - (since.get(id) as number))
    }
  }
  return longest_ms
}

const countDeaths = (file: string): number => fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).length

async function run(api: RunningApi, provider: CountingProvider, mode: Mode) {
  await connect(api, provider, mode)
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'investigation-kills-')), 'deaths')
  fs.writeFileSync(file, '')
  const cases = Math.ceil(wanted / STEPS_OF_CASE)
  for (let number = 0; number < cases; number++) await openCase(api, mode, `c${number}`)
  let isGoing = true
  const watching = watchRunning(api, () => isGoing)
  const workers = new WorkerProcesses(api.database, SLOTS, {
    egress: provider.egress,
    crash: { share: CRASH_SHARE, file },
  })
  const give_up_at = performance.now() + GIVE_UP_MS
  const isDone = async () => (await countSteps(api, mode)).ended >= cases * STEPS_OF_CASE
  let isKilling = true
  const working = Array.from({ length: WORKERS }, async () => {
    while (isKilling) await workers.runToEnd()
  })
  for (; countDeaths(file) < kills && !(await isDone()) && performance.now() < give_up_at; await sleep(500))
    await endWaits(api)
  isKilling = false
  await workers.stop()
  await Promise.all(working)
  const deaths = countDeaths(file)
  const last = new WorkerProcesses(api.database, SLOTS, { egress: provider.egress })
  await last.start()
  for (; !(await isDone()) && performance.now() < give_up_at; await sleep(500)) await endWaits(api)
  await last.stop()
  isGoing = false
  return describe(api, provider, mode, { steps: cases * STEPS_OF_CASE, kills: deaths, longest_ms: await watching })
}

/** Back-offs are not what is measured. Requests that are in flight keep their deadline. */
const endWaits = (api: RunningApi) =>
  api.database.call(
    `${AS_OPERATOR} update app.job set run_at = now() where state = 'queued' and kind = 'investigation.gather' and run_at > now()`,
  )

async function describe(
  api: RunningApi,
  provider: CountingProvider,
  mode: Mode,
  { steps, kills: deaths, longest_ms }: { steps: number; kills: number; longest_ms: number },
) {
  const { succeeded, indeterminate, others } = await countSteps(api, mode)
  const requests = provider.requests.filter(({ path: at }) => at.startsWith(`/${mode}/`))
  const byStep = new Map<string, Set<string>>()
  const seen = new Map<string, number>()
  for (const { path: at, headers } of requests) {
    seen.set(at, (seen.get(at) ?? 0) + 1)
    byStep.set(at, (byStep.get(at) ?? new Set()).add(String(headers['idempotency-key'] ?? `request ${seen.get(at)}`)))
  }
  const requested_twice = [...seen.values()].filter((n) => n > 1).length
  const charged_twice = [...byStep.values()].filter(({ size }) => size > 1).length
  const faults = [
    ...(others.length > 0 ? [`steps are ${others.join(', ')}`] : []),
    ...(charged_twice > 0 ? [`${charged_twice} steps were charged twice`] : []),
    ...(mode === 'once' && requested_twice > 0 ? [`${requested_twice} steps were requested twice`] : []),
    ...(mode === 'keyed' && indeterminate > 0 ? [`${indeterminate} keyed steps are indeterminate`] : []),
    ...(longest_ms > MAX_RUNNING_MS ? [`a step ran for ${Math.round(longest_ms / 1000)} s without a worker`] : []),
  ]
  return {
    ...{ mode, steps, kills: deaths, succeeded, indeterminate, requests_seen: requests.length },
    ...{
      steps_requested_twice: requested_twice,
      charged_twice,
      longest_without_worker_s: Math.round(longest_ms / 1000),
    },
    faults,
  }
}

const provider = await CountingProvider.start()
const api = await startApi()
provider.respond = ({ path: at }) => ({ body: createRegistryPayload(at.split('/').at(-1) ?? ''), after: sleep(50) })
try {
  const started_ms = performance.now()
  const results = [await run(api, provider, 'once'), await run(api, provider, 'keyed')]
  console.table(results.map(({ faults: _, ...row }) => row))
  const passed = results.every(({ faults }) => faults.length === 0)
  const duration_s = Math.round((performance.now() - started_ms) / 1000)
  reportResult('investigation-kills', { crash_points: crashPoints, results, duration_s, passed })
} finally {
  await api.close()
  await provider.close()
}
