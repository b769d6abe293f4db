/**
 * Kills worker processes with SIGKILL at random moments of imports. Every import must end as a whole version or none, numbers
 * without a gap, nothing staged left behind, and none may stand as running for longer than a minute after its worker died.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createMerkleBuilder } from '#registry/content/merkle.ts'
import { createRandom } from '../support/random.ts'
import {
  createList,
  parseNumbers,
  parseWorkerPid,
  partyType,
  type RunningApi,
  reportResult,
  startApi,
} from './support/running-api.ts'
import { WorkerProcesses } from './support/worker-processes.ts'

const LISTS = 4
const UPLOADS = 6
const BACKLOG = 12
const WORKERS = 2
const SLOTS = 2
const RUNNING_LIMIT_MS = 60_000
const LAST_IMPORT_LIMIT_MS = 10 * 60_000

const { seed, kills: wanted, rows } = parseNumbers({ kills: 50, rows: 20_000 })
const random = createRandom(seed)

function* generateParties(upload: number): Generator<string> {
  for (let n = 0; n < rows; n++) {
    const name = `Party ${n % 7 === upload ? `changed by ${upload}` : n}`
    yield `${JSON.stringify({ code: `P${n + upload * 50}`, name, country: 'DE', score: n, programme: 'stand' })}\n`
  }
}

async function run(api: RunningApi) {
  const { database: ground } = api
  await api.call('POST /reference-data/types', { type_key: 'party', ...partyType })
  const lists = await Promise.all(Array.from({ length: LISTS }, (_, n) => createList(api, `list-${n}`)))
  const uploads: string[] = []
  for (let n = 0; n < UPLOADS; n++) uploads.push(await api.upload(`${n}.ndjson`, [[...generateParties(n)].join('')]))

  const deaths = new Map<number, number>()
  let longest_running_ms = 0
  let kills = 0
  let imports = 0
  let going = true
  const countOpenImports = async () =>
    Number(
      (
        await ground.call<{ n: string }>(
          `select count(*) as n from app.job where kind = 'dataset-import' and state in ('queued', 'running')`,
        )
      )[0]?.n,
    )

  const startImports = async () => {
    for (; going; await sleep(200)) {
      for (let limit = BACKLOG - (await countOpenImports()); limit > 0; limit--) {
        await api.startImport(lists[random(LISTS)] as string, uploads[random(UPLOADS)] as string, 'ndjson')
        imports++
      }
    }
  }
  const listRunning = () =>
    ground.call<{ worker: string }>(
      `select distinct worker from app.job where kind = 'dataset-import' and state = 'running'`,
    )
  let watching = true
  const watchDeadWorkers = async () => {
    for (; watching; await sleep(200)) {
      for (const { worker } of await listRunning()) {
        const died_ms = deaths.get(parseWorkerPid(worker))
        if (died_ms !== undefined) longest_running_ms = Math.max(longest_running_ms, performance.now() - died_ms)
      }
    }
  }
  const workers = new WorkerProcesses(ground, SLOTS)
  const killWorkers = async () => {
    while (kills < wanted) {
      await sleep(random(2500))
      const busy = (await listRunning()).map(({ worker }) => parseWorkerPid(worker)).filter((pid) => workers.has(pid))
      const pid = busy[random(Math.max(1, busy.length))]
      if (pid === undefined) continue
      deaths.set(pid, await workers.kill(pid))
      // Only a death in the middle of an import counts.
      if ((await listRunning()).some(({ worker }) => parseWorkerPid(worker) === pid)) kills++
      if (kills % 10 === 0) console.error(`${kills} kills, ${imports} imports so far`)
      await workers.start()
    }
  }
  const watcher = watchDeadWorkers()
  try {
    for (let n = 0; n < WORKERS; n++) await workers.start()
    const feeder = startImports()
    await killWorkers().finally(() => {
      going = false
    })
    await feeder
    const give_up_at_ms = performance.now() + LAST_IMPORT_LIMIT_MS
    while ((await countOpenImports()) > 0 && performance.now() < give_up_at_ms) await sleep(500)
  } finally {
    going = false
    watching = false
    await workers.stop()
    await watcher
  }
  const found = await checkVersions(api)
  return {
    kills,
    imports,
    ...found,
    longest_running_after_death_ms: Math.round(longest_running_ms),
    passed: kills === wanted && found.faults.length === 0 && longest_running_ms <= RUNNING_LIMIT_MS,
  }
}

interface VersionFacts {
  readonly tenant_id: string
  readonly dataset_id: string
  readonly version: string
  readonly content_hash: string
  readonly entry_count: string
  readonly provenance: { readonly import_id: string }
}

/** Compares what every import says of itself with what is in the tables. */
async function checkVersions({ database: ground }: RunningApi) {
  const faults: string[] = []
  const imports = await ground.call<{ import_id: string; state: string; version: string | null; job: string }>(
    `select i.import_id, i.state, i.version, j.state as job from app.dataset_import i join app.job j using (tenant_id, job_id)`,
  )
  const versions = await ground.call<VersionFacts>(
    `select v.* from app.dataset_version v join app.dataset d using (tenant_id, dataset_id)
      where v.origin = 'import' order by dataset_id, version`,
  )
  const madeBy = (import_id: string) => versions.filter(({ provenance }) => provenance.import_id === import_id)
  for (const { import_id, state, version, job } of imports) {
    const made = madeBy(import_id)
    if (job === 'queued' || job === 'running') faults.push(`import ${import_id} never ended`)
    if (made.length !== (job === 'succeeded' ? 1 : 0))
      faults.push(`import ${import_id}, ${job}, made ${made.length} versions`)
    if (job === 'succeeded' && (state !== 'published' || made[0]?.version !== version))
      faults.push(`import ${import_id} says ${state}, ${version}`)
  }
  for (const { tenant_id, dataset_id, version, content_hash, entry_count } of versions) {
    const entries = await ground.call<{ key: string; hash: Buffer }>(
      `select key, hash from app.dataset_entry where tenant_id = $1 and dataset_id = $2 and v_from <= $3 and v_to > $3`,
      [tenant_id, dataset_id, version],
    )
    const tree = createMerkleBuilder()
    for (const { key, hash } of entries) tree.addHash(key, hash.toString('hex'))
    if (entries.length !== Number(entry_count) || tree.finish().root !== content_hash) {
      faults.push(`version ${version} of ${dataset_id} is not whole`)
    }
  }
  const gaps = await ground.call(
    `select d.list_key from app.dataset d left join app.dataset_version v using (tenant_id, dataset_id)
      group by d.tenant_id, d.dataset_id, d.list_key, d.head_version
     having count(v.version) <> d.head_version or coalesce(max(v.version), 0) <> d.head_version`,
  )
  const strays = await ground.call(
    `select 1 from app.dataset_entry e join app.dataset d using (tenant_id, dataset_id) where e.v_from > d.head_version limit 1`,
  )
  const stages = await ground.call(
    `select relname from pg_class where relpersistence = 't' and relname in ('stage', 'delta')`,
  )
  if (gaps.length > 0) faults.push(`numbers with gaps: ${JSON.stringify(gaps)}`)
  if (strays.length > 0) faults.push('entries of versions that do not exist')
  if (stages.length > 0) faults.push(`${stages.length} staging tables are left`)
  const published = imports.filter(({ job }) => job === 'succeeded').length
  return { published, given_up: imports.length - published, versions: versions.length, faults: faults.slice(0, 20) }
}

const started_ms = performance.now()
const api = await startApi()
try {
  const result = await run(api)
  reportResult('import-kills', {
    seed,
    rows,
    ...result,
    duration_s: Math.round((performance.now() - started_ms) / 1000),
  })
} finally {
  await api.close()
}
