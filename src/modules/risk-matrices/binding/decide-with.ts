/** Decides with a bound definition: loads the entries that inputs and plugins need, and runs the plugins. Stores nothing. */
import type { PinnedPlugin } from '#decision/document.ts'
import type { BoundDefinition, BoundList, BoundLists, Decision, Finding, Inputs, ListEntry } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { resolver } from '#modules/definitions/index.ts'
import { failPlugin } from '#modules/plugins/index.ts'
import type { EntryReference } from '#sandbox/model.ts'
import { type Bindable, bindDefinition, bindLargeList, isFindings } from './bind-definition.ts'
import type { BindCapabilities } from './bound-plugins.ts'
import {
  computeRuns,
  createCachedRuns,
  createEntrySource,
  createFactorRun,
  type FactorRun,
  findRefusedInputs,
  findRuns,
  isFailure,
  type PluginFailure,
  type PluginRuns,
  type RunCapabilities,
  toEntryId,
  toPinnedPlugin,
  toPluginResult,
} from './plugin-results.ts'

/** What a route or job that decides declares. */
export type DecideCapabilities = BindCapabilities & RunCapabilities

/** A decision with the plugins it was made with, or with the one that failed. */
export type PinnedDecision = Decision & {
  readonly plugins?: readonly PinnedPlugin[]
  readonly failure?: PluginFailure
}

/** One decision. Faults of inputs or lists become findings, never an outcome; a plugin that fails ends the operation with 503. */
export async function decideWith(
  kernel: RunCapabilities,
  tx: Tx,
  of: Bindable,
  inputs: Inputs,
): Promise<PinnedDecision> {
  const [decision] = (await decideAll(kernel, tx, of, [inputs])) as [PinnedDecision]
  if (decision.failure) return failPlugin(decision.failure.run.bound, decision.failure)
  return decision
}

/** Many decisions whose plugins run together. Where a plugin fails, its decision is refused. */
export async function decideAll(
  kernel: RunCapabilities,
  tx: Tx,
  of: Bindable,
  all: readonly Inputs[],
): Promise<PinnedDecision[]> {
  const runs = of.runs ?? createCachedRuns(kernel, { caller: tx.tenant_id })
  const { bound, lists } = await bindDefinition(kernel, tx, of)
  if (isFindings(bound)) return all.map(() => ({ ok: false, findings: bound }))
  const asked: (AskedDecision | RefusedDecision)[] = []
  for (const inputs of all) asked.push(await loadEntries(kernel, tx, of, { inputs, lists }))
  const decidable = asked.filter((one): one is AskedDecision => 'inputs' in one)
  const loader = createEntryLoader(kernel, of, lists)
  const decided = await decideEach(of, bound, decidable, {
    settle: (open) => findRuns(open, runs, loader.source, (needed) => loader.load(tx, needed)),
  })
  const next = decided.values()
  return asked.map((one) => ('inputs' in one ? (next.next().value as PinnedDecision) : one))
}

/** Why these inputs are refused whatever the plugins answer; null when nothing but plugins is needed. */
export async function findRefusal(
  kernel: RunCapabilities,
  tx: Tx,
  of: Bindable,
  inputs: Inputs,
): Promise<RefusedDecision | null> {
  const { bound, lists } = await bindDefinition(kernel, tx, of)
  if (isFindings(bound)) return { ok: false, findings: bound }
  const asked = await loadEntries(kernel, tx, of, { inputs, lists })
  const decision = 'inputs' in asked ? bound.decide(asked.inputs, asked.lists) : asked
  return decision.ok || decision.needs ? null : decision
}

interface AskedDecision {
  readonly inputs: Inputs
  /** Undefined: all lists are loaded whole. */
  readonly lists: BoundLists | undefined
}
type RefusedDecision = Extract<Decision, { ok: false }>

/** Loads the entries of large lists that the inputs lead to. */
async function loadEntries(
  kernel: RunCapabilities,
  tx: Tx,
  of: Bindable,
  { inputs, lists }: { readonly inputs: Inputs; readonly lists: BoundLists },
): Promise<AskedDecision | RefusedDecision> {
  const large = [...lists.values()].filter(({ all }) => all === null)
  if (large.length === 0) return { inputs, lists: undefined }
  const faults = of.compiled.checkInputs(inputs)
  if (faults.some(({ severity }) => severity === 'error')) return { ok: false, findings: faults }
  const needs = of.compiled.needs(inputs)
  const loaded_lists = new Map(lists)
  for (const { list_key } of large) {
    const keys = needs.get(list_key)
    if (keys === 'all') return { ok: false, findings: [toTooLargeFinding(list_key)] }
    loaded_lists.set(list_key, await loadLargeList(kernel, tx, of, { list_key, keys: keys ?? [] }))
  }
  return { inputs, lists: loaded_lists }
}

