/** Tasks of the analysis thread and their execution. The result states when the time was too short. */
import { chooseEngine, compileDefinition } from '../engines.ts'
import type {
  BoundLists,
  CompiledDefinition,
  Definition,
  Finding,
  Inputs,
  Outcome,
  PluginResult,
  PluginResults,
} from '../model.ts'
import { analyseDefinition } from './analyse.ts'
import { deserializeDefinition, deserializeLists, type SerializedRequest } from './analysis-request.ts'
import { type Attribution, attribute } from './attribution.ts'
import { findMinimalChanges, type MinimalChanges } from './minimal-changes.ts'
import { listPluginFactors } from './plugin-scores.ts'

/** Checks that every input is decided. */
export interface ProofTask {
  readonly op: 'prove'
  readonly of: SerializedRequest
}

/** Finds the smallest changes that lead to another band. */
export interface SearchTask {
  readonly op: 'search'
  readonly of: SerializedRequest
  readonly inputs: Inputs
  readonly band: string | undefined
  readonly plugins: PluginResults | undefined
  readonly limit_ms: number
}

/** A side of a comparison: the pinned versions, or those in force. */
export type Side = 'old' | 'young'

/** What a plugin of one side says for the inputs that a factor of a definition of one side passes to it. */
export interface SidedResult {
  readonly definition: Side
  readonly plugin: Side
  readonly factor: string
  readonly result: PluginResult
}

/** Finds which change of version caused which difference. Names are `definition`, `engine`, and `list` or `plugin` with a key. */
export interface AttributionTask {
  readonly op: 'attribute'
  readonly names: readonly string[]
  readonly old: SerializedRequest
  /** Only the lists that differ from `old`. */
  readonly young: SerializedRequest
  readonly inputs: Inputs
  readonly plugins: readonly SidedResult[]
  readonly limit_ms: number
}

export type AnalysisTask = ProofTask | SearchTask | AttributionTask

export interface TaskResults {
  readonly prove: readonly Finding[]
  readonly search: MinimalChanges
  readonly attribute: Attribution<DecisionAttempt>
}

/** An outcome, or why the decision failed. */
export interface DecisionAttempt {
  readonly outcome: Outcome | null
  readonly findings: readonly Pick<Finding, 'code' | 'pointer' | 'message'>[]
}

export const DEFINITION = 'definition'
export const ENGINE = 'engine'
export const toListName = (list_key: string): string => `list ${list_key}`
/** A plugin with its configuration and the lists that it looks up. */
export const toPluginName = (plugin_key: string): string => `plugin ${plugin_key}`

export function runTask(task: AnalysisTask): TaskResults[AnalysisTask['op']] {
  switch (task.op) {
    case 'prove':
      return analyseDefinition(compileRequest(task.of), deserializeLists(task.of))
    case 'search':
      return search(task)
    case 'attribute':
      return runAttribution(task)
  }
}

const compileRequest = (order: SerializedRequest): CompiledDefinition =>
  compileDefinition(deserializeDefinition(order), order.engine)

/** True after the time has elapsed. */
const createTimer = (limit_ms: number): (() => boolean) => {
  const end_ms = performance.now() + limit_ms
  return () => performance.now() >= end_ms
}

function search({ of, inputs, band, plugins, limit_ms }: SearchTask): MinimalChanges {
  const isOver = createTimer(limit_ms)
  const [compiled, lists] = [compileRequest(of), deserializeLists(of)]
  const bound = compiled.bind(lists)
  if (!('decide' in bound)) throw new Error('What was bound before is searched only')
  return findMinimalChanges({ bound, compiled, lists, plugins }, inputs, { band, isOver })
}

function runAttribution(task: AttributionTask): Attribution<DecisionAttempt> {
  const { names, old, young, inputs, limit_ms } = task
  const isOver = createTimer(limit_ms)
  const [before, after] = [deserializeLists(old), deserializeLists(young)]
  const definitions = { old: deserializeDefinition(old), young: deserializeDefinition(young) }
  const compiled = new Map<string, CompiledDefinition>()
  const getCompiled = (side: Side, keeps_engine: boolean): CompiledDefinition => {
    const id = `${side} ${keeps_engine}`
    const definition = definitions[side]
    const made =
      compiled.get(id) ?? compileDefinition(definition, keeps_engine ? atLeast(old.engine, definition) : undefined)
    compiled.set(id, made)
    return made
  }
  const decide = (switched: ReadonlySet<string>): DecisionAttempt => {
    const side: Side = switched.has(DEFINITION) ? 'young' : 'old'
    const base = getCompiled(side, names.includes(ENGINE) && !switched.has(ENGINE))
    const lists = base.list_keys.flatMap((list_key) => {
      const [then, today] = [before.get(list_key), after.get(list_key)]
      // A list that the old decision did not read has only the new version.
      const chosen = switched.has(toListName(list_key)) ? (today ?? then) : (then ?? today)
      return chosen ? [[list_key, chosen] as const] : []
    })
    return decideWithLists(base, new Map(lists), inputs, chooseResults(task.plugins, base.definition, side, switched))
  }
  return attribute({ names, decide, isOver })
}

/** An earlier engine may not know the plugin factors of a definition. */
const atLeast = (engine: number, definition: Definition): number => Math.max(engine, chooseEngine(definition))

/** A plugin that one side does not use has results of the other side only. */
function chooseResults(
  given: readonly SidedResult[],
  definition: Definition,
  side: Side,
  switched: ReadonlySet<string>,
): PluginResults {
  const results = listPluginFactors(definition).flatMap(({ key, plugin_key }) => {
    const known = given.filter((each) => each.definition === side && each.factor === key)
    const wanted: Side = switched.has(toPluginName(plugin_key)) ? 'young' : 'old'
    const found = known.find(({ plugin }) => plugin === wanted) ?? known[0]
    return found ? [[key, found.result] as const] : []
  })
  return new Map(results)
}

/** A list that is not fully loaded contains the keys of the inputs, if they can be read. */
function decideWithLists(
  compiled: CompiledDefinition,
  lists: BoundLists,
  inputs: Inputs,
  plugins: PluginResults,
): DecisionAttempt {
  const bound = compiled.bind(lists)
  if (!('decide' in bound)) return failedAttempt(bound)
  const isHeld = [...lists.values()].every(({ all }) => all !== null)
  const faults = isHeld ? [] : compiled.checkInputs(inputs)
  if (faults.some(({ severity }) => severity === 'error')) return failedAttempt(faults)
  const decision = bound.decide(inputs, lists, plugins)
  return decision.ok ? { outcome: decision.outcome, findings: [] } : failedAttempt(decision.findings)
}

const failedAttempt = (findings: readonly Finding[]): DecisionAttempt => ({
  outcome: null,
  findings: findings.map(({ code, pointer, message }) => ({ code, pointer, message })),
})
