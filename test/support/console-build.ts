/** Builds the console and the documentation page where they are not built yet, once per worker process. */
import { execFileSync } from 'node:child_process'
import { projectRoot } from './database.ts'

let isBuilt = false

export function buildConsole(): void {
  if (isBuilt) return
  execFileSync(process.execPath, ['scripts/build.mjs', 'console', 'docs'], {
    cwd: projectRoot,
    stdio: 'pipe',
    // Vitest sets NODE_ENV=test, with which React's development build would be bundled.
    env: { ...process.env, NODE_ENV: 'production' },
  })
  isBuilt = true
}
