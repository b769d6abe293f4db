/**
 * `npm run acceptance -- <name> [arguments]`: bundles test/acceptance/<name>.ts with the processes it may start into a folder of
 * its own below .build and runs it. These are kill, load and fuzz runs: they take minutes and are not part of `npm test`.
 * `--quick` runs it as small as it can be, to see that it starts and gives its result, whatever it measured; `--quick` without
 * a name does so for every run.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import esbuild from 'esbuild'

const root = path.resolve(import.meta.dirname, '..')
/** Started by runs, never by name. */
const processes = ['api-process', 'worker-process', 'service-process', 'key-process']
const names = fs
  .readdirSync(path.join(root, 'test/acceptance'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => path.basename(file, '.ts'))
  .filter((name) => !processes.includes(name))

/** The arguments of `--quick`. So short a run shows that everything works; what it measures says nothing. */
const quickArguments = {
  'api-fuzz': '--valid 100 --invalid 100',
  'audit-tampering': '--events 2000 --tamperings 20 --chain 20',
  'batch-kills': '--kills 1 --rows 20000',
  contracts: '--seeds 1 --mutants 100 --windows 2',
  corruption: '--flips 12',
  'credential-memory': '--credentials 1 --idle_s 1',
  'database-kills': '--kills 1 --writers 2',
  egress: '--urls 500 --rounds 1',
  'gorules-conformance': '',
  'idle-connections': '--rounds 1 --seconds 1 --connections 50',
  'impact-kills': '--rows 2000',
  'import-kills': '--kills 1 --rows 2000',
  'investigation-kills': '--kills 1 --steps 10',
  'job-workers': '--kills 1 --stalls 0 --workers 2',
  'key-rotation': '--kills 4 --owners 20',
  'large-import': '--rows 20000',
  linearizability: '--processes 2 --steps 10',
  matrices: '--only test/hostile/side-channels.test.ts',
  'mcp-conformance': '--part fixtures',
  'mixed-load': '--seconds 2 --per_second 50',
  mutants: '--only cursor',
  'node-versions': '--only src/kernel/cursor.test.ts',
  'noisy-neighbour': '--rounds 1 --seconds 1',
  overload: '--rounds 1 --seconds 2',
  pgbouncer: '--only test/isolation/pool.test.ts',
  'plugin-attacks': '--rounds 1 --only loops',
  'plugin-determinism': '--inputs 200',
  'plugin-load': '--runs 100 --load 2',
  'provider-kills': '--kills 1',
  'provider-outages': '--calls 8 --expiries 1 --budget 4 --probes 1 --down_s 2 --retry_after_s 61',
  'read-load': '--seconds 2 --per_second 100',
  'real-lists': '--pairs 1',
  'resolve-load': '--tenants 5 --lists 3 --versions 3 --seconds 2 --per_second 50',
  'rolling-restart': '--stops 1 --clients 2',
  'schedule-kills': '--rounds 1 --schedules 3',
  'server-kills': '--kills 2 --writers 2',
  search: '--subjects 5000 --seconds 2 --mixed_per_second 50',
  startup: '',
  'tenant-interleaving': '--requests 500',
  upgrade: '',
}

const given = process.argv.slice(2)
const isQuick = given.includes('--quick')
const [name, ...args] = given.filter((argument) => argument !== '--quick')

function exitWithUsage(problem) {
  if (problem) console.error(problem)
  console.error(`Usage: npm run acceptance -- <name> [--quick] [arguments]\nNames: ${names.join(', ')}`)
  process.exit(2)
}

if (name === undefined ? !isQuick : !names.includes(name)) exitWithUsage()
for (const each of names) {
  if (quickArguments[each] === undefined)
    exitWithUsage(`${each} has no arguments for --quick in scripts/acceptance.mjs.`)
}

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
}
/** The scripts of worker threads lie beside the program that starts them. */
const threads = [
  'src/registry/import/import-thread.ts',
  'src/registry/types/type-worker.ts',
  'src/decision/analysis/analysis-worker.ts',
  'src/contract/contract-worker.ts',
  'src/sandbox/sandbox.ts',
]

let child
// Ctrl-C reaches the run directly; it cleans up, and we wait for it.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child?.kill('SIGTERM'))

/** Bundles and starts one run; gives its exit code and the result it printed as its last line. */
async function run(entry, runArguments) {
  // Another run may be using the last bundle.
  const outdir = path.join(root, '.build', `acceptance-${process.pid}`)
  try {
    await esbuild.build({
      ...shared,
      outdir,
      entryPoints: [entry, ...processes].map((file) => `test/acceptance/${file}.ts`),
      outbase: path.join(root, 'test/acceptance'),
    })
    await esbuild.build({
      ...shared,
      outdir,
      entryPoints: threads.map((file) => ({ in: file, out: path.basename(file, '.ts') })),
    })
    child = spawn(process.execPath, [path.join(outdir, `${entry}.mjs`), ...runArguments], {
      cwd: root,
      stdio: ['inherit', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
      process.stdout.write(text)
    })
    const code = await new Promise((resolve) => child.once('close', (exitCode) => resolve(exitCode ?? 1)))
    return { code, result: parseResult(output) }
  } finally {
    fs.rmSync(outdir, { recursive: true, force: true })
  }
}

function parseResult(output) {
  try {
    return JSON.parse(output.trim().split('\n').at(-1))
  } catch {
    return undefined
  }
}

/** True when the run gave a result: a quick run says nothing about speed, nor whether enough happened. */
async function runQuickly(entry, more = []) {
  const { result } = await run(entry, [...quickArguments[entry].split(' ').filter(Boolean), ...more])
  if (!result) console.error(`${entry} gave no result`)
  return result !== undefined
}

if (name === undefined) {
  const failed = []
  for (const entry of names) {
    console.error(`\n${entry}`)
    if (!(await runQuickly(entry))) failed.push(entry)
  }
  console.log(`${names.length - failed.length} of ${names.length} runs gave a result`)
  for (const entry of failed) console.log(`no result: ${entry}`)
  process.exitCode = failed.length === 0 ? 0 : 1
} else if (isQuick) {
  process.exitCode = (await runQuickly(name, args)) ? 0 : 1
} else {
  process.exitCode = (await run(name, args)).code
}