async function loadLargeList(
  kernel: RunCapabilities,
  tx: Tx,
  of: Bindable,
  { list_key, keys }: { readonly list_key: string; readonly keys: readonly string[] },
): Promise<BoundList> {
  const pointer = of.lists.get(list_key) as resolver.ContentPointer
  const list = await bindLargeList(kernel, tx, { of, pointer }, keys)
  return of.overrideList?.(list) ?? list
}

const toTooLargeFinding = (list_key: string): Finding => ({
  code: 'list_too_large',
  pointer: '',
  message: `The list ${list_key} is too large to be read as a whole; it can only be looked up by key.`,
  severity: 'error',
})

/** Loads the entries of large lists that plugins look up. */
function createEntryLoader(kernel: RunCapabilities, of: Bindable, lists: BoundLists) {
  const loaded = new Map<string, ListEntry | null>()
  return {
    source: createEntrySource(lists, loaded),
    async load(tx: Tx, needed: readonly EntryReference[]): Promise<void> {
      for (const list_key of new Set(needed.map((one) => one.list_key))) {
        const keys = [...new Set(needed.filter((one) => one.list_key === list_key).map(({ key }) => key))]
        const list = of.lists.has(list_key) ? await loadLargeList(kernel, tx, of, { list_key, keys }) : null
        for (const key of keys) loaded.set(toEntryId({ list_key, key }), list?.get(key) ?? null)
      }
    },
  }
}

interface DecideOptions {
  /** Gives every run its result. */
  readonly settle: (open: readonly FactorRun[]) => Promise<void>
  /** Awaited after each decision, so that others get their turn. */
  readonly pause?: () => Promise<void>
}

/** Decides as far as possible, runs the plugins that are needed, and decides again with their results. */
async function decideEach(
  { plugins, compiled }: Bindable,
  bound: BoundDefinition,
  asked: readonly AskedDecision[],
  { settle, pause }: DecideOptions,
): Promise<PinnedDecision[]> {
  const decisions: PinnedDecision[] = []
  const opened: FactorRun[][] = []
  for (const { inputs, lists } of asked) {
    const decision = bound.decide(inputs, lists)
    const runs = decision.ok ? [] : (decision.needs ?? []).map((call) => createFactorRun(call, plugins))
    const faults = runs.flatMap(findRefusedInputs)
    decisions.push(faults.length > 0 ? { ok: false, findings: faults } : decision)
    opened.push(faults.length > 0 ? [] : runs)
    await pause?.()
  }
  const open = opened.flat()
  if (open.length === 0) return decisions
  await settle(open)
  for (const [index, runs] of opened.entries()) {
    const { inputs, lists } = asked[index] as AskedDecision
    if (runs.length > 0) decisions[index] = conclude(runs, compiled, (given) => bound.decide(inputs, lists, given))
    await pause?.()
  }
  return decisions
}

function conclude(
  runs: readonly FactorRun[],
  compiled: Bindable['compiled'],
  decide: (results: Parameters<BoundDefinition['decide']>[2]) => Decision,
): PinnedDecision {
  const results = new Map<string, Parameters<typeof toPinnedPlugin>[1]>()
  const plugins: PinnedPlugin[] = []
  for (const run of runs) {
    const result = toPluginResult(run, compiled)
    if (isFailure(result)) return { ok: false, findings: [toFailureFinding(result)], failure: result }
    results.set(run.call.factor, result)
    plugins.push(toPinnedPlugin(run, result))
  }
  return { ...decide(results), plugins }
}

const toFailureFinding = ({ run: { bound, call }, reason, message }: PluginFailure): Finding => ({
  code: 'plugin_failed',
  pointer: call.pointer,
  message: `The plugin ${bound.plugin_key} failed (${reason}): ${message}`.slice(0, 400),
  severity: 'error',
})

/** A transaction for each use. */
type RunInTx = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

/** Decides outside transactions, with entries that are already loaded: for batches. */
export async function decideLoaded(
  kernel: RunCapabilities,
  read: RunInTx,
  {
    of,
    bound,
    lists,
    asked,
  }: {
    readonly of: Bindable
    readonly bound: BoundDefinition
    readonly lists: BoundLists
    readonly asked: readonly AskedDecision[]
  },
  { runs, pause }: { readonly runs: PluginRuns; readonly pause: () => Promise<void> },
): Promise<PinnedDecision[]> {
  const loader = createEntryLoader(kernel, of, lists)
  const settle = async (open: readonly FactorRun[]): Promise<void> => {
    for (;;) {
      await computeRuns(open, runs, loader.source)
      const needed = open.flatMap((run) => (run.result ? [] : run.needed))
      if (needed.length === 0) return
      await read((tx) => loader.load(tx, needed))
    }
  }
  return decideEach(of, bound, asked, { settle, pause })
}
