/** Runs test files with vitest, in this project or in a copy of it, and counts what passed and what failed. */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

export interface VitestResult {
  readonly passed: number
  /** Tests that failed, and files that could not be loaded. */
  readonly failed: readonly string[]
  readonly broken_files: readonly string[]
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

export interface VitestOptions {
  readonly root: string
  readonly files: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The Node.js that runs the tests; the one of this process unless said otherwise. */
  readonly node?: string
  readonly args?: readonly string[]
}

export async function runVitest({ root, files, env = {}, node = process.execPath, args = [] }: VitestOptions) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-vitest-'))
  const file = path.join(folder, 'report.json')
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
  const all = [vitest, 'run', ...files, ...args, '--reporter=dot', '--reporter=json', `--outputFile.json=${file}`]
  // Its output goes to stderr: stdout is for the result of the run.
  const child = spawn(node, all, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 2, 2] })
  await new Promise((resolve) => child.once('exit', resolve))
  try {
    return readReport(file, root)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

function readReport(file: string, root: string): VitestResult {
  if (!fs.existsSync(file)) return { passed: 0, failed: ['vitest gave no report'], broken_files: [] }
  const { testResults } = JSON.parse(fs.readFileSync(file, 'utf8')) as Report
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const broken_files = testResults
    .filter(
      ({ status, assertionResults }) => status === 'failed' && assertionResults.every((one) => one.status !== 'failed'),
    )
    .map(({ name }) => path.relative(root, name))
  const failed = tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName.trim())
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: [...failed, ...broken_files],
    broken_files,
  }
}
