/**
 * Tables taken over from GoRules graphs beside the engine they were written for: the same inputs, at every table's own break
 * points, through both. Prints its seed and one line of JSON. The other engine is installed outside the project.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { readProject } from '#app/project.ts'
import { findBreakPoints } from '#decision/analysis/break-points.ts'
import { engine1 } from '#decision/engine-1/engine.ts'
import { importGoRules } from '#decision/import/gorules.ts'
import type { ImportedRule } from '#decision/import/import-result.ts'
import type { Inputs } from '#decision/model.ts'

const CASES_PER_TABLE = 300
/** Beyond this the other engine's numbers are not exact to the digit. */
const MAX_NUMBER = 1e9

type Json = Record<string, unknown>
interface Zen {
  readonly ZenEngine: new () => {
    createDecision(graph: Buffer): { evaluate(input: Json): Promise<{ result: unknown }> }
  }
}

const seed = Number(process.argv[2] ?? Math.floor(Math.random() * 1e9))
console.error(`seed ${seed}`)
let state = seed
/** A linear congruential generator: enough to choose, and the same on every machine. */
const random = (below: number): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

function installZen(): Zen {
  const folder = path.join(os.tmpdir(), 'decision-acceptance')
  const file = path.join(folder, 'package.json')
  if (!fs.existsSync(path.join(folder, 'node_modules/@gorules/zen-engine'))) {
    fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(file, JSON.stringify({ private: true, dependencies: { '@gorules/zen-engine': '0.52.1' } }))
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], { cwd: folder, timeout: 120_000 })
  }
  return createRequire(file)('@gorules/zen-engine') as Zen
}

/** The table alone, between an input and an output node. */
function buildGraph(content: Json): Buffer {
  const table = { ...content, passThrough: false, passThorough: false, outputPath: null }
  const nodes = [
    { id: 'in', type: 'inputNode', name: 'in' },
    { id: 'table', type: 'decisionTableNode', name: 'table', content: table },
    { id: 'out', type: 'outputNode', name: 'out' },
  ]
  const edges = [
    { id: 'a', type: 'edge', sourceId: 'in', targetId: 'table' },
    { id: 'b', type: 'edge', sourceId: 'table', targetId: 'out' },
  ]
  return Buffer.from(JSON.stringify({ nodes, edges }))
}

function buildCases({ definition }: ImportedRule): Inputs[] {
  const compiled = engine1.compile({ family: 'rule', ...definition })
  const values = definition.inputs.map(({ name, type }) =>
    findBreakPoints(compiled, new Map(), name).filter(
      (value) => type !== 'decimal' || Math.abs(Number(value)) <= MAX_NUMBER,
    ),
  )
  return Array.from({ length: CASES_PER_TABLE }, () =>
    Object.fromEntries(definition.inputs.map(({ name }, n) => [name, values[n]?.[random(values[n].length)]])),
  )
}

const getPath = (value: unknown, steps: string): unknown =>
  steps.split('.').reduce<unknown>((inside, step) => (inside as Json | undefined)?.[step], value)

/** As the other engine takes them: numbers as numbers, paths as objects within objects. */
function toNestedInput({ definition }: ImportedRule, inputs: Inputs): Json {
  const root: Json = {}
  for (const { name, title, type } of definition.inputs) {
    const steps = title.split('.')
    const last = steps.pop() as string
    let inside = root
    for (const step of steps) {
      inside[step] ??= {}
      inside = inside[step] as Json
    }
    inside[last] = type === 'decimal' ? Number(inputs[name]) : inputs[name]
  }
  return root
}

/** Ours in the other engine's terms: by output, one value, or one per row that fires. */
function evaluateOurs({ definition }: ImportedRule, inputs: Inputs): unknown {
  const bound = engine1.compile({ family: 'rule', ...definition }).bind(new Map())
  if (!('decide' in bound)) throw new Error(JSON.stringify(bound))
  const decision = bound.decide(inputs)
  if (!decision.ok || decision.outcome.family !== 'rule') return decision
  const { outputs } = decision.outcome
  return definition.table.outputs.map(({ name }) => outputs[name] ?? null)
}

function toComparable({ definition }: ImportedRule, result: unknown): unknown {
  const rows = Array.isArray(result) ? result : null
  return definition.table.outputs.map(({ title = '' }) => {
    if (rows) return rows.length === 0 ? null : rows.map((row) => getPath(row, title))
    return getPath(result, title) ?? null
  })
}

const root = path.resolve(readProject().root, '../shared/data/decisions/gorules-zen')
const files = fs.existsSync(root)
  ? fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))
  : []
if (files.length === 0) {
  console.log(JSON.stringify({ run: 'gorules-conformance', tables: 0, skipped: `${root} is not here`, passed: true }))
  process.exit(0)
}
const engine = new (installZen().ZenEngine)()
const differences: unknown[] = []
let tables = 0
let without_table = 0
let cases = 0
for (const file of files.sort()) {
  const text = fs.readFileSync(path.join(root, file), 'utf8')
  for (const rule of importGoRules(text).definitions) {
    const node = rule.place
      .split('/')
      .slice(1, 3)
      .reduce<unknown>((inside, step) => (inside as Json)[step], JSON.parse(text)) as { type: string; content: Json }
    // Rules made of other nodes have no table that the other engine could run alone.
    if (node.type !== 'decisionTableNode') {
      without_table += 1
      continue
    }
    tables += 1
    const decision = engine.createDecision(buildGraph(node.content))
    for (const inputs of buildCases(rule)) {
      cases += 1
      const ours = evaluateOurs(rule, inputs)
      const given = toNestedInput(rule, inputs)
      const theirs = await decision.evaluate(given).then(
        ({ result }) => toComparable(rule, result),
        (error: Error) => error.message,
      )
      if (JSON.stringify(ours) !== JSON.stringify(theirs))
        differences.push({ file, table: rule.name, given, ours, theirs })
    }
  }
}
console.log(
  JSON.stringify({
    run: 'gorules-conformance',
    seed,
    tables,
    without_table,
    cases,
    different: differences.length,
    differences: differences.slice(0, 5),
    passed: differences.length === 0,
  }),
)
process.exitCode = differences.length === 0 ? 0 : 1
