/**
 * Does a definition hold: can it be read, do its lists give what it asks of them, is every input answered, are its golden
 * cases met? The same question is asked of a draft, when it is published, and whenever it or one of its lists comes into force.
 */
import { LRUCache } from 'lru-cache'
import { analyse } from '../../../decision/analysis/analyse.ts'
import { type AnalysisOrder, orderOf } from '../../../decision/analysis/analysis-order.ts'
import { type Analyst, createAnalyst } from '../../../decision/analysis/analyst.ts'
import { combinationsAtMost } from '../../../decision/analysis/size.ts'
import { CURRENT_ENGINE, engineOf } from '../../../decision/engines.ts'
import type { Compiled, Definition, Family, Finding } from '../../../decision/model.ts'
import { failUndone } from '../../../kernel/bounded-thread.ts'
import { Beforehand } from '../../../kernel/database/beforehand.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { type Clocks, type ContentPointer, listsInForce, type Pointer } from '../../reference-data/index.ts'
import { type Bindable, bindTo, decideWith, declaredFaults, identityOf, isFindings } from '../binding/actions.ts'
import { caseFinding, differencesOf, type GoldenCase } from '../cases/rules.ts'

/** A definition that was read as far as that goes. */
export interface Examined {
  /** Null: something keeps it from being bound, and the findings say what. */
  readonly of: Bindable | null
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
  const faulty = missing.length > 0 ? missing : await declaredFaults(tx, compiled, lists)
  if (faulty.length > 0) return { of: null, findings: [...faults, ...faulty], lists, references }
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
  /** Being made, by whoever asked first. */
  readonly running: Map<string, Promise<void>>
  readonly analyst: Analyst
}
const memories = new WeakMap<Kernel, Proofs>()
function proofsOf(kernel: Kernel): Proofs {
  let proofs = memories.get(kernel)
  if (!proofs) {
    const analyst = createAnalyst({ script: kernel.script('analysis-worker'), admission: kernel.threads })
    proofs = { known: new LRUCache({ max: 2000 }), running: new Map(), analyst }
    memories.set(kernel, proofs)
    kernel.onClose(() => analyst.close())
  }
  return proofs
}

/** Going through so many combinations takes about as long as handing them to another thread. */
const SMALL = 2000

/** What met a limit is not tried again by everybody who comes along. */
const CUT_SHORT_MS = 60_000

/**
 * Faults of the lists, and of the definition over all of its inputs; found once per content of all of them. Going through all
 * inputs may take seconds: unless it is small, it is done in a thread of its own while no transaction is open, and the
 * transaction that asked is repeated. It then finds the proof by what it is about, or asks anew where that has moved.
 */
export async function prove(kernel: Kernel, tx: Tx, of: Bindable): Promise<readonly Finding[]> {
  const proofs = proofsOf(kernel)
  const { tenant_id } = tx
  const id = proofId(of, tenant_id)
  const known = proofs.known.get(id)
  if (known) return known
  const { bound, lists } = await bindTo(kernel, tx, of)
  if (isFindings(bound)) return bound
  if (combinationsAtMost(of.compiled.definition, lists) <= SMALL) {
    const found = analyse(of.compiled, lists)
    proofs.known.set(id, found)
    return found
  }
  const order = orderOf(of.compiled, lists, CURRENT_ENGINE)
  throw new Beforehand(() => proveAside(proofs, id, order, tenant_id))
}

/** Content and nothing else: what is published or put in force once more, or tried and undone, is still proved. */
function proofId({ identity, lists }: Bindable, tenant_id: string): string {
  const contents = [...lists.values()].map((list) => {
    const { list_key, content_hash, version, overlay_version, overlay_hash, overlay_policy } = list
    // What an overlay makes of a list depends on the base version and its type, and on the policy.
    const over = overlay_version === null ? [] : [version, overlay_version, overlay_hash, overlay_policy]
    return [list_key, content_hash, ...over].join(':')
  })
  return [tenant_id, identity, ...contents.sort()].join(' ')
}

async function proveAside(proofs: Proofs, id: string, order: AnalysisOrder, tenant_id: string): Promise<void> {
  const { known, running, analyst } = proofs
  if (known.has(id)) return
  const proving =
    running.get(id) ??
    analyst
      .analyse(order, tenant_id)
      .then(({ findings, is_cut_short }) => {
        known.set(id, findings, is_cut_short ? { ttl: CUT_SHORT_MS } : {})
      })
      .catch(failUnproved)
      .finally(() => running.delete(id))
  running.set(id, proving)
  await proving
}

/** Without a thread there is no proof, and without a proof nothing is stored. */
const failUnproved = (error: unknown): never =>
  failUndone(error, 'The definition could not be gone through at this moment; nothing was changed.')

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
