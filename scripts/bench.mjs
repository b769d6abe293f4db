/**
 * `npm run bench`: bundles the measuring programs into .build/bench and runs them. The product is bundled three times more, to
 * measure what a part costs: without the statement that sets the tenant, without the one that records a change, and without encryption of copies.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const outdir = path.join(root, '.build/bench')

/** Bundles one file in place of another. */
const replaced = (name, filter, instead) => ({
  name,
  setup(build) {
    let isApplied = false
    build.onLoad({ filter }, ({ path: file }) => {
      isApplied = true
      return {
        loader: 'ts',
        contents: fs.readFileSync(path.join(root, instead), 'utf8'),
        resolveDir: path.dirname(file),
      }
    })
    build.onEnd(() => {
      if (!isApplied) throw new Error(`${name}: no bundled file matches ${filter}: adapt scripts/bench.mjs to it.`)
    })
  },
})

/** Leaves one piece of text out of one file; stops when the file is not bundled, or does not hold the text exactly once. */
const without = (name, filter, text, instead) => ({
  name,
  setup(build) {
    let isApplied = false
    build.onLoad({ filter }, ({ path: file }) => {
      const source = fs.readFileSync(file, 'utf8')
      if (source.split(text).length !== 2) {
        throw new Error(`${file} no longer says ${text} exactly once: adapt scripts/bench.mjs to it.`)
      }
      isApplied = true
      return { loader: 'ts', contents: source.replace(text, instead) }
    })
    build.onEnd(() => {
      if (!isApplied) throw new Error(`${name}: no bundled file matches ${filter}: adapt scripts/bench.mjs to it.`)
    })
  },
})
const withoutTenant = without(
  'without-tenant',
  /kernel\/database\/tx\.ts$/,
  '[this.#contextStatement(scope, CONTEXT_READ_ONLY), ...statements]',
  '[...statements]',
)
const withoutRecord = without(
  'without-record',
  /kernel\/audit\/record\.ts$/,
  'deferEvent(tx, event, { mac: keys.computeEventMac(event), restriction_id, also_restriction_id })',
  'void event',
)
const withoutEncryption = replaced('without-encryption', /kernel\/encryption\/copies\.ts$/, 'bench/plain-copies.ts')

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

const programs = ['main', 'load', 'kernel', 'bare', 'jobs', 'encryption-run'].map((name) => `bench/${name}.ts`)
await esbuild.build({ ...shared, entryPoints: programs })
const threads = {
  'import-thread': 'src/registry/import/import-thread.ts',
  'type-worker': 'src/registry/types/type-worker.ts',
  'analysis-worker': 'src/decision/analysis/analysis-worker.ts',
  'contract-worker': 'src/contract/contract-worker.ts',
  sandbox: 'src/sandbox/sandbox.ts',
  'compile-process': 'src/kernel/typesetting/compile-process.ts',
}
// As scripts/build.mjs makes them: with their packages in one file a thread is ready sooner.
await esbuild.build({
  ...shared,
  entryPoints: threads,
  packages: 'bundle',
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
})
await esbuild.build({ ...shared, entryPoints: { 'kernel-open': 'bench/kernel.ts' }, plugins: [withoutTenant] })
await esbuild.build({ ...shared, entryPoints: { 'kernel-unrecorded': 'bench/kernel.ts' }, plugins: [withoutRecord] })
const plainPrograms = { 'kernel-plain': 'bench/kernel.ts', 'encryption-run-plain': 'bench/encryption-run.ts' }
await esbuild.build({ ...shared, entryPoints: plainPrograms, plugins: [withoutEncryption] })

const { status } = spawnSync(process.execPath, [path.join(outdir, 'main.mjs'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
process.exitCode = status ?? 1
