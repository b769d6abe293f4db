/**
 * `node scripts/stand.mjs <name> [arguments]`: bundles test/stand/<name>.ts and the worker process it may start into
 * .build/stand and runs it. Stands are kill, load and outside runs: they take minutes and are not part of `npm test`.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import esbuild from 'esbuild'

const root = path.resolve(import.meta.dirname, '..')
const names = ['jobs', 'pgbouncer', 'kills', 'database', 'drain', 'corruption']
const faults = ['kills', 'database', 'drain', 'corruption']
const [name, ...args] = process.argv.slice(2)

if (!names.includes(name)) {
  console.error(`Usage: node scripts/stand.mjs ${names.join('|')} [arguments]`)
  process.exit(2)
}

// A folder of its own for each run: another stand may be running from the last bundle.
const outdir = path.join(root, '.build', `stand-${process.pid}`)
const entry = faults.includes(name) ? `faults/${name}` : name
await esbuild.build({
  absWorkingDir: root,
  entryPoints: [`test/stand/${entry}.ts`, 'test/stand/worker-process.ts', 'test/stand/faults/service-process.ts'],
  outbase: path.join(root, 'test/stand'),
  outdir,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  packages: 'external',
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
})

const child = spawn(process.execPath, [path.join(outdir, `${entry}.mjs`), ...args], { cwd: root, stdio: 'inherit' })
// Ctrl-C reaches the stand by itself; it tidies up, and we wait for it.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.once('exit', (code) => {
  fs.rmSync(outdir, { recursive: true, force: true })
  process.exitCode = code ?? 1
})
