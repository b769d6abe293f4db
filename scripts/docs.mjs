/** `npm run docs`: writes the generated documents (docs/endpoints.md, docs/schema.sql, docs/proofs/vectors.json, client/types.ts, a table in docs/security.md). The tests fail when they are stale. */
import { spawnSync } from 'node:child_process'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', 'test/documents.test.ts', 'test/client-types.test.ts', 'test/deploy/documents.test.ts'],
  {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PROBITY_WRITE_DOCS: '1' },
  },
)
process.exitCode = status ?? 1
