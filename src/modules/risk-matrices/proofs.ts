/**
 * Checks whether a definition is valid: it can be read, its lists have what it needs, every input has an answer, and its
 * golden cases pass. Runs for drafts, when publishing, and when the definition or one of its lists comes into force.
 */
import { analyseDefinition } from '#decision/analysis/analyse.ts'
import { type AnalysisRequest, buildAnalysisRequest } from '#decision/analysis/analysis-request.ts'
import { createAnalysisRunner } from '#decision/analysis/analysis-runner.ts'
import { estimateCombinations } from '#decision/analysis/size-estimate.ts'
import { checkNewDefinition, compileDefinition } from '#decision/engines.ts'
import type { CompiledDefinition, Definition, DefinitionFamily, Finding } from '#decision/model.ts'
import { failThreadUnavailable } from '#kernel/bounded-thread.ts'
import { declareCache } from '#kernel/cache/caches.ts'
import { NeedsPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Problem } from '#kernel/problem.ts'
import { declareThread } from '#kernel/worker-threads.ts'
import { resolver } from '#modules/definitions/index.ts'
import {
  type Bindable,
  bindDefinition,
  findDeclaredTypeFaults,
  isFindings,
  joinListKeys,
  toIdentity,
} from './binding/bind-definition.ts'
import type { BindCapabilities } from './binding/bound-plugins.ts'
import { type DecideCapabilities, decideAll, type PinnedDecision } from './binding/decide-with.ts'
import { findDifferences, type GoldenCase, toCaseFinding } from './cases/golden-case.ts'
import { checkPlugins } from './plugin-findings.ts'

/** A definition, parsed as far as possible. */
export interface CheckedDefinition {
  /** Null: it cannot be bound, and the findings say why. */
  readonly of: Bindable | null
  readonly findings: readonly Finding[]
  /** A plugin that it names cannot run: what would execute it answers this. */
  readonly plugin_problem?: Problem | undefined
}

interface WrittenDefinition {
  readonly family: DefinitionFamily
  readonly text: Readonly<Record<string, unknown>>
}

export const hasErrors = (findings: readonly Finding[]): boolean =>
  findings.some(({ severity }) => severity === 'error')

type Reference = CompiledDefinition['references'][number]

/** Parses any JSON as a definition and resolves the lists it names, without its plugins. */
export async function readDefinition(tx: Tx, { family, text }: WrittenDefinition, clocks: resolver.Clocks = {}) {
  const faults = checkNewDefinition(text, family)
  const nothing = { compiled: null, lists: new Map<string, resolver.VersionPointer>(), references: [] as Reference[] }
  if (hasErrors(faults)) return { ...nothing, findings: faults }
  const compiled = compileDefinition({ ...text, family } as unknown as Definition)
  const { references } = compiled
  const lists = await resolver.findPointersInForce(tx, compiled.list_keys, clocks)
  const missing = references
    .filter(({ list_key }) => !lists.has(list_key))
    .map(({ list_key, pointer }) => toNotInForceFinding(list_key, pointer))
  const faulty = missing.length > 0 ? missing : await findDeclaredTypeFaults(tx, compiled, lists)
  return { compiled: faulty.length > 0 ? null : compiled, findings: [...faults, ...faulty], lists, references }
}

/** The same, bound to the plugins in force. */
export async function checkDefinition(
  kernel: BindCapabilities,
  tx: Tx,
  written: WrittenDefinition,
  clocks: resolver.Clocks = {},
): Promise<CheckedDefinition & { readonly lists: ReadonlyMap<string, resolver.VersionPointer> }> {
  const { compiled, findings, lists } = await readDefinition(tx, written, clocks)
  if (!compiled) return { of: null, findings, lists }
  const checked = await checkPlugins(kernel, tx, compiled, clocks)
  const all = [...findings, ...checked.findings]
  if (hasErrors(checked.findings)) return { of: null, findings: all, lists, plugin_problem: checked.problem }
  const { plugins } = checked
  const further = joinListKeys(compiled, plugins).filter((list_key) => !lists.has(list_key))
  const joined = new Map([...lists, ...(await resolver.findPointersInForce(tx, further, clocks))])
  return { of: { identity: toIdentity(compiled), compiled, lists: joined, plugins }, findings: all, lists: joined }
}

export const toNotInForceFinding = (list_key: string, pointer: string): Finding => ({
  code: 'list_not_in_force',
  pointer,
  message: `No version of the list ${list_key} is in force.`,
  severity: 'error',
})

const proofFindings = declareCache<readonly Finding[]>({
  name: 'proof_findings',
  summary: 'Findings of one definition over all inputs, for given versions of its lists.',
  bound: { max_entries: 2000 },
})

