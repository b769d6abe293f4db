/**
 * `npm run bench`: bundles the measuring programs into .build/bench and runs them. The product is bundled a second time
 * with the statement that sets the tenant left out, to measure what row-level security costs and nothing else.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import esbuild from 'esbuild'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const outdir = path.join(root, '.build/bench')
const WITH_TENANT = '[this.#context(scope, CONTEXT_READ_ONLY), statement]'

const withoutTenant = {
  name: 'without-tenant',
  setup(build) {
    build.onLoad({ filter: /kernel\/database\/tx\.ts$/ }, ({ path: file }) => {
      const source = fs.readFileSync(file, 'utf8')
      if (source.split(WITH_TENANT).length !== 2) {
        throw new Error(`${file} no longer says ${WITH_TENANT} exactly once: adapt scripts/bench.mjs to it.`)
      }
      return { loader: 'ts', contents: source.replace(WITH_TENANT, '[statement]') }
    })
  },
}

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

const programs = ['main', 'load', 'kernel', 'bare', 'jobs'].map((name) => `bench/${name}.ts`)
await esbuild.build({ ...shared, entryPoints: programs })
await esbuild.build({ ...shared, entryPoints: { 'kernel-open': 'bench/kernel.ts' }, plugins: [withoutTenant] })

const { status } = spawnSync(process.execPath, [path.join(outdir, 'main.mjs'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
process.exitCode = status ?? 1
