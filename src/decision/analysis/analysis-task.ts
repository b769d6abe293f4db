/** What the bounded thread is asked, and how it finds the answer; it says so itself when the time it was given was too short. */
import { engineOf } from '../engines.ts'
import type { Compiled, Finding, Inputs, Lists, Outcome } from '../model.ts'
import { analyse } from './analyse.ts'
import { type PackedOrder, unpackDefinition, unpackLists } from './analysis-order.ts'
import { type Attribution, attribute } from './attribution.ts'
import { type MinimalChanges, minimalChanges } from './minimal-changes.ts'

/** Is every input answered? */
export interface ProofTask {
  readonly op: 'prove'
  readonly of: PackedOrder
}

/** How little would have to be different for another band? */
export interface SearchTask {
  readonly op: 'search'
  readonly of: PackedOrder
  readonly inputs: Inputs
  readonly band: string | undefined
  readonly limit_ms: number
}

/** Which change of version made which difference? Names are `definition`, `engine`, and `list` with a key. */
export interface AttributionTask {
  readonly op: 'attribute'
  readonly names: readonly string[]
  readonly old: PackedOrder
  /** Of its lists only those that are not the same in `old`. */
  readonly young: PackedOrder
  readonly inputs: Inputs
  readonly limit_ms: number
}

export type Task = ProofTask | SearchTask | AttributionTask

export interface Findings {
  readonly prove: readonly Finding[]
  readonly search: MinimalChanges
  readonly attribute: Attribution<Attempt>
}

/** An outcome, or why there is none. */
export interface Attempt {
  readonly outcome: Outcome | null
  readonly findings: readonly Pick<Finding, 'code' | 'pointer' | 'message'>[]
}

export const DEFINITION = 'definition'
export const ENGINE = 'engine'
export const listName = (list_key: string): string => `list ${list_key}`

export function carryOut(task: Task): Findings[Task['op']] {
  switch (task.op) {
    case 'prove':
      return analyse(compiledFrom(task.of), unpackLists(task.of))
    case 'search':
      return search(task)
    case 'attribute':
      return attributeTask(task)
  }
}

const compiledFrom = (order: PackedOrder, engine = order.engine): Compiled =>
  engineOf(engine).compile(unpackDefinition(order))

/** True once the time is over. */
const clock = (limit_ms: number): (() => boolean) => {
  const end_ms = performance.now() + limit_ms
  return () => performance.now() >= end_ms
}

function search({ of, inputs, band, limit_ms }: SearchTask): MinimalChanges {
  const isOver = clock(limit_ms)
  const [compiled, lists] = [compiledFrom(of), unpackLists(of)]
  const bound = compiled.bind(lists)
  if (!('decide' in bound)) throw new Error('What was bound before is searched only')
  return minimalChanges(bound, compiled, lists, inputs, { band, isOver })
}

function attributeTask({ names, old, young, inputs, limit_ms }: AttributionTask): Attribution<Attempt> {
  const isOver = clock(limit_ms)
  const [before, after] = [unpackLists(old), unpackLists(young)]
  const compiled = new Map<string, Compiled>()
  const compiledOf = (from: PackedOrder, engine: number): Compiled => {
    const id = `${from === old} ${engine}`
    const made = compiled.get(id) ?? compiledFrom(from, engine)
    compiled.set(id, made)
    return made
  }
  const decide = (switched: ReadonlySet<string>): Attempt => {
    const { engine } = switched.has(ENGINE) ? young : old
    const base = compiledOf(switched.has(DEFINITION) ? young : old, engine)
    const lists = base.list_keys.flatMap((list_key) => {
      const [then, today] = [before.get(list_key), after.get(list_key)]
      // A list that was not read then has only today's version.
      const chosen = switched.has(listName(list_key)) ? (today ?? then) : (then ?? today)
      return chosen ? [[list_key, chosen] as const] : []
    })
    return decideHeld(base, new Map(lists), inputs)
  }
  return attribute({ names, decide, isOver })
}

/** A list that is not held whole has the keys that the inputs lead to, if they can be read. */
function decideHeld(compiled: Compiled, lists: Lists, inputs: Inputs): Attempt {
  const bound = compiled.bind(lists)
  if (!('decide' in bound)) return refused(bound)
  const isHeld = [...lists.values()].every(({ all }) => all !== null)
  const faults = isHeld ? [] : compiled.checkInputs(inputs)
  if (faults.some(({ severity }) => severity === 'error')) return refused(faults)
  const decision = bound.decide(inputs, lists)
  return decision.ok ? { outcome: decision.outcome, findings: [] } : refused(decision.findings)
}

const refused = (findings: readonly Finding[]): Attempt => ({
  outcome: null,
  findings: findings.map(({ code, pointer, message }) => ({ code, pointer, message })),
})
