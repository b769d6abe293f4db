/** Builds the scripts of worker threads once per test run: a thread cannot run from TypeScript sources on every Node we support. */
import path from 'node:path'
import esbuild from 'esbuild'
import { projectRoot } from './database.ts'

export const threadsDir = path.join(projectRoot, '.build/threads')

export default async function buildThreads(): Promise<void> {
  await esbuild.build({
    absWorkingDir: projectRoot,
    entryPoints: {
      'import-thread': 'src/registry/import/import-thread.ts',
      'type-worker': 'src/registry/types/type-worker.ts',
      'analysis-worker': 'src/decision/analysis/analysis-worker.ts',
      'contract-worker': 'src/contract/contract-worker.ts',
      sandbox: 'src/sandbox/sandbox.ts',
      'compile-process': 'src/kernel/typesetting/compile-process.ts',
    },
    outdir: threadsDir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // As scripts/build.mjs makes them.
    packages: 'bundle',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  })
}
