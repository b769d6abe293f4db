/**
 * `npm run acceptance -- <name> [arguments]`: bundles test/acceptance/<name>.ts with the processes it may start into a folder of
 * its own below .build and runs it. These are kill, load and fuzz runs: they take minutes and are not part of `npm test`.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import esbuild from 'esbuild'

const root = path.resolve(import.meta.dirname, '..')
/** Started by runs, never by name. */
const processes = ['worker-process', 'service-process']
const names = fs
  .readdirSync(path.join(root, 'test/acceptance'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => path.basename(file, '.ts'))
  .filter((name) => !processes.includes(name))
const [name, ...args] = process.argv.slice(2)

if (!names.includes(name)) {
  console.error(`Usage: npm run acceptance -- <name> [arguments]\nNames: ${names.join(', ')}`)
  process.exit(2)
}

// Another run may be using the last bundle.
const outdir = path.join(root, '.build', `acceptance-${process.pid}`)
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
  entryPoints: [name, ...processes].map((entry) => `test/acceptance/${entry}.ts`),
  outbase: path.join(root, 'test/acceptance'),
})
// The scripts of worker threads lie beside whatever program starts them.
const threads = [
  'src/registry/import/import-thread.ts',
  'src/registry/types/type-worker.ts',
  'src/decision/analysis/analysis-worker.ts',
]
await esbuild.build({
  ...shared,
  entryPoints: threads.map((file) => ({ in: file, out: path.basename(file, '.ts') })),
})

const child = spawn(process.execPath, [path.join(outdir, `${name}.mjs`), ...args], { cwd: root, stdio: 'inherit' })
// Ctrl-C reaches the run directly; it cleans up, and we wait for it.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.once('exit', (code) => {
  fs.rmSync(outdir, { recursive: true, force: true })
  process.exitCode = code ?? 1
})
