/**
 * Kills worker processes with SIGKILL in the middle of batches of decisions. Every batch must end with each of its items once,
 * each known subject rated once, the audit record telling of each item once, and the workers' memory flat. A batch that used
 * all its attempts up is resumed, as a person would. Prints one line of JSON.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { newPolicy } from '../support/example-policy.ts'
import type { ExampleTenant } from '../support/example-tenant.ts'
import { createRandom } from '../support/random.ts'
import {
  parseNumbers,
  parseWorkerPid,
  type RunningApi,
  readResidentMib,
  reportResult,
  startApi,
} from './support/running-api.ts'
import { WorkerProcesses } from './support/worker-processes.ts'

const BATCHES = 3
const WORKERS = 2
const SLOTS = 2
const KNOWN_SUBJECT_EVERY = 4
const INVALID_ITEM_EVERY = 50
const GROWTH_LIMIT_MIB = 192
const TIMEOUT_MS = 15 * 60_000

const { seed, kills: wanted, rows } = parseNumbers({ kills: 8, rows: 100_000 })
const random = createRandom(seed)
const countries = ['CH', 'DE', 'IR']

interface Batch {
  readonly batch_id: string
  readonly state: string
  readonly job_id: string
  readonly receipt_id: string
  readonly counts: { readonly total: number | null; readonly done: number; readonly failed: number }
}

function* generateSubjects(): Generator<string> {
  yield 'subject_type,external_id,name\n'
  for (let n = 0; n < rows; n += KNOWN_SUBJECT_EVERY) yield `person,row-${n},Person ${n}\n`
}

function* generateItems(): Generator<string> {
  yield 'external_id,country\n'
  for (let n = 0; n < rows; n++) yield `row-${n},${n % INVALID_ITEM_EVERY === 1 ? 'XX' : countries[n % 3]}\n`
}

/** Pieces of some size, since each is sent by itself. */
function* toChunks(lines: Iterable<string>): Generator<string> {
  let text = ''
  for (const line of lines) {
    text += line
    if (text.length < 65_536) continue
    yield text
    text = ''
  }
  yield text
}

const known = Math.ceil(rows / KNOWN_SUBJECT_EVERY)
const bad = Math.floor((rows - 2) / INVALID_ITEM_EVERY) + 1

async function run(api: RunningApi) {
  const { database: ground, call } = api
  const make = (at: string, { body }: { body?: object } = {}) => call(at, body)
  const { matrix_key } = await newPolicy({ make } as unknown as ExampleTenant)
  const workers = new WorkerProcesses(ground, SLOTS)
  const seen = new Map<number, { first_mib: number; peak_mib: number }>()
  const watch = setInterval(() => {
    for (const [pid, memory] of seen) memory.peak_mib = Math.max(memory.peak_mib, readResidentMib(pid))
  }, 100)
  const running = () =>
    ground.call<{ worker: string }>(`select worker from app.job where kind = 'batch-evaluation' and state = 'running'`)
  let kills = 0
  let resumed = 0
  try {
    for (let n = 0; n < WORKERS; n++) await workers.start()
    const bulk = { format: 'csv', upload_id: await api.upload('subjects.csv', toChunks(generateSubjects())) }
    const made = await call<{ job_id: string }>('POST /subjects/bulk', bulk)
    if ((await api.ended(made.job_id)).state !== 'succeeded') throw new Error('the subjects were not taken in')

    const upload_id = await api.upload('items.csv', toChunks(generateItems()))
    const began_ms = performance.now()
    const ids: string[] = []
    for (let n = 0; n < BATCHES; n++) {
      const job = await call<{ resource: string }>('POST /batch-evaluations', { matrix_key, upload_id })
      ids.push(job.resource.split('/').at(-1) as string)
    }
    const batchesNow = () => Promise.all(ids.map((id) => call<Batch>(`GET /batch-evaluations/${id}`)))
    const receipts = (await batchesNow()).map(({ receipt_id }) => receipt_id)
    for (let open = true; open && performance.now() < began_ms + TIMEOUT_MS; ) {
      await sleep(300 + random(1500))
      const busy = (await running()).map(({ worker }) => parseWorkerPid(worker)).filter((pid) => workers.has(pid))
      for (const pid of busy) if (!seen.has(pid)) seen.set(pid, { first_mib: readResidentMib(pid), peak_mib: 0 })
      const pid = busy[random(Math.max(1, busy.length))]
      if (pid !== undefined && kills < wanted) {
        await workers.kill(pid)
        // Only a death in the middle of a batch counts.
        if ((await running()).some(({ worker }) => parseWorkerPid(worker) === pid)) kills++
        await workers.start()
      }
      const now = await batchesNow()
      for (const { batch_id, state } of now) {
        if (state !== 'failed') continue
        await call(`POST /batch-evaluations/${batch_id}/resume`)
        resumed++
      }
      open = now.some(({ state }) => state !== 'succeeded')
      console.error(`${kills} kills, ${now.map(({ counts }) => counts.done + counts.failed).join(' ')} items`)
    }
    const seconds = (performance.now() - began_ms) / 1000
    const ended = await batchesNow()
    const faults = [
      ...ended.flatMap((batch, n) => findBatchFaults(batch, receipts[n] as string)),
      ...(await findStoredFaults(api, ids)),
    ]
    const growth_mib = Math.round(
      Math.max(0, ...[...seen.values()].map(({ first_mib, peak_mib }) => peak_mib - first_mib)),
    )
    return {
      kills,
      resumed,
      batches: BATCHES,
      items: BATCHES * rows,
      seconds: Math.round(seconds),
      growth_mib,
      faults: faults.slice(0, 20),
      passed: kills === wanted && faults.length === 0 && growth_mib <= GROWTH_LIMIT_MIB,
    }
  } finally {
    clearInterval(watch)
    await workers.stop()
  }
}

