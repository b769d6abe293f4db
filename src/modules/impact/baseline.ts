/**
 * The baseline of a run: the matrices and rules in force that would use the candidate, and everything they read, at one instant.
 * The receipt pins it, so that a resumed run loads the same baseline.
 */
import { createHash } from 'node:crypto'
import { compileDefinition } from '#decision/engines.ts'
import type {
  BoundList,
  CompiledDefinition,
  Decision,
  Definition,
  DefinitionFamily,
  Finding,
  Inputs,
  ListEntry,
} from '#decision/model.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { documentStore, resolver } from '#modules/definitions/index.ts'
import { bindPlugin } from '#modules/plugins/index.ts'
import { binding, isDecisionFamily } from '#modules/risk-matrices/index.ts'

import type { Entry } from '#registry/adapter.ts'
import { entryHash } from '#registry/content/hashes.ts'
import { type BaseType, evaluateOverlay, type OverlayEntry } from '#registry/overlay.ts'
import type { Candidate, CandidateOverlay, Target } from './candidates.ts'

/** All versions in force that the comparison reads, each once, including the one the candidate would replace. */
export async function collectBaseline(
  kernel: binding.BindCapabilities,
  tx: Tx,
  candidate: Candidate,
  clocks: resolver.Clocks,
): Promise<binding.ReceiptPointer[]> {
  const ground = new Map<string, binding.ReceiptPointer>()
  const add = (pointers: Iterable<binding.ReceiptPointer>) => {
    for (const pointer of pointers) ground.set(`${pointer.family} ${pointer.list_key}`, pointer)
  }
  if (candidate.family === 'plugin') {
    for (const { key } of await binding.listMatricesByPlugin(tx, candidate.key, clocks.valid_at ?? null)) {
      const found = await ignoreNotInForce(() =>
        binding.findResolution(kernel, tx, { family: 'matrix', key, ...clocks }),
      ).catch(ignoreStopped)
      if (found) add(binding.toPointers(found))
    }
    const lists = ground.size === 0 ? [] : binding.getPluginLists(await bindCandidatePlugin(kernel, tx, candidate))
    add((await resolver.findPointersInForce(tx, lists, clocks)).values())
  } else if (candidate.family === 'list') {
    add((await resolver.findPointersInForce(tx, [candidate.key], clocks)).values())
    for (const { family, key } of await documentStore.listReferencingDefinitions(tx, candidate.key)) {
      if (!isDecisionFamily(family)) continue
      const found = await ignoreNotInForce(() => binding.findResolution(kernel, tx, { family, key, ...clocks }))
      if (found?.lists.has(candidate.key)) add(binding.toPointers(found))
    }
  } else {
    const { family, key } = candidate as Target & { family: DefinitionFamily }
    const found = await ignoreNotInForce(() => binding.findResolution(kernel, tx, { family, key, ...clocks }))
    if (found) add(binding.toPointers(found))
    const { compiled } = await loadCandidateDefinition(kernel, tx, candidate)
    const plugins = await binding.bindFurtherPlugins(kernel, tx, compiled, found?.plugins ?? binding.NO_PLUGINS)
    const further = await resolver.findPointersInForce(tx, binding.joinListKeys(compiled, plugins), clocks)
    add(further.values())
    const now = clocks.valid_at ?? new Date().toISOString()
    add(binding.toPluginPointers(plugins).map((pointer) => ({ ...pointer, now })))
  }
  return [...ground.values()]
}

async function ignoreNotInForce(find: () => Promise<binding.FoundResolution>): Promise<binding.FoundResolution | null> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof Problem && (error.code === 'nothing_in_force' || error.code === 'not_found')) return null
    throw error
  }
}

/** A matrix that cannot decide now, because a plugin in force cannot run, has nothing to compare with: it must not block the repair. */
function ignoreStopped(error: unknown): null {
  if (error instanceof Problem && error.code === 'plugin_invalid') return null
  throw error
}

async function bindCandidatePlugin(kernel: binding.BindCapabilities, tx: Tx, { key, pin }: Candidate) {
  const [pointer = fail('internal')] = await resolver.resolvePins(tx, pin ? [pin] : [])
  return bindPlugin(kernel, tx, { plugin_key: key, kind: 'factor', pointer })
}

export const hashPins = (manifest: readonly resolver.PinnedVersion[]): string =>
  createHash('sha256').update(canonicalJson(manifest)).digest('hex')

/** Hash of the versions in force now; differs from that of a run as soon as one of them changes. Null while a plugin cannot run. */
export async function hashBaseline(
  kernel: binding.BindCapabilities,
  tx: Tx,
  candidate: Candidate,
): Promise<string | null> {
  try {
    return hashPins(resolver.toPins(await collectBaseline(kernel, tx, candidate, {})))
  } catch (error) {
    if (error instanceof Problem && error.code === 'plugin_invalid') return null
    throw error
  }
}

async function loadCandidateDefinition(
  kernel: binding.BindCapabilities,
  tx: Tx,
  candidate: Candidate,
): Promise<{ compiled: CompiledDefinition; identity: string }> {
  if (candidate.pin) {
    const [pointer] = await resolver.resolvePins(tx, [candidate.pin])
    return binding.getCompiled(kernel, tx, pointer as resolver.ContentPointer)
  }
  const text = { ...candidate.definition, family: candidate.family } as unknown as Definition
  const compiled = compileDefinition(text)
  const identity = `draft:${tx.tenant_id}:${candidate.family}:${candidate.content_hash}:${compiled.engine}`
  return { compiled, identity }
}

