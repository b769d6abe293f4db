/** Runs TypeScript of this project in a script: bundled first, because not every Node we support reads TypeScript. */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import esbuild from 'esbuild'

const root = path.resolve(import.meta.dirname, '..')

/**
 * Imports `source`, a few lines of TypeScript whose imports resolve from the project's root. The bundle lies below the root,
 * so that it finds the packages, and is removed as soon as it is loaded.
 */
export async function importBundled(source) {
  const outfile = path.join(root, '.build', `import-${randomUUID()}.mjs`)
  try {
    await esbuild.build({
      absWorkingDir: root,
      stdin: { contents: source, resolveDir: root, loader: 'ts' },
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      packages: 'external',
      logLevel: 'error',
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    fs.rmSync(outfile, { force: true })
  }
}