/** What a batch says of itself. */
function findBatchFaults({ batch_id, state, receipt_id, counts }: Batch, receipt: string): string[] {
  const faults: string[] = []
  if (state !== 'succeeded') faults.push(`batch ${batch_id} is ${state}`)
  if (receipt_id !== receipt) faults.push(`batch ${batch_id} changed its receipt`)
  if (counts.total !== rows || counts.failed !== bad || counts.done !== rows - bad)
    faults.push(`batch ${batch_id} counts ${JSON.stringify(counts)}`)
  return faults
}

/** What is stored, read as superuser. */
async function findStoredFaults({ database: ground }: RunningApi, ids: readonly string[]): Promise<string[]> {
  const faults: string[] = []
  const expect = (what: string, found: number, right: number) => {
    if (found !== right) faults.push(`${what}: ${found} instead of ${right}`)
  }
  const one = async (text: string, id: string) => Number((await ground.call<{ n: string }>(text, [id]))[0]?.n)
  for (const id of ids) {
    expect(`items of ${id}`, await one('select count(*) as n from app.batch_item where batch_id = $1', id), rows)
    expect(`last item of ${id}`, await one('select max(seq) as n from app.batch_item where batch_id = $1', id), rows)
    const bad_known = await one(
      `select count(*) as n from app.batch_item where batch_id = $1 and state = 'failed' and subject_id is not null`,
      id,
    )
    expect(
      `ratings of ${id}`,
      await one('select count(*) as n from app.rating where batch_id = $1', id),
      known - bad_known,
    )
    expect(
      `subjects rated by ${id}`,
      await one('select count(distinct subject_id) as n from app.rating where batch_id = $1', id),
      known - bad_known,
    )
    expect(
      `items in the audit record of ${id}`,
      await one(
        `select sum((detail::jsonb ->> 'items')::bigint) as n from app.audit_event
          where operation = 'job:batch-evaluation' and detail::jsonb ->> 'batch_id' = $1 and detail::jsonb ? 'first_seq'`,
        id,
      ),
      rows,
    )
  }
  return faults
}

const started_ms = performance.now()
const api = await startApi()
try {
  const result = await run(api)
  reportResult('batch-kills', {
    seed,
    rows,
    ...result,
    duration_s: Math.round((performance.now() - started_ms) / 1000),
  })
} finally {
  await api.close()
}
