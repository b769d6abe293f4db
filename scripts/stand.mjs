/**
 * `node scripts/stand.mjs <name> [arguments]`: bundles test/stand/<name>.ts and the worker process it may start into
 * .build/stand and runs it. Stands are kill, load and outside runs: they take minutes and are not part of `npm test`.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import esbuild from 'esbuild'

const root = path.resolve(import.meta.dirname, '..')
/** By name, where the stand lives under test/stand. */
const stands = {
  jobs: 'jobs',
  pgbouncer: 'pgbouncer',
  audit: 'audit',
  kills: 'faults/kills',
  database: 'faults/database',
  drain: 'faults/drain',
  corruption: 'faults/corruption',
  generated: 'generated',
  interleave: 'interleave',
  mixed: 'mixed',
  reads: 'reads',
  resolve: 'resolve',
  overload: 'overload',
  neighbour: 'neighbour',
  idle: 'idle',
  startup: 'startup',
  'kill-import': 'registry/kill-import',
  large: 'registry/large',
  'real-lists': 'registry/real-lists',
  linearizable: 'registry/linearizable',
  batch: 'batch',
  schedules: 'schedules',
  impact: 'impact',
  gorules: 'gorules',
}
const [name, ...args] = process.argv.slice(2)

const entry = stands[name]
if (entry === undefined) {
  console.error(`Usage: node scripts/stand.mjs ${Object.keys(stands).join('|')} [arguments]`)
  process.exit(2)
}

// A folder of its own for each run: another stand may be running from the last bundle.
const outdir = path.join(root, '.build', `stand-${process.pid}`)
const shared = {
  absWorkingDir: root,
  outdir,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
}
await esbuild.build({
  ...shared,
  entryPoints: [`test/stand/${entry}.ts`, 'test/acceptance/worker-process.ts', 'test/acceptance/service-process.ts'],
  outbase: path.join(root, 'test/stand'),
})
// The scripts of worker threads lie beside whatever program starts them.
const threads = [
  'src/registry/import/import-thread.ts',
  'src/registry/types/type-worker.ts',
  'src/decision/analysis/analysis-worker.ts',
]
for (const folder of [outdir, path.join(outdir, 'faults'), path.join(outdir, 'registry')]) {
  await esbuild.build({
    ...shared,
    entryPoints: threads.map((file) => ({ in: file, out: path.basename(file, '.ts') })),
    outdir: folder,
  })
}

const child = spawn(process.execPath, [path.join(outdir, `${entry}.mjs`), ...args], { cwd: root, stdio: 'inherit' })
// Ctrl-C reaches the stand by itself; it tidies up, and we wait for it.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.once('exit', (code) => {
  fs.rmSync(outdir, { recursive: true, force: true })
  process.exitCode = code ?? 1
})