/** The thread that proofs are computed in. Callers that need the same proof at the same time wait for one computation. */
const proofThread = declareThread({
  script: 'analysis-worker',
  create: (options) => {
    const runner = createAnalysisRunner(options)
    return { runner, running: new Map<string, Promise<void>>(), close: () => runner.close() }
  },
})

/** Up to this many combinations, proving takes about as long as starting another thread. */
const MAX_INLINE_COMBINATIONS = 2000

/** A proof that reached a limit is not retried before this time, whoever requests it. */
const PARTIAL_PROOF_TTL_MS = 60_000

/**
 * Findings on the lists, and on the definition over all of its inputs; computed once per content of all of them. Large
 * proofs may take seconds: they run in a thread while no transaction is open, and the transaction is retried. The retry
 * finds the proof in the cache, or requests another one when the content has changed.
 */
export async function prove(kernel: DecideCapabilities, tx: Tx, of: Bindable): Promise<readonly Finding[]> {
  const cache = kernel.caches.get(proofFindings)
  const { tenant_id } = tx
  const id = toProofKey(of, tenant_id)
  const known = cache.get(id)
  if (known) return known
  const { bound, lists } = await bindDefinition(kernel, tx, of)
  if (isFindings(bound)) return bound
  if (estimateCombinations(of.compiled.definition, lists) <= MAX_INLINE_COMBINATIONS) {
    const found = analyseDefinition(of.compiled, lists)
    cache.set(id, found)
    return found
  }
  const request = buildAnalysisRequest(of.compiled, lists)
  throw new NeedsPrecompute(() => proveInThread(kernel, id, request, tenant_id))
}

/** Depends on content only, so that repeated publications, activations and dry runs reuse the proof. */
function toProofKey({ identity, lists }: Bindable, tenant_id: string): string {
  const contents = [...lists.values()].map((list) => {
    const { list_key, content_hash, version, overlay_version, overlay_hash, overlay_policy } = list
    // The result of an overlay depends on the base version with its type, and on the policy.
    const over = overlay_version === null ? [] : [version, overlay_version, overlay_hash, overlay_policy]
    return [list_key, content_hash, ...over].join(':')
  })
  return [tenant_id, identity, ...contents.sort()].join(' ')
}

async function proveInThread(
  kernel: DecideCapabilities,
  id: string,
  request: AnalysisRequest,
  tenant_id: string,
): Promise<void> {
  const cache = kernel.caches.get(proofFindings)
  const { running, runner } = kernel.threads.get(proofThread)
  if (cache.get(id)) return
  const computation =
    running.get(id) ??
    runner
      .analyse(request, tenant_id)
      .then(({ findings, is_cut_short }) => {
        cache.set(id, findings, is_cut_short ? { ttl_ms: PARTIAL_PROOF_TTL_MS } : {})
      })
      .catch(failProofUnavailable)
      .finally(() => running.delete(id))
  running.set(id, computation)
  await computation
}

/** A failed thread gives no proof, and without a proof nothing is stored. */
const failProofUnavailable = (error: unknown): never =>
  failThreadUnavailable(error, 'The definition could not be gone through at this moment; nothing was changed.')

export interface CaseResult {
  readonly name: string
  readonly passed: boolean
  readonly differences: readonly string[]
  readonly decision: PinnedDecision
}

/** The plugins of all cases run together; a case whose plugin fails is not met. */
export async function runCases(
  kernel: DecideCapabilities,
  tx: Tx,
  of: Bindable,
  cases: readonly GoldenCase[],
): Promise<CaseResult[]> {
  const decisions = await decideAll(
    kernel,
    tx,
    of,
    cases.map(({ inputs }) => inputs),
  )
  return cases.map(({ name, expected }, index) => {
    const decision = decisions[index] as PinnedDecision
    const differences = findDifferences(expected, decision)
    return { name, passed: differences.length === 0, differences, decision }
  })
}

/** All findings: structure, lists, completeness and, when there is no error, golden cases. */
export async function collectFindings(
  kernel: DecideCapabilities,
  tx: Tx,
  checked: CheckedDefinition,
  cases: readonly GoldenCase[],
): Promise<Finding[]> {
  if (!checked.of) return [...checked.findings]
  const findings = [...checked.findings, ...(await prove(kernel, tx, checked.of))]
  if (hasErrors(findings)) return findings
  const results = await runCases(kernel, tx, checked.of, cases)
  const failed = results.flatMap(({ passed, differences }, index) =>
    passed ? [] : [toCaseFinding(cases[index] as GoldenCase, differences)],
  )
  return [...findings, ...failed]
}
