/**
 * `npm run acceptance -- upgrade`: an earlier commit creates and fills a database, and the present build starts on it. Migrations,
 * shared lists, an earlier decision and the audit chain must hold. `--from <commit>`, by default an early landed one, so that
 * nearly every migration runs on data. Prints one line of JSON and exits 0 or 1.
 */
import { parseArgs } from 'node:util'
import { readProject } from '#app/project.ts'
import { hasCommit } from '../support/landed.ts'
import { runUpgrade } from './support/upgrade.ts'

/** Its database has 18 migrations; `test/upgrade-from-landed.test.ts` starts from the last landed commit. */
const EARLY_COMMIT = 'ada28c05'

const { values } = parseArgs({ options: { from: { type: 'string', default: EARLY_COMMIT } } })
const { root } = readProject()
if (hasCommit(root, values.from)) {
  const result = await runUpgrade(root, values.from)
  console.log(JSON.stringify({ run: 'upgrade', from: values.from, ...result }))
  process.exitCode = result.passed ? 0 : 1
} else {
  console.log(JSON.stringify({ run: 'upgrade', skipped: `the history here does not reach commit ${values.from}` }))
}
