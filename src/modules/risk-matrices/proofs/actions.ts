/**
 * Does a definition hold: can it be read, do its lists give what it asks of them, is every input answered, are its golden
 * cases met? The same question is asked of a draft, when it is published, and whenever it or one of its lists comes into force.
 */
import { LRUCache } from 'lru-cache'
import { analyse } from '../../../decision/analysis/analyse.ts'
import { CURRENT_ENGINE, engineOf } from '../../../decision/engines.ts'
import type { Compiled, Definition, Family, Finding } from '../../../decision/model.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { Problem } from '../../../kernel/problem.ts'
import type { Actor } from '../../../kernel/route.ts'
import { type Clocks, type ContentPointer, listsInForce, type Pointer } from '../../reference-data/index.ts'
import { type Bindable, bindingOf, bindTo, decideWith, identityOf, isFindings } from '../binding/actions.ts'
import { caseFinding, differencesOf, type GoldenCase } from '../cases/rules.ts'

/** A definition that was read as far as that goes. */
export interface Examined {
  /** Null: something keeps it from being bound, and the findings say what. */
  readonly of: Bindable<Pointer> | null
  readonly findings: readonly Finding[]
}

export const hasErrors = (findings: readonly Finding[]): boolean =>
  findings.some(({ severity }) => severity === 'error')

type Reference = Compiled['references'][number]

/** Reads any JSON as a definition and finds the lists it names, as they are in force. */
export async function examine(
  tx: Tx,
  family: Family,
  text: Readonly<Record<string, unknown>>,
  clocks: Clocks = {},
): Promise<Examined & { lists: ReadonlyMap<string, Pointer>; references: readonly Reference[] }> {
  const engine = engineOf(CURRENT_ENGINE)
  const faults = engine.check(text, family)
  if (hasErrors(faults)) return { of: null, findings: faults, lists: new Map(), references: [] }
  const compiled = engine.compile({ ...text, family } as unknown as Definition)
  const { references } = compiled
  const lists = await listsInForce(tx, compiled.list_keys, clocks)
  const missing = references
    .filter(({ list_key }) => !lists.has(list_key))
    .map(({ list_key, pointer }) => notInForce(list_key, pointer))
  if (missing.length > 0) return { of: null, findings: [...faults, ...missing], lists, references }
  const identity = identityOf(compiled.definition, CURRENT_ENGINE)
  return { of: { identity, compiled, lists }, findings: faults, lists, references }
}

export const notInForce = (list_key: string, pointer: string): Finding => ({
  code: 'list_not_in_force',
  pointer,
  message: `No version of the list ${list_key} is in force.`,
  severity: 'error',
})

interface Proofs {
  readonly known: LRUCache<string, readonly Finding[]>
}
const memories = new WeakMap<Kernel, Proofs>()
const memoryOf = (kernel: Kernel): Proofs => {
  const memory = memories.get(kernel) ?? { known: new LRUCache({ max: 2000 }) }
  memories.set(kernel, memory)
  return memory
}

/** Faults of the lists, and of the definition over all of its inputs; found once per content of all of them. */
export async function prove(kernel: Kernel, tx: Tx, of: Bindable): Promise<readonly Finding[]> {
  return (
    memoryOf(kernel).known.get(bindingOf(of, tx.tenant_id)) ??
    analyseBound(kernel, tx.tenant_id, of, await bindTo(kernel, tx, of))
  )
}

function analyseBound(
  kernel: Kernel,
  tenant_id: string,
  of: Bindable,
  { bound, lists }: Awaited<ReturnType<typeof bindTo>>,
): readonly Finding[] {
  const found = isFindings(bound) ? bound : analyse(of.compiled, lists)
  memoryOf(kernel).known.set(bindingOf(of, tenant_id), found)
  return found
}

/**
 * Going through all inputs may take seconds, in which no transaction should be open: done before one is, for the handler to
 * find it remembered. What is wrong with the request is the handler's to say, in its turn: it may be the repetition of one
 * that has been carried out.
 */
export async function proveAhead(
  { kernel, actor }: { readonly kernel: Kernel; readonly actor: Actor },
  find: (tx: Tx) => Promise<Examined>,
): Promise<void> {
  const scope = { tenant_id: actor.tenant_id, actor: actor.principal }
  const look = async (tx: Tx) => {
    const { of } = await find(tx)
    return of && { of, binding: await bindTo(kernel, tx, of) }
  }
  const ready = await kernel.transactions.read(scope, look).catch((error: unknown) => {
    if (error instanceof Problem && error.status < 500) return undefined
    throw error
  })
  if (!ready || memoryOf(kernel).known.has(bindingOf(ready.of, actor.tenant_id))) return
  analyseBound(kernel, actor.tenant_id, ready.of, ready.binding)
}

export interface CaseResult {
  readonly name: string
  readonly passed: boolean
  readonly differences: readonly string[]
  readonly decision: Awaited<ReturnType<typeof decideWith>>
}

export async function runCases(
  kernel: Kernel,
  tx: Tx,
  of: Bindable,
  cases: readonly GoldenCase[],
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  for (const { name, inputs, expected } of cases) {
    const decision = await decideWith(kernel, tx, of, inputs)
    const differences = differencesOf(expected, decision)
    results.push({ name, passed: differences.length === 0, differences, decision })
  }
  return results
}

/** Everything there is to say: structure, lists, completeness and, once those stand, golden cases. */
export async function findingsOf(
  kernel: Kernel,
  tx: Tx,
  examined: Examined,
  cases: readonly GoldenCase[],
): Promise<Finding[]> {
  if (!examined.of) return [...examined.findings]
  const findings = [...examined.findings, ...(await prove(kernel, tx, examined.of))]
  if (hasErrors(findings)) return findings
  const results = await runCases(kernel, tx, examined.of, cases)
  const failed = results.flatMap(({ passed, differences }, index) =>
    passed ? [] : [caseFinding(cases[index] as GoldenCase, differences)],
  )
  return [...findings, ...failed]
}

/** What a proof was made against, kept with the version it is a proof of. */
export const provedAgainst = (lists: ReadonlyMap<string, ContentPointer>) =>
  [...lists.values()].map(({ list_key, via, version, content_hash, overlay_version, overlay_hash }) => ({
    list_key,
    via,
    version,
    content_hash,
    overlay_version,
    overlay_hash,
  }))
