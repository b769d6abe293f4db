/**
 * Results of plugins for decisions. A plugin never runs inside a transaction: what is missing is computed for all decisions
 * together in a few tasks while no connection is held, and the transaction is run again and finds it.
 */

import { listPluginFactors } from '#decision/analysis/plugin-scores.ts'
import type { PinnedPlugin } from '#decision/document.ts'
import type { BoundLists, CompiledDefinition, Finding, ListEntry, PluginCall, PluginResult } from '#decision/model.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { NeedsPrecompute } from '#kernel/database/precompute.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { findPluginResult, type pluginModel, runPlugin } from '#modules/plugins/index.ts'
import { findInputFaults } from '#plugin/inputs.ts'
import { findOutputFaults } from '#plugin/outputs.ts'
import type { EntryReference, SandboxItem, SandboxResult, SuppliedEntries } from '#sandbox/model.ts'
import { type BoundPlugins, getPluginLists } from './bound-plugins.ts'

type BoundPlugin = pluginModel.BoundPlugin

const MAX_ROUNDS = 16
const MAX_ENTRIES = 64
/** Each round of look-ups in large lists repeats the transaction. */
const MAX_ATTEMPTS = MAX_ROUNDS + 8
const ENTRY_POINT = 'factor'

/** A result that ends an item: it has an output, or the plugin is at fault. */
export type FinalResult = Exclude<SandboxResult, { readonly reason: 'needs_entries' }>
type FailedResult = Extract<FinalResult, { readonly ok: false }>

/** Where results are found, and how they are computed outside transactions. */
export interface PluginRuns {
  find(bound: BoundPlugin, item: SandboxItem): SandboxResult | undefined
  run(bound: BoundPlugin, items: readonly SandboxItem[]): Promise<readonly SandboxResult[]>
}

export interface RunOptions {
  /** The tenant: callers take turns. */
  readonly caller: string
  readonly signal?: AbortSignal
  /** Called with the results of each run, outside transactions. */
  readonly record?: (bound: BoundPlugin, results: readonly SandboxResult[]) => Promise<void>
}

export type RunCapabilities = Capabilities<'caches' | 'metrics' | 'threads'>

/** Results in the shared cache: for operations that are repeated as a whole, such as a request. */
export const createCachedRuns = (kernel: RunCapabilities, { record, ...options }: RunOptions): PluginRuns => ({
  find: (bound, item) => findPluginResult(kernel, bound, ENTRY_POINT, item),
  async run(bound, items) {
    const results = await runPlugin(kernel, bound, { entry_point: ENTRY_POINT, items }, options)
    await record?.(bound, results)
    return results
  },
})

/** Results of this object only: for replays, which trust no cache, and for work on more decisions than a cache should hold. */
export function createOwnRuns(kernel: RunCapabilities, { record, ...options }: RunOptions): PluginRuns {
  const known = new Map<string, SandboxResult>()
  const toKey = ({ content_hash, configuration_hash, sandbox_hash }: BoundPlugin, item: SandboxItem) =>
    canonicalJson([content_hash, configuration_hash, sandbox_hash, item.args, item.entries ?? {}])
  return {
    find: (bound, item) => known.get(toKey(bound, item)),
    async run(bound, items) {
      const results = await runPlugin(kernel, bound, { entry_point: ENTRY_POINT, items }, options)
      for (const [index, result] of results.entries()) known.set(toKey(bound, items[index] as SandboxItem), result)
      await record?.(bound, results)
      return results
    },
  }
}

/** Entries of lists by key; undefined where they must be loaded in a transaction first. */
export interface EntrySource {
  get(list_key: string, key: string): ListEntry | null | undefined
}

/** What is to be run: one factor of one decision. */
export interface FactorRun {
  readonly bound: BoundPlugin
  readonly call: PluginCall
  readonly args: readonly string[]
  entries: Record<string, Record<string, Readonly<Record<string, unknown>> | null>>
  /** Hashes of the supplied entries; null for a key that the list does not have. */
  readonly hashes: Map<string, string | null>
  rounds: number
  result: FinalResult | null
  /** Entries that the next round needs. */
  needed: readonly EntryReference[]
}

