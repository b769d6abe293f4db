/**
 * `npm run bench`: starts the databases and every server, puts them under load, compares them two by two, and writes
 * bench/RESULTS.md. It asserts nothing about time.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { measureBatches } from './batch.ts'
import { type BenchDatabases, startDatabases } from './database.ts'
import { measureDecisions } from './decision.ts'
import { measureJobs } from './job-measures.ts'
import { comparedNode } from './postgraphile.ts'
import { measureRegistry } from './registry.ts'
import { type Comparison, comparisonTable } from './registry-bench.ts'
import { measureResolution } from './resolution.ts'
import { callers, startRows, wantedPairs } from './rows.ts'
import { type Row, Servers, script } from './servers.ts'
import { figures, plain, type Ratio, ratios } from './table.ts'

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    /** For how long each of two servers is compared with the other. */
    compared: { type: 'string', default: '16' },
    connections: { type: 'string', default: '32' },
    only: { type: 'string' },
    /** The registry with a list of a million entries as well. */
    large: { type: 'boolean', default: false },
    /** A .build/bench/kernel.mjs of another state of the sources, to be measured in the same rounds. */
    against: { type: 'string' },
    profile: { type: 'string' },
    out: { type: 'string', default: 'bench/RESULTS.md' },
  },
})
const rounds = Number(given.rounds)
const duration_ms = Number(given.seconds) * 1000
const compared_ms = Number(given.compared) * 1000
const connections = Number(given.connections)
const WARMUP_MS = 500
/** Both of a pair stood still while others were measured. */
const COMPARED_WARMUP_MS = 2_000
/** Until the slowest of them, some five hundred requests a second, runs compiled code. */
const FIRST_WARMUP_MS = 10_000

const projectRoot = process.cwd()
const say = (text: string) => process.stderr.write(`${text}\n`)

async function measureRows(servers: Servers, rows: readonly Row[]): Promise<void> {
  for (const row of rows) await servers.measure(row, FIRST_WARMUP_MS)
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`)
    // There and back again: what drifts during a run does not favour the same row every time.
    for (const row of round % 2 === 0 ? rows : rows.toReversed()) {
      const measured = await servers.measure(row, WARMUP_MS)
      if (measured) row.rounds.push(measured)
    }
  }
}

async function comparePairs(servers: Servers, rows: readonly Row[]): Promise<Ratio[]> {
  const compared: Ratio[] = []
  for (const { of, ...wanted } of wantedPairs(rows)) {
    const [above, below] = of
    if (above?.server && below?.server) {
      say(wanted.label)
      compared.push({ ...wanted, slices: await servers.compare([above, below], compared_ms, COMPARED_WARMUP_MS) })
    } else compared.push({ ...wanted, slices: [] })
  }
  return compared
}

/** Parts that need none of the servers above. */
const OWN_PARTS = ['registry', 'jobs', 'decision', 'batch']
const REGISTRY_SIZES = given.large ? [1_000, 100_000, 1_000_000] : [1_000, 100_000]

/** In the database first, then over HTTP. */
async function measureRegistryRows(databases: BenchDatabases, servers: Servers): Promise<string> {
  const [caller] = callers as [(typeof callers)[number]]
  const { comparisons, lists } = await measureRegistry(databases, caller.tenant_id, REGISTRY_SIZES, say)
  const resolution = await measureResolution(databases, servers, caller, lists)
  return comparisonTable('registry', 'entries', [...comparisons, ...resolution], plain)
}

const BATCH_SIZES = [10_000, 100_000]
const measureBatchRows = (databases: BenchDatabases): Promise<Comparison[]> =>
  measureBatches(databases, callers[0]?.tenant_id as string, BATCH_SIZES, say)

const node = await comparedNode()
const node_version = execFileSync(node ?? process.execPath, ['--version'], { encoding: 'utf8' }).trim()
const servers = new Servers({ node, profile: given.profile, connections, duration_ms })
const databases = await startDatabases(projectRoot)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void databases.stop().finally(() => process.exit(1)))
}
try {
  const chosen = given.only?.split(',')
  const wants = (id: string) => !chosen || chosen.includes(id)
  const tables: string[] = []
  // Shown as they are made: should a later part fail, nothing of the earlier ones is lost.
  const add = (table: string) => {
    tables.push(table)
    process.stdout.write(`${table}\n\n`)
  }
  if (!chosen?.every((id) => OWN_PARTS.includes(id))) {
    const rows = (await startRows(databases, servers, given.against)).filter(({ id }) => wants(id))
    await measureRows(servers, rows)
    add(figures(rows))
    add(ratios(await comparePairs(servers, rows)))
    await servers.stop()
  }
  if (wants('jobs')) {
    const tenant_ids = callers.map((caller) => caller.tenant_id)
    add(await measureJobs(databases, script('jobs'), tenant_ids, say))
  }
  if (wants('registry')) add(await measureRegistryRows(databases, servers))
  if (wants('decision')) add(comparisonTable('decision', 'rows', await measureDecisions(), plain))
  if (wants('batch')) add(comparisonTable('batch', 'items', await measureBatchRows(databases), plain))
  if (!chosen) fs.writeFileSync(path.join(projectRoot, given.out), `${preamble()}\n\n${tables.join('\n\n')}\n`)
} finally {
  await servers.stop()
  await databases.stop()
}

function preamble(): string {
  const cores = os.availableParallelism()
  return `# Results

Written by \`npm run bench\`; do not edit. ${cores} cores shared by servers, PostgreSQL (embedded, durable) and load generator; all servers on Node ${node_version}.
${connections} keep-alive connections in a closed loop from a process of its own, two tenants, ${rounds} interleaved rounds of ${duration_ms / 1000} s, medians.
For a ratio the generator turns from one of the two servers to the other every quarter of a second, for ${compared_ms / 1000} s each; the median of all pairs of turns.
Absolute figures say what this machine did; only the ratios are meant to be compared.`
}
