/**
 * A list of a million entries through a real worker process, as NDJSON and as CSV: how fast, with how much memory, what a
 * second version costs that differs in one entry of a thousand, how soon difference and look-up answer, and what a cancelled
 * import leaves. Prints one line of JSON; fails where a promise is broken, not where the machine is slow.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createList,
  parseNumbers,
  parseWorkerPid,
  partyType,
  type RunningApi,
  readResidentMib,
  reportResult,
  startApi,
} from './support/running-api.ts'
import { WorkerProcesses } from './support/worker-processes.ts'

const GROWTH_LIMIT_MIB = 128
const FIRST_PAGE_LIMIT_MS = 1000
const CHANGED_EVERY = 1000
const WARM_ROWS = 20_000
const LINES_AT_ONCE = 2000

const { seed, rows } = parseNumbers({ rows: 1_000_000 })

type Format = 'ndjson' | 'csv'
const buildParty = (n: number, version: number) => ({
  code: `P${String(n).padStart(9, '0')}`,
  name: n % CHANGED_EVERY === 0 ? `Party ${n} of version ${version}` : `Party ${n}, a company with a rather long name`,
  country: 'DE',
  score: (n * 7919 + seed) % 10_000,
  programme: `Programme ${n % 40} of the list that measures imports`,
})

function* generateRows(format: Format, version: number, count: number): Generator<string> {
  if (format === 'csv') yield 'code,name,country,score,programme\n'
  const lineOf = (n: number) => {
    const { code, name, country, score, programme } = buildParty(n, version)
    return format === 'csv'
      ? `${code},"${name}",${country},${score},${programme}\n`
      : `${JSON.stringify(buildParty(n, version))}\n`
  }
  for (let from = 0; from < count; from += LINES_AT_ONCE) {
    let text = ''
    for (let n = from; n < Math.min(count, from + LINES_AT_ONCE); n++) text += lineOf(n)
    yield text
  }
}

interface ImportResult {
  readonly state: string
  readonly version: number | null
  readonly counts: { readonly accepted: number } | null
  readonly problem: unknown
}

const findWorkerPid = async ({ database: ground }: RunningApi): Promise<number> => {
  const [row] = await ground.call<{ worker: string }>(`select worker from app.job where state = 'running' limit 1`)
  return row ? parseWorkerPid(row.worker) : 0
}

/** Runs one import to its end and watches the memory of the process that runs it. */
async function measureImport(api: RunningApi, list_key: string, format: Format, version: number, pid: number) {
  const upload_id = await api.upload(`v${version}.${format}`, generateRows(format, version, rows))
  const before_mib = readResidentMib(pid)
  let peak_mib = before_mib
  const watch = setInterval(() => {
    peak_mib = Math.max(peak_mib, readResidentMib(pid))
  }, 50)
  const began_ms = performance.now()
  const { job_id, import_id } = await api.startImport(list_key, upload_id, format)
  const job = await api.ended(job_id)
  const seconds = (performance.now() - began_ms) / 1000
  clearInterval(watch)
  const done = await api.call<ImportResult>(`GET /reference-data/imports/${import_id}`)
  if (done.state !== 'published' || done.counts?.accepted !== rows) {
    throw new Error(`${format} version ${version}: job ${job.state}, import ${JSON.stringify(done)}`)
  }
  const facts = { format, version, seconds: Math.round(seconds * 10) / 10, rows_per_s: Math.round(rows / seconds) }
  return { ...facts, before_mib: Math.round(before_mib), growth_mib: Math.round(peak_mib - before_mib) }
}

async function measure<T>(act: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const began_ms = performance.now()
  const result = await act()
  return { ms: Math.round((performance.now() - began_ms) * 10) / 10, result }
}

