/**
 * `npm run acceptance -- node-versions`: the test suite on every Node.js that package.json supports, each taken from its npm package.
 * `--only <file>` runs one test file, `--version <number>` one version. Prints one line of JSON and exits 0 or 1.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readProject } from '#app/project.ts'
import { runVitest } from './support/vitest-run.ts'

const { values } = parseArgs({ options: { only: { type: 'string' }, version: { type: 'string' } } })
const versions = values.version === undefined ? ['20', '22', '24'] : [values.version]
const { root } = readProject()

/** The package of this platform holds nothing but the binary; the package `node` would run a script to choose it. */
function installNode(folder: string, version: string): string {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts']
  execFileSync('npm', [...args, `${name}@${version}`], { stdio: ['ignore', 2, 2] })
  return path.join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

async function runWith(version: string) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `probity-node-${version}-`))
  // As root the database runs as somebody else, who must be able to enter.
  fs.chmodSync(folder, 0o755)
  try {
    const node = installNode(folder, version)
    const exact = execFileSync(node, ['--version']).toString().trim()
    const env = { PATH: `${path.dirname(node)}${path.delimiter}${process.env['PATH'] ?? ''}` }
    const files = values.only === undefined ? [] : [values.only]
    const { passed, failed } = await runVitest({ root, files, node, env })
    console.error(`Node.js ${exact}: ${passed} passed, ${failed.length} failed`)
    return { version: exact, tests: passed, failed }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const runs = []
for (const version of versions) runs.push(await runWith(version))
const passed = runs.every(
  (run, n) => run.version.startsWith(`v${versions[n]}.`) && run.tests > 0 && run.failed.length === 0,
)
console.log(JSON.stringify({ run: 'node-versions', runs, passed }))
process.exitCode = passed ? 0 : 1