export function createFactorRun(call: PluginCall, plugins: BoundPlugins): FactorRun {
  const bound = plugins.get(call.plugin_key)
  if (!bound) throw new Error(`The plugin ${call.plugin_key} was not bound`)
  const args = [canonicalJson(call.inputs), canonicalJson(bound.configuration)]
  const entries = Object.fromEntries(getPluginLists(bound).map((list_key) => [list_key, {}]))
  const run: FactorRun = { bound, call, args, entries, hashes: new Map(), rounds: 0, result: null, needed: [] }
  run.needed = guessEntries(run)
  return run
}

/** Inputs that the manifest of the plugin does not allow: it is not run with them. */
export function findRefusedInputs({ bound: { plugin_key, manifest }, call }: FactorRun): Finding[] {
  return findInputFaults(manifest, ENTRY_POINT, call.inputs).map(({ pointer, message }) => ({
    code: 'input_refused_by_plugin',
    pointer,
    message: `The plugin ${plugin_key} does not take this value of "${pointer.slice(1)}": it ${message}.`.slice(0, 400),
    severity: 'error',
  }))
}

/** Values of the inputs are often keys of the lists: supplying these entries at once saves rounds. */
function guessEntries({ call, bound }: FactorRun): EntryReference[] {
  const keys = [
    ...new Set(
      Object.values(call.inputs)
        .flat()
        .filter((value) => typeof value === 'string'),
    ),
  ]
  return getPluginLists(bound)
    .flatMap((list_key) => keys.map((key) => ({ list_key, key })))
    .slice(0, MAX_ENTRIES / 2)
}

export const toEntryId = ({ list_key, key }: EntryReference): string => `${list_key} ${key}`

/** Supplies the needed entries; false when one must be loaded first. */
function supplyEntries(run: FactorRun, source: EntrySource): boolean {
  const found = run.needed.map((reference) => ({ reference, entry: source.get(reference.list_key, reference.key) }))
  if (found.some(({ entry }) => entry === undefined)) return false
  for (const { reference, entry } of found) {
    const of_list = { ...run.entries[reference.list_key], [reference.key]: entry?.entry ?? null }
    run.entries = { ...run.entries, [reference.list_key]: of_list }
    run.hashes.set(toEntryId(reference), entry?.hash ?? null)
  }
  run.needed = []
  return true
}

const toItem = ({ args, entries }: FactorRun): SandboxItem => ({ args, entries: entries as SuppliedEntries })

/** Advances a run as far as known results and entries allow. */
function advanceRun(run: FactorRun, runs: PluginRuns, source: EntrySource): void {
  while (!run.result && supplyEntries(run, source)) {
    const result = runs.find(run.bound, toItem(run))
    if (!result) return
    applyResult(run, result)
  }
}

function applyResult(run: FactorRun, result: SandboxResult): void {
  if (result.ok || result.reason !== 'needs_entries') run.result = result
  else if (++run.rounds > MAX_ROUNDS || run.hashes.size + result.needed.length > MAX_ENTRIES)
    run.result = createLimitFault(result.fuel)
  else run.needed = result.needed
}

const createLimitFault = (fuel: number): FailedResult => ({
  ok: false,
  reason: 'threw',
  message: `It looks up more than ${MAX_ENTRIES} entries, or in more than ${MAX_ROUNDS} rounds`,
  line: null,
  stack: null,
  fuel,
})

/** Runs what has no result yet, plugin by plugin, until every run has one or needs an entry that must be loaded. */
export async function computeRuns(open: readonly FactorRun[], runs: PluginRuns, source: EntrySource): Promise<void> {
  for (;;) {
    for (const run of open) advanceRun(run, runs, source)
    const waiting = open.filter((run) => !run.result && run.needed.length === 0)
    if (waiting.length === 0) return
    for (const bound of new Set(waiting.map((run) => run.bound))) {
      const of_plugin = waiting.filter((run) => run.bound === bound)
      const results = await runs.run(bound, of_plugin.map(toItem))
      for (const [index, run] of of_plugin.entries()) applyResult(run, results[index] as SandboxResult)
    }
  }
}

/**
 * Finds all results inside a transaction. `load` reads entries of large lists; where a result is missing, the transaction is
 * repeated after it was computed.
 */