async function measureReads(api: RunningApi, list_key: string) {
  const path = `/reference-data/datasets/${list_key}`
  await api.call(`POST ${path}/activations`, { version: 2, reason: 'measure' })
  const page = () => api.call<{ items: unknown[] }>(`GET ${path}/diff?from=1&to=2&limit=100`)
  const first = await measure(page)
  const again = await measure(page)
  const key = buildParty(CHANGED_EVERY * Math.floor(rows / CHANGED_EVERY / 2), 2).code
  const lookUp = () => api.call<{ entry: { name: string } }>(`GET /reference-data/resolve/${list_key}/entry?key=${key}`)
  await lookUp()
  const looked = await measure(lookUp)
  return {
    first_page_ms: first.ms,
    first_page_again_ms: again.ms,
    first_page_items: first.result.items.length,
    lookup_ms: looked.ms,
    lookup_right: looked.result.entry.name.endsWith('of version 2'),
    lookup_plan: await explainLookup(api, list_key, key),
  }
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/** The plan of the tenant's own query under row-level security. */
async function explainLookup(
  { database: ground, tenant_id, asTenant }: RunningApi,
  list_key: string,
  key: string,
): Promise<string> {
  const [dataset] = await ground.call<{ dataset_id: string }>(
    'select dataset_id from app.dataset where list_key = $1',
    [list_key],
  )
  const row = await asTenant((tx) =>
    tx.find<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (format json) select key, op, hash, base_hash, data from app.dataset_entry
        where tenant_id = $1 and dataset_id = $2 and key = any ($3) and v_from <= 2 and v_to > 2`,
      [tenant_id, dataset?.dataset_id, [key]],
    ),
  )
  const scan = row && findScan(row['QUERY PLAN'][0].Plan)
  return scan ? `${scan['Node Type']} ${scan['Index Name'] ?? ''}`.trim() : 'none'
}

const findScan = (node: PlanNode): PlanNode | undefined =>
  node['Relation Name'] === 'dataset_entry' ? node : node.Plans?.map(findScan).find((found) => found !== undefined)

interface Progress {
  readonly done: number
  readonly total: number
}

/** Cancelled when half of it is read: no version, no entry, no staging table. */
async function cancelHalfway(api: RunningApi, list_key: string) {
  const { database: ground } = api
  const upload_id = await api.upload('cancelled.ndjson', generateRows('ndjson', 1, rows))
  const { job_id, import_id } = await api.startImport(list_key, upload_id, 'ndjson')
  const progressOf = async () =>
    (await api.call<{ progress: Progress }>(`GET /reference-data/imports/${import_id}`)).progress
  const isHalf = ({ done, total }: Progress) => done >= total / 2
  while (!isHalf(await progressOf())) await sleep(100)
  const { done: at } = await progressOf()
  const asked = performance.now()
  await api.call(`POST /reference-data/imports/${import_id}/cancel`)
  const job = await api.ended(job_id)
  const after_s = Math.round((performance.now() - asked) / 100) / 10
  const [left] = await ground.call<{ versions: string; entries: string; stages: string }>(
    `select (select count(*) from app.dataset_version v where v.dataset_id = d.dataset_id) as versions,
            (select count(*) from app.dataset_entry e where e.dataset_id = d.dataset_id) as entries,
            (select count(*) from pg_class where relpersistence = 't' and relname in ('stage', 'delta')) as stages
       from app.dataset d where d.list_key = $1`,
    [list_key],
  )
  const { versions, entries, stages } = left ?? {}
  return {
    at_bytes: at,
    after_s,
    state: job.state,
    leaves_nothing: versions === '0' && entries === '0' && stages === '0',
  }
}

async function run(api: RunningApi) {
  await api.call('POST /reference-data/types', { type_key: 'party', ...partyType })
  const workers = new WorkerProcesses(api.database, 1)
  await workers.start()
  try {
    const warm = await createList(api, 'warm')
    const { job_id } = await api.startImport(
      warm,
      await api.upload('w', generateRows('ndjson', 1, WARM_ROWS)),
      'ndjson',
    )
    let pid = 0
    while (pid === 0) pid = await findWorkerPid(api)
    await api.ended(job_id)
    const imports: Awaited<ReturnType<typeof measureImport>>[] = []
    const measure = async (list_key: string, format: Format, version: number) => {
      const facts = await measureImport(api, list_key, format, version, pid)
      console.error(JSON.stringify(facts))
      imports.push(facts)
    }
    const ndjson = await createList(api, 'ndjson')
    await measure(ndjson, 'ndjson', 1)
    await measure(ndjson, 'ndjson', 2)
    const read = await measureReads(api, ndjson)
    console.error(JSON.stringify(read))
    await measure(await createList(api, 'csv'), 'csv', 1)
    const cancelled = await cancelHalfway(api, await createList(api, 'cancelled'))
    const passed =
      imports.every(({ growth_mib }) => growth_mib <= GROWTH_LIMIT_MIB) &&
      read.first_page_again_ms <= FIRST_PAGE_LIMIT_MS &&
      read.lookup_right &&
      read.lookup_plan.startsWith('Index') &&
      cancelled.state === 'cancelled' &&
      cancelled.leaves_nothing
    return { imports, ...read, cancelled, passed }
  } finally {
    await workers.stop()
  }
}

const api = await startApi()
try {
  reportResult('large-import', { seed, rows, ...(await run(api)) })
} finally {
  await api.close()
}
