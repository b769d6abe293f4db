/** Tasks of the analysis thread and their execution. The result states when the time was too short. */
import { getEngine } from '../engines.ts'
import type { BoundLists, CompiledDefinition, Finding, Inputs, Outcome } from '../model.ts'
import { analyseDefinition } from './analyse.ts'
import { deserializeDefinition, deserializeLists, type SerializedRequest } from './analysis-request.ts'
import { type Attribution, attribute } from './attribution.ts'
import { findMinimalChanges, type MinimalChanges } from './minimal-changes.ts'

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
  readonly limit_ms: number
}

/** Finds which change of version caused which difference. Names are `definition`, `engine`, and `list` with a key. */
export interface AttributionTask {
  readonly op: 'attribute'
  readonly names: readonly string[]
  readonly old: SerializedRequest
  /** Only the lists that differ from `old`. */
  readonly young: SerializedRequest
  readonly inputs: Inputs
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

const compileRequest = (order: SerializedRequest, engine = order.engine): CompiledDefinition =>
  getEngine(engine).compile(deserializeDefinition(order))

/** True after the time has elapsed. */
const createTimer = (limit_ms: number): (() => boolean) => {
  const end_ms = performance.now() + limit_ms
  return () => performance.now() >= end_ms
}

function search({ of, inputs, band, limit_ms }: SearchTask): MinimalChanges {
  const isOver = createTimer(limit_ms)
  const [compiled, lists] = [compileRequest(of), deserializeLists(of)]
  const bound = compiled.bind(lists)
  if (!('decide' in bound)) throw new Error('What was bound before is searched only')
  return findMinimalChanges({ bound, compiled, lists }, inputs, { band, isOver })
}

function runAttribution({ names, old, young, inputs, limit_ms }: AttributionTask): Attribution<DecisionAttempt> {
  const isOver = createTimer(limit_ms)
  const [before, after] = [deserializeLists(old), deserializeLists(young)]
  const compiled = new Map<string, CompiledDefinition>()
  const compiledOf = (from: SerializedRequest, engine: number): CompiledDefinition => {
    const id = `${from === old} ${engine}`
    const made = compiled.get(id) ?? compileRequest(from, engine)
    compiled.set(id, made)
    return made
  }
  const decide = (switched: ReadonlySet<string>): DecisionAttempt => {
    const { engine } = switched.has(ENGINE) ? young : old
    const base = compiledOf(switched.has(DEFINITION) ? young : old, engine)
    const lists = base.list_keys.flatMap((list_key) => {
      const [then, today] = [before.get(list_key), after.get(list_key)]
      // A list that the old decision did not read has only the new version.
      const chosen = switched.has(toListName(list_key)) ? (today ?? then) : (then ?? today)
      return chosen ? [[list_key, chosen] as const] : []
    })
    return decideWithLists(base, new Map(lists), inputs)
  }
  return attribute({ names, decide, isOver })
}

/** A list that is not fully loaded contains the keys of the inputs, if they can be read. */
function decideWithLists(compiled: CompiledDefinition, lists: BoundLists, inputs: Inputs): DecisionAttempt {
  const bound = compiled.bind(lists)
  if (!('decide' in bound)) return failedAttempt(bound)
  const isHeld = [...lists.values()].every(({ all }) => all !== null)
  const faults = isHeld ? [] : compiled.checkInputs(inputs)
  if (faults.some(({ severity }) => severity === 'error')) return failedAttempt(faults)
  const decision = bound.decide(inputs, lists)
  return decision.ok ? { outcome: decision.outcome, findings: [] } : failedAttempt(decision.findings)
}

const failedAttempt = (findings: readonly Finding[]): DecisionAttempt => ({
  outcome: null,
  findings: findings.map(({ code, pointer, message }) => ({ code, pointer, message })),
})