/** One definition in force, with and without the candidate. */
export interface Comparison {
  readonly family: DefinitionFamily
  readonly key: string
  readonly version: number
  /** Lists it reads that have no version in force, so that it cannot decide. */
  readonly missing: readonly string[]
  readonly before: binding.Bindable
  readonly after: binding.Bindable
}

export async function buildComparisons(
  kernel: binding.BindCapabilities,
  tx: Tx,
  candidate: Candidate,
  manifest: readonly resolver.PinnedVersion[],
): Promise<Comparison[]> {
  const ground = await resolver.resolvePins(tx, manifest)
  const lists = new Map(ground.filter(({ family }) => family === 'list').map((list) => [list.list_key, list]))
  const plugins = await binding.bindPinnedPlugins(kernel, tx, ground, { must_be_valid: true })
  const comparisons: Comparison[] = []
  for (const definition of ground.filter(({ family }) => isDecisionFamily(family))) {
    const { compiled, identity } = await binding.getCompiled(kernel, tx, definition)
    const before = { identity, compiled, lists: pickReadLists(compiled, lists, plugins), plugins }
    const after =
      candidate.family === 'plugin'
        ? await switchPlugin(kernel, tx, { candidate, lists }, before)
        : candidate.family === 'list'
          ? await switchList(kernel, tx, candidate, before)
          : await loadCandidateDefinition(kernel, tx, candidate).then((made) => ({
              ...made,
              lists: pickReadLists(made.compiled, lists, plugins),
              plugins,
            }))
    comparisons.push({
      family: definition.family as DefinitionFamily,
      key: definition.list_key,
      version: definition.version,
      missing: findMissingLists(before),
      before,
      after,
    })
  }
  return comparisons
}

const pickReadLists = (
  compiled: CompiledDefinition,
  lists: ReadonlyMap<string, resolver.ContentPointer>,
  plugins: binding.BoundPlugins,
): Map<string, resolver.ContentPointer> => {
  const named = new Map([...plugins].filter(([key]) => binding.listPluginKeys(compiled).includes(key)))
  return new Map(
    binding
      .joinListKeys(compiled, named)
      .flatMap((key) => (lists.has(key) ? [[key, lists.get(key) as resolver.ContentPointer]] : [])),
  )
}

const findMissingLists = ({ compiled, lists }: binding.Bindable): string[] =>
  compiled.list_keys.filter((key) => !lists.has(key))

async function switchPlugin(
  kernel: binding.BindCapabilities,
  tx: Tx,
  { candidate, lists }: { readonly candidate: Candidate; readonly lists: ReadonlyMap<string, resolver.ContentPointer> },
  { identity, compiled, plugins: known }: binding.Bindable,
): Promise<binding.Bindable> {
  const bound = await bindCandidatePlugin(kernel, tx, candidate)
  const plugins = new Map([...known, [candidate.key, bound]])
  return {
    identity: `${identity}:${bound.content_hash}`,
    compiled,
    lists: pickReadLists(compiled, lists, plugins),
    plugins,
  }
}

async function switchList(
  kernel: binding.BindCapabilities,
  tx: Tx,
  { key, pin, overlay }: Candidate,
  before: binding.Bindable,
): Promise<binding.Bindable> {
  const [pointer = fail('internal')] = await resolver.resolvePins(tx, pin ? [pin] : [])
  const after = { ...before, lists: new Map([...before.lists, [key, pointer]]) }
  if (!overlay || (overlay.base_version !== null && overlay.base_version !== pointer.version)) return after
  const lay = createCandidateOverlay(overlay, pointer, await resolver.loadBaseType(kernel, tx, pointer))
  const overrideList = (list: BoundList) => (list.list_key === key ? lay(list) : list)
  return { ...after, identity: `${before.identity}:${overlay.hash}`, overrideList }
}

/** Applies an overlay that is not stored, by the same rules as a stored one. */
function createCandidateOverlay(
  { entries, hash }: CandidateOverlay,
  { overlay_policy }: resolver.ContentPointer,
  type: BaseType,
) {
  const changes = new Map(entries.map((change) => [change.key, change]))
  const laid = (under: ListEntry | undefined, change: OverlayEntry): ListEntry | undefined => {
    const { effective, refusal } = evaluateOverlay(under?.entry as Entry | undefined, change, overlay_policy, type)
    if (refusal) return under
    return effective && { key: change.key, entry: effective, hash: entryHash(canonicalJson(effective)) }
  }
  return (list: BoundList): BoundList => {
    const get = (key: string): ListEntry | undefined => {
      const change = changes.get(key)
      return change ? laid(list.get(key), change) : list.get(key)
    }
    const keys = new Set([...(list.all ?? []).map(({ key }) => key), ...changes.keys()])
    const all = list.all === null ? null : [...keys].sort().flatMap((key) => get(key) ?? [])
    return { ...list, overlay_hash: hash, get, all }
  }
}

/** Refuses to decide when a list is missing, or where a plugin fails. */
export async function decideOrRefuse(
  kernel: binding.RunCapabilities,
  tx: Tx,
  { of, runs }: { readonly of: binding.Bindable; readonly runs: binding.PluginRuns },
  all: readonly Inputs[],
): Promise<Decision[]> {
  const missing = findMissingLists(of)
  if (missing.length > 0) return all.map(() => ({ ok: false, findings: missing.map(toNotInForceFinding) }))
  return binding.decideAll(kernel, tx, { ...of, runs }, all)
}

const toNotInForceFinding = (list_key: string): Finding => ({
  code: 'list_not_in_force',
  pointer: '',
  message: `No version of the list ${list_key} is in force.`,
  severity: 'error',
})
