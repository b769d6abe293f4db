/**
 * `npm run acceptance -- upgrade`: an earlier commit creates and fills a database, and the present build starts on it. Migrations,
 * shared lists, an earlier decision and the audit chain must hold. `--from <commit>`; prints one line of JSON and exits 0 or 1.
 */
import { parseArgs } from 'node:util'
import { readProject } from '#app/project.ts'
import { hasCommit, LANDED_COMMIT, runUpgrade } from './support/upgrade.ts'

const { values } = parseArgs({ options: { from: { type: 'string', default: LANDED_COMMIT } } })
const { root } = readProject()
if (hasCommit(root, values.from)) {
  const result = await runUpgrade(root, values.from)
  console.log(JSON.stringify({ run: 'upgrade', from: values.from, ...result }))
  process.exitCode = result.passed ? 0 : 1
} else {
  console.log(JSON.stringify({ run: 'upgrade', skipped: `the history here does not reach commit ${values.from}` }))
}
