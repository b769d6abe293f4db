/**
 * `npm run acceptance -- pgbouncer`: the isolation and job suites through PgBouncer in transaction mode; without named statements
 * always, with them where this PgBouncer can (1.21). Prints one line of JSON and exits 0 or 1; without PgBouncer it says so.
 */
import { parseArgs } from 'node:util'
import { readProject } from '#app/project.ts'
import { getPgBouncerVersion, tracksStatements } from '../support/pgbouncer.ts'
import { runVitest } from './support/vitest-run.ts'

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const suites = values.only
  ? [values.only]
  : ['test/isolation', 'src/kernel/job', 'src/modules/jobs', 'src/modules/system']
const { root } = readProject()

async function runSuites({ program, version }: InstalledPgBouncer, prepared: 'on' | 'off') {
  const env = { PROBITY_TEST_BOUNCER: program, PROBITY_TEST_PREPARED: prepared }
  return { version, prepared, ...(await runVitest({ root, files: suites, env })) }
}

interface InstalledPgBouncer {
  readonly program: string
  readonly version: string
}

/** The newer one is where scripts/install-debian-extras.sh --newer-pgbouncer puts it. */
const installed = [
  process.env['PGBOUNCER'],
  'pgbouncer',
  '/usr/sbin/pgbouncer',
  '/opt/probity-extras/pgbouncer',
].flatMap((program): InstalledPgBouncer[] => {
  const version = program ? getPgBouncerVersion(program) : null
  return program && version ? [{ program, version }] : []
})
const [first] = installed
const trackingStatements = installed.find(({ version }) => tracksStatements(version))

if (first === undefined) {
  const skipped = 'PgBouncer is not installed; scripts/install-debian-extras.sh does it, PGBOUNCER=<path> names another'
  console.log(JSON.stringify({ run: 'pgbouncer', skipped }))
} else {
  const runs = [await runSuites(first, 'off')]
  if (trackingStatements) runs.push(await runSuites(trackingStatements, 'on'))
  const not_proved = trackingStatements
    ? []
    : [`named statements: PgBouncer ${first.version} does not track them, 1.21 does`]
  const passed = runs.every((run) => run.failed.length === 0 && run.passed > 0)
  console.log(JSON.stringify({ run: 'pgbouncer', pool_mode: 'transaction', runs, not_proved, passed }))
  process.exitCode = passed ? 0 : 1
}
