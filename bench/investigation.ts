/**
 * Gathering for investigations with a provider that answers at once: what a step costs beside its call, and how many cases a worker
 * ends in a minute. Compared with the same calls made through the ledger alone.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { expectReady } from '#modules/provider-credentials/index.ts'
import { advanceCall, createCall } from '#modules/providers/index.ts'
import { CountingProvider, createRegistryPayload } from '#test/support/counting-provider.ts'
import { createBenchRuntime } from './bench-runtime.ts'
import { type BenchDatabases, MASTER_KEY_HEX } from './database.ts'
import { median } from './median.ts'
import { connect, createCaller, type Make, timeEach } from './provider-call.ts'
import type { Comparison } from './registry-bench.ts'

const PROVIDER_KEY = 'bench-gathered'
const ROUNDS = 3
const CASES = 10
const STEPS = 10
const SLOTS = 2

export async function measureInvestigations(databases: BenchDatabases, tenant_id: string): Promise<Comparison[]> {
  const provider = await CountingProvider.start()
  provider.respond = ({ path }) => ({ body: createRegistryPayload(path.split('/').at(-1) ?? '') })
  const connections = { app: databases.isolated('app'), worker: databases.isolated('worker') }
  const runtime = await createBenchRuntime({ ...connections, master_key_hex: MASTER_KEY_HEX, egress: provider.egress })
  const runner = runtime.createRunner(SLOTS)
  try {
    await databases.runAsAdmin(`update app.approval_policy set rules = '[]' where tenant_id = '${tenant_id}'`)
    const make = await createCaller(runtime, tenant_id, true)
    await connect(make, provider, PROVIDER_KEY)
    const playbook_key = await publish(make)
    const { kernel } = runtime
    const scope = fullScope(tenant_id, 'operator:bench')
    const signal = new AbortController().signal
    const call = async (): Promise<void> => {
      const input = { number: uuidv7() }
      const { call_id } = await kernel.transactions.write(scope, async (tx: Tx) => {
        const ready = (await expectReady(kernel, tx, [PROVIDER_KEY])).get(PROVIDER_KEY)
        if (!ready) throw new Error('the provider is not ready')
        return createCall(kernel, tx, ready, { capability: 'company.lookup', input, subject_id: null })
      })
      await advanceCall({ kernel, scope, signal }, call_id)
    }
    runner.start()
    const measured: { readonly gather_ms: number; readonly call_ms: number }[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const gather_ms = (await timeCases(make, playbook_key)) / (CASES * STEPS)
      const call_ms = await timeEach(call, CASES * STEPS)
      // The first round warms.
      if (round > 0) measured.push({ gather_ms, call_ms })
      provider.requests.length = 0
    }
    const gather_ms = median(measured.map((each) => each.gather_ms))
    const call_ms = median(measured.map((each) => each.call_ms))
    return [
      {
        label: 'step of an investigation, the provider answers at once',
        entries: CASES * STEPS,
        ours: `${gather_ms.toFixed(2)} ms, ${(gather_ms - call_ms).toFixed(2)} ms beside the call`,
        baseline: `the call alone ${call_ms.toFixed(2)} ms`,
        ratio: median(measured.map((each) => each.call_ms / each.gather_ms)),
      },
      {
        label: `cases of ${STEPS} steps, ${SLOTS} at once`,
        entries: CASES,
        ours: `${Math.round(60_000 / (gather_ms * STEPS))} a minute`,
        baseline: `the calls alone ${Math.round(60_000 / (call_ms * STEPS))} a minute`,
        ratio: median(measured.map((each) => each.call_ms / each.gather_ms)),
      },
    ]
  } finally {
    await runner.stop(0)
    await runtime.close()
    await provider.close()
  }
}

async function publish(make: Make): Promise<string> {
  const playbook_key = 'bench-cases'
  const steps = Array.from({ length: STEPS }, (_, at) => ({
    key: `s${at}`,
    kind: 'provider',
    with: { provider: PROVIDER_KEY, capability: 'company.lookup', input: { number: { fact: 'number' } } },
    required: true,
  }))
  const facts = [{ name: 'number', title: 'Number', type: 'string' }]
  const definition = { title: 'Measured', subject_types: ['company'], facts, steps, outcomes: ['INV_NO_SUSPICION'] }
  await make('POST /playbooks', { playbook_key, title: 'Measured', definition })
  await make(`POST /playbooks/${playbook_key}/versions/draft/publish`, {})
  await make(`POST /playbooks/${playbook_key}/activations`, { version: 1, reason: 'measured' })
  return playbook_key
}

/** From the first case that is opened to the last whose job has ended. */
async function timeCases(make: Make, playbook_key: string): Promise<number> {
  const subjects: string[] = []
  for (let at = 0; at < CASES; at++) {
    const body = { subject_type: 'company', name: 'Example Ltd', attributes: { number: uuidv7() } }
    const { subject_id } = await make('POST /subjects', body)
    subjects.push(String(subject_id))
  }
  const from_ms = performance.now()
  const jobs: string[] = []
  for (const subject_id of subjects) {
    const { job_id } = await make('POST /investigations', { subject_id, playbook_key })
    jobs.push(String(job_id))
  }
  for (const job_id of jobs) {
    for (;;) {
      const state: string | undefined = (await make(`GET /jobs/${job_id}`))['state']
      if (state === 'succeeded') break
      if (state !== 'queued' && state !== 'running') throw new Error(`a job is ${state}`)
      await sleep(5)
    }
  }
  return performance.now() - from_ms
}
