/**
 * `npm test`: the build, then every vitest suite on the embedded PostgreSQL with types and lint beside it, ending with one line
 * of totals.
 * Deterministic checks only; kill, load and fuzz runs are `npm run acceptance -- <name>`. A run of all files, with the usual samples,
 * also compares its size with test/budget.json.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const report = path.join(root, '.build/test-report.json')
const bin = (name) => path.join(root, 'node_modules/.bin', process.platform === 'win32' ? `${name}.cmd` : name)

function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32', ...options })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    }
    child.once('error', (error) => resolve({ code: 1, output: `${error.message}\n` }))
    child.once('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

async function runStep({ name, command, args, env = {} }, stdio) {
  const started = performance.now()
  const { code, output } = await run(command, args, { stdio, env: { ...process.env, ...env } })
  return { name, code, output, duration_s: (performance.now() - started) / 1000 }
}

/** One after the other: more at once would take the cores from the tests. */
async function runChecks() {
  const results = []
  for (const step of checks) results.push(await runStep(step, ['ignore', 'pipe', 'pipe']))
  return results
}

function reportStep({ name, code, output, duration_s }) {
  if (code === 0) passed++
  else failed++
  process.stdout.write(output)
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${duration_s.toFixed(1)} s)`)
}

/** Compares the tests, databases and browsers of this run with the committed numbers, and prints both. */
function isWithinBudget() {
  if (process.env.PROBITY_TEST_WHOLE === '1') {
    console.log('The size of this run is not compared with test/budget.json: nothing was left out of it.')
    return true
  }
  const { margin_percent, ...budget } = JSON.parse(fs.readFileSync(path.join(root, 'test/budget.json'), 'utf8'))
  const resources = fs.readFileSync(path.join(root, '.build/test-resources.txt'), 'utf8').split('\n')
  const count = (name) => resources.filter((line) => line === name).length
  const used = { tests, databases: count('database'), browsers: count('browser') }
  const exceeded = Object.keys(budget).filter((name) => used[name] > budget[name] * (1 + margin_percent / 100))
  for (const name of Object.keys(budget)) {
    console.log(`${exceeded.includes(name) ? 'FAILED' : 'ok    '} ${used[name]} ${name}, budget ${budget[name]}`)
  }
  if (exceeded.length > 0)
    console.log('Make the tests share more, or raise test/budget.json and say why in the commit.')
  return exceeded.length === 0
}

/** Checks again only what depends on a file whose content changed since the last run. */
const typesStep = (name, project) => ({
  name,
  command: bin('tsc'),
  args: ['-p', project, '--incremental', '--tsBuildInfoFile', `.build/${name.replaceAll(' ', '-')}.tsbuildinfo`],
  // No garbage collection below 3 GiB: tsc ends after seconds, and collecting takes a fifth of its time.
  env: { GOGC: 'off', GOMEMLIMIT: '3GiB' },
})

/** Suites start servers and browsers from what is built, and the types of the client are checked with the rest. */
const buildStep = { name: 'build', command: process.execPath, args: ['scripts/build.mjs'] }
const checks = [
  typesStep('types', '.'),
  typesStep('types of the console', 'console'),
  { name: 'lint', command: bin('biome'), args: ['check', '.'] },
]

if (!fs.existsSync(bin('vitest'))) {
  console.error('The dependencies are not installed. Run "npm ci" first.')
  process.exit(1)
}

let passed = 0
let failed = 0
reportStep(await runStep(buildStep, 'inherit'))

fs.mkdirSync(path.dirname(report), { recursive: true })
fs.rmSync(report, { force: true })
const only = process.argv.slice(2)
const checking = runChecks()
const { code } = await run(bin('vitest'), [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...only,
])
for (const result of await checking) reportStep(result)
const skipped = []
let tests = 0
if (fs.existsSync(report)) {
  const result = JSON.parse(fs.readFileSync(report, 'utf8'))
  for (const file of result.testResults) {
    // A file that could not even be loaded has no tests to count.
    if (file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed')) failed++
    for (const test of file.assertionResults) {
      tests++
      if (test.status === 'passed') passed++
      else if (test.status === 'failed') failed++
      else skipped.push(`${path.relative(root, file.name)}: ${test.fullName.trim()}`)
    }
  }
} else {
  failed++
}
// Errors outside any test, for example an unhandled rejection, fail the run too.
if (code !== 0 && failed === 0) failed++
for (const name of skipped) console.log(`skipped: ${name}`)
if (only.length === 0 && !isWithinBudget()) failed++
console.log(`\n${passed} passed, ${failed} failed, ${skipped.length} skipped`)
process.exitCode = failed === 0 ? 0 : 1
