/**
 * `npm run acceptance -- pgbouncer`: the isolation and job suites through PgBouncer in transaction mode; without named statements
 * always, with them where this PgBouncer can (1.21). Prints one line of JSON and exits 0 or 1; without PgBouncer it says so.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readProject } from '#app/project.ts'
import { getPgBouncerVersion, tracksStatements } from '../support/pgbouncer.ts'

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const suites = values.only
  ? [values.only]
  : ['test/isolation', 'src/kernel/job', 'src/modules/jobs', 'src/modules/system']
const { root } = readProject()

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

/** Runs the suites and counts; a file that cannot even be loaded counts as one failure. */
async function runSuites({ program, version }: InstalledPgBouncer, prepared: 'on' | 'off') {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-bouncer-'))
  const file = path.join(folder, 'report.json')
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', ...suites, '--reporter=dot', '--reporter=json', `--outputFile.json=${file}`]
  const env = { ...process.env, PROBITY_TEST_BOUNCER: program, PROBITY_TEST_PREPARED: prepared }
  // Its own words go to stderr: stdout is for the result.
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 2, 2] })
  await new Promise((resolve) => child.once('exit', resolve))
  try {
    const { testResults } = JSON.parse(fs.readFileSync(file, 'utf8')) as Report
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
    const named = (status: string) => tests.filter((one) => one.status === status).map(({ fullName }) => fullName)
    const broken = testResults.filter(
      ({ status, assertionResults }) => status === 'failed' && assertionResults.every((one) => one.status !== 'failed'),
    )
    const failed = [...named('failed'), ...broken.map(({ name }) => path.relative(root, name))]
    return { version, prepared, passed: named('passed').length, failed, files: testResults.length }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
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