export async function findRuns(
  open: readonly FactorRun[],
  runs: PluginRuns,
  source: EntrySource,
  load: (needed: readonly EntryReference[]) => Promise<void>,
): Promise<void> {
  for (;;) {
    for (const run of open) advanceRun(run, runs, source)
    const pending = open.filter(({ result }) => !result)
    if (pending.length === 0) return
    const unloaded = pending.flatMap(({ needed }) => needed)
    if (unloaded.length > 0) await load(unloaded)
    else throw new NeedsPrecompute(() => computeRuns(pending, runs, source), { attempts: MAX_ATTEMPTS })
  }
}

export interface PluginFailure {
  readonly run: FactorRun
  readonly reason: string
  readonly message: string
  readonly fuel: number
}

/** The result as the engine takes it, or why the plugin failed. */
export function toPluginResult(run: FactorRun, compiled: CompiledDefinition): PluginResult | PluginFailure {
  const { bound, result } = run
  if (!result) throw new Error(`The plugin ${bound.plugin_key} was not run`)
  const { fuel } = result
  if (!result.ok) return { run, reason: result.reason, message: result.message, fuel }
  const { output, outside } = readOutput(bound, result)
  const fault = outside ?? findRangeFault(run, compiled, output)
  if (fault !== null) return { run, reason: 'output_invalid', message: fault, fuel }
  const { score_bps, reason_code = null, values = {} } = output as Partial<PluginResult>
  const read = result.read.map(({ list_key, key }) => ({
    ...{ list_key, key, hash: run.hashes.get(toEntryId({ list_key, key })) ?? null },
  }))
  return { score_bps: score_bps as number, reason_code, values, read }
}

interface CheckedOutput {
  readonly output: unknown
  /** Why it is not what the manifest declares. */
  readonly outside: string | null
}

/** Results are immutable and shared by decisions; checking one takes longer than deciding. */
const checkedOutputs = new WeakMap<FinalResult, CheckedOutput>()

function readOutput({ manifest }: BoundPlugin, result: Extract<FinalResult, { readonly ok: true }>): CheckedOutput {
  const known = checkedOutputs.get(result)
  if (known) return known
  const output: unknown = JSON.parse(result.output)
  const [fault] = findOutputFaults(manifest, ENTRY_POINT, output)
  const checked = { output, outside: fault ? `${fault.pointer} ${fault.message}`.trim() : null }
  checkedOutputs.set(result, checked)
  return checked
}

export const isFailure = (result: PluginResult | PluginFailure): result is PluginFailure => 'run' in result

/** The range of the factor may be narrower than that of the manifest. */
function findRangeFault({ call }: FactorRun, { definition }: CompiledDefinition, output: unknown): string | null {
  const factor = listPluginFactors(definition).find(({ key }) => key === call.factor)
  const { score_bps } = (output ?? {}) as { readonly score_bps?: unknown }
  if (!factor) throw new Error(`There is no plugin factor ${call.factor}`)
  const { score_min_bps: lowest, score_max_bps: highest } = factor
  const fits = Number.isInteger(score_bps) && (score_bps as number) >= lowest && (score_bps as number) <= highest
  return fits ? null : `The score ${String(score_bps)} is outside ${lowest} to ${highest}, the range of the factor.`
}

export const toPinnedPlugin = ({ bound, call, result }: FactorRun, said: PluginResult): PinnedPlugin => ({
  plugin_key: bound.plugin_key,
  via: bound.via,
  version: bound.version,
  content_hash: bound.content_hash,
  configuration_hash: bound.configuration_hash,
  sandbox_hash: bound.sandbox_hash,
  factor: call.factor,
  result: { score_bps: said.score_bps, reason_code: said.reason_code, values: said.values },
  fuel: result?.fuel ?? 0,
})

/** Lists that are loaded whole have all their entries in memory; of others, those in `loaded`. */
export function createEntrySource(lists: BoundLists, loaded: ReadonlyMap<string, ListEntry | null>): EntrySource {
  return {
    get(list_key, key) {
      const list = lists.get(list_key)
      if (list?.all) return list.get(key) ?? null
      return loaded.get(toEntryId({ list_key, key }))
    },
  }
}
