/**
 * One decision with its whole explanation, beside two libraries on the same table and inputs. In process on both sides: no
 * database, no HTTP. Every decision is compared with the naive reading of the table.
 */
import { type ChildProcess, execFile, fork } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { compileDefinition } from '#decision/engines.ts'
import { applicants, expectedScore, goRules, jsonRules, lists, matrix, rows } from './decision-data.ts'
import { median } from './median.ts'
import type { Comparison } from './registry-bench.ts'

const ROUNDS = 7
const OWN_PASSES = 200
const LIBRARY_PASSES = 5
const what = 'one decision with its explanation, in process'
const scores = applicants.map(expectedScore)
const libraryFolder = path.join(os.tmpdir(), 'decision-bench')
const libraryVersions = { '@gorules/zen-engine': '0.52.1', 'json-rules-engine': '7.3.1' }
const targets: Readonly<Record<string, { aim: number; floor: number }>> = {
  '@gorules/zen-engine': { aim: 20, floor: 20 },
  'json-rules-engine': { aim: 80, floor: 80 },
}

/** Ours and the libraries in the same rounds; a ratio is the median of those of the single rounds. */
export async function measureDecisions(): Promise<Comparison[]> {
  const own = createOwnEngineTimer()
  const child = await startLibraries().catch((error: Error) => error)
  if (child instanceof Error) {
    const baseline = `libraries not measured: ${child.message.split('\n')[0]?.slice(0, 100)}`
    own()
    return [{ label: what, entries: rows.length, ours: `${own().toFixed(2)} µs`, baseline, ratio: null }]
  }
  try {
    const { names } = (await message(child)) as { names: string[] }
    const rounds: { own_us: number; other_us: number }[][] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const measured: (typeof rounds)[number] = []
      for (const name of names) {
        const own_us = own()
        child.send(name)
        measured.push({ own_us, other_us: ((await message(child)) as { each_us: number }).each_us })
      }
      // The first round warms.
      if (round > 0) rounds.push(measured)
    }
    return names.map((name, n) => {
      const of = rounds.map((measured) => measured[n] as { own_us: number; other_us: number })
      return {
        label: what,
        entries: rows.length,
        ours: `${median(of.map(({ own_us }) => own_us)).toFixed(2)} µs`,
        baseline: `${name} ${median(of.map(({ other_us }) => other_us)).toFixed(1)} µs`,
        ratio: median(of.map(({ own_us, other_us }) => other_us / own_us)),
        ...targets[name],
      }
    })
  } finally {
    child.disconnect()
  }
}

/** Measures one round: microseconds of one decision. */
export function createOwnEngineTimer(): () => number {
  const bound = compileDefinition(matrix).bind(lists)
  if (!('decide' in bound)) throw new Error(JSON.stringify(bound))
  return () => {
    const from_ms = performance.now()
    for (let pass = 0; pass < OWN_PASSES; pass++) {
      for (let n = 0; n < applicants.length; n++) {
        const decision = bound.decide(applicants[n] as never)
        if (!decision.ok || decision.outcome.family !== 'matrix' || decision.outcome.score_bps !== scores[n]) {
          throw new Error(`${JSON.stringify(applicants[n])} gave ${JSON.stringify(decision)}, not ${scores[n]}`)
        }
      }
    }
    return ((performance.now() - from_ms) * 1000) / (OWN_PASSES * applicants.length)
  }
}

/** Installed at the time of measurement, outside the project. */
async function startLibraries(): Promise<ChildProcess> {
  fs.mkdirSync(libraryFolder, { recursive: true })
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies: libraryVersions })
  const file = path.join(libraryFolder, 'package.json')
  const is_there = fs.existsSync(file) && fs.readFileSync(file, 'utf8') === manifest
  if (!is_there || !fs.existsSync(path.join(libraryFolder, 'node_modules/json-rules-engine'))) {
    fs.writeFileSync(file, manifest)
    const command = ['install', '--no-audit', '--no-fund', '--no-package-lock']
    await promisify(execFile)('npm', command, { cwd: libraryFolder, timeout: 120_000 })
  }
  const script = path.join(libraryFolder, 'decision-libraries.mjs')
  fs.copyFileSync(path.join(process.cwd(), 'bench/decision-libraries.mjs'), script)
  const order = path.join(libraryFolder, 'order.json')
  fs.writeFileSync(order, JSON.stringify({ goRules, jsonRules, applicants, scores, passes: LIBRARY_PASSES }))
  return fork(script, [order], { cwd: libraryFolder, execArgv: [] })
}

const message = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const ended = () => reject(new Error('the process with the libraries ended'))
    child.once('exit', ended)
    child.once('message', (received) => {
      child.off('exit', ended)
      resolve(received)
    })
  })
