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
import { measureContracts } from './contract.ts'
import { type BenchDatabases, startDatabases } from './database.ts'
import { measureDecisions } from './decision.ts'
import { measureEncryption } from './encryption.ts'
import { measureInvestigations } from './investigation.ts'
import { measureJobs } from './job-benchmarks.ts'
import { measureKeys } from './keys.ts'
import { measurePluginFactors } from './plugin-factor.ts'
import { installNode22 } from './postgraphile.ts'
import { measureProviderCalls } from './provider-call.ts'
import { measureRegistry } from './registry.ts'
import { type Comparison, renderComparisonTable } from './registry-bench.ts'
import { measureReports } from './report.ts'
import { measureResolution } from './resolution.ts'
import { measureRestrictions } from './restriction.ts'
import { measureSandbox } from './sandbox.ts'
import { type BenchTarget, Servers, scriptPath } from './servers.ts'
import { type Ratio, renderFigures, renderRatios, renderTable } from './table.ts'
import { callers, listPairs, startTargets } from './targets.ts'
import { measureToolCalls } from './tool-call.ts'

const { values: args } = parseArgs({
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
const rounds = Number(args.rounds)
const duration_ms = Number(args.seconds) * 1000
const compared_ms = Number(args.compared) * 1000
const connections = Number(args.connections)
const WARMUP_MS = 500
/** Both of a pair were idle while others were measured. */
const COMPARED_WARMUP_MS = 2_000
/** Until the slowest of them, some five hundred requests a second, runs compiled code. */
const FIRST_WARMUP_MS = 10_000

const projectRoot = process.cwd()
const log = (text: string) => process.stderr.write(`${text}\n`)

async function measureRows(servers: Servers, rows: readonly BenchTarget[]): Promise<void> {
  for (const row of rows) await servers.measure(row, FIRST_WARMUP_MS)
  for (let round = 0; round < rounds; round++) {
    log(`round ${round + 1} of ${rounds}`)
    // There and back again: what drifts during a run does not favour the same row every time.
    for (const row of round % 2 === 0 ? rows : rows.toReversed()) {
      const measured = await servers.measure(row, WARMUP_MS)
      if (measured) row.rounds.push(measured)
    }
  }
}

async function comparePairs(servers: Servers, rows: readonly BenchTarget[]): Promise<Ratio[]> {
  const compared: Ratio[] = []
  for (const { of, ...wanted } of listPairs(rows)) {
    const [above, below] = of
    if (above?.server && below?.server) {
      log(wanted.label)
      compared.push({ ...wanted, slices: await servers.compare([above, below], compared_ms, COMPARED_WARMUP_MS) })
    } else compared.push({ ...wanted, slices: [] })
  }
  return compared
}

/** Parts that need none of the servers above. */
const SERVERLESS_PARTS = [
  'registry',
  'jobs',
  'decision',
  'contract',
  'batch',
  'provider',
  'investigations',
  'sandbox',
  'plugin-factor',
  'tools',
  'report',
  'keys',
  'encryption',
]
const REGISTRY_SIZES = args.large ? [1_000, 100_000, 1_000_000] : [1_000, 100_000]

/** In the database first, then over HTTP. */
async function measureRegistryRows(databases: BenchDatabases, servers: Servers): Promise<string> {
  const [caller] = callers as [(typeof callers)[number]]
  const { comparisons, lists } = await measureRegistry(databases, caller.tenant_id, REGISTRY_SIZES, log)
  const resolution = await measureResolution(databases, servers, caller, lists)
  return renderComparisonTable('registry', 'entries', [...comparisons, ...resolution], renderTable)
}

const BATCH_SIZES = [10_000, 100_000]
const measureBatchRows = (databases: BenchDatabases): Promise<Comparison[]> =>
  measureBatches(databases, callers[0]?.tenant_id as string, BATCH_SIZES, log)

const measureProviderRows = (databases: BenchDatabases): Promise<Comparison[]> =>
  measureProviderCalls(databases, callers[0]?.tenant_id as string)

const measureInvestigationRows = (databases: BenchDatabases): Promise<Comparison[]> =>
  measureInvestigations(databases, callers[0]?.tenant_id as string)

const measurePluginFactorRows = (databases: BenchDatabases): Promise<Comparison[]> =>
  measurePluginFactors(databases, callers[0]?.tenant_id as string)
const measureToolRows = (databases: BenchDatabases): Promise<Comparison[]> =>
  measureToolCalls(databases, callers[0]?.tenant_id as string)

const node = await installNode22()
const node_version = execFileSync(node ?? process.execPath, ['--version'], { encoding: 'utf8' }).trim()
const servers = new Servers({ node, profile: args.profile, connections, duration_ms })
const databases = await startDatabases(projectRoot)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void databases.stop().finally(() => process.exit(1)))
}
try {
  const chosen = args.only?.split(',')
  const wants = (id: string) => !chosen || chosen.includes(id)
  const tables: string[] = []
  // Shown as they are made: should a later part fail, nothing of the earlier ones is lost.
  const add = (table: string) => {
    tables.push(table)
    process.stdout.write(`${table}\n\n`)
  }
  if (!chosen?.every((id) => SERVERLESS_PARTS.includes(id))) {
    const rows = (await startTargets(databases, servers, args.against)).filter(({ id }) => wants(id))
    await measureRows(servers, rows)
    add(renderFigures(rows))
    add(renderRatios(await comparePairs(servers, rows)))
    await servers.stop()
  }
  if (wants('jobs')) {
    const tenant_ids = callers.map((caller) => caller.tenant_id)
    add(await measureJobs(databases, scriptPath('jobs'), tenant_ids, log))
  }
  if (wants('registry')) add(await measureRegistryRows(databases, servers))
  if (wants('decision')) add(renderComparisonTable('decision', 'rows', await measureDecisions(), renderTable))
  if (wants('contract')) add(renderComparisonTable('contract', 'records', measureContracts(), renderTable))
  if (wants('batch')) add(renderComparisonTable('batch', 'items', await measureBatchRows(databases), renderTable))
  if (wants('provider'))
    add(renderComparisonTable('provider', 'calls', await measureProviderRows(databases), renderTable))
  if (wants('investigations'))
    add(renderComparisonTable('investigations', 'steps', await measureInvestigationRows(databases), renderTable))
  if (wants('sandbox'))
    add(renderComparisonTable('sandbox', 'calls', await measureSandbox(scriptPath('sandbox')), renderTable))
  if (wants('plugin-factor'))
    add(renderComparisonTable('plugin factor', 'calls', await measurePluginFactorRows(databases), renderTable))
  if (wants('tools')) add(renderComparisonTable('tools', 'calls', await measureToolRows(databases), renderTable))
  if (wants('report'))
    add(
      renderComparisonTable(
        'report',
        'rows',
        await measureReports(projectRoot, scriptPath('compile-process')),
        renderTable,
      ),
    )
  if (wants('restriction'))
    add(renderComparisonTable('restriction', 'rows', await measureRestrictions(databases, log), renderTable))
  if (wants('encryption')) {
    const encryption = await measureEncryption(databases, callers[0]?.tenant_id as string, scriptPath, log)
    add(renderComparisonTable('encryption', 'items', encryption, renderTable))
  }
  // The last: it leaves ten thousand tenants behind.
  if (wants('keys')) add(renderComparisonTable('keys', 'keys', await measureKeys(databases, log), renderTable))
  if (!chosen) fs.writeFileSync(path.join(projectRoot, args.out), `${preamble()}\n\n${tables.join('\n\n')}\n`)
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
