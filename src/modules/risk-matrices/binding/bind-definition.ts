/**
 * From the key of a matrix or rule to a decision: resolves the version in force and the versions of its lists at one
 * instant, and compiles and binds them once per content. Stores nothing.
 */
import { createHash } from 'node:crypto'
import { fromPartEntries } from '#decision/definition-parts.ts'
import { compileDefinition } from '#decision/engines.ts'
import type {
  BoundDefinition,
  BoundList,
  BoundLists,
  CompiledDefinition,
  Definition,
  DefinitionFamily,
  Finding,
  ListEntry,
} from '#decision/model.ts'
import { declareCache } from '#kernel/cache/caches.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { resolver, typeStore } from '#modules/definitions/index.ts'
import { isDecisionFamily } from '../decision-family.ts'

import {
  type BindCapabilities,
  type BoundPlugins,
  bindPinnedPlugins,
  bindPluginsInForce,
  listPluginLists,
  NO_PLUGINS,
  toPluginPointers,
} from './bound-plugins.ts'
import { findDeclaredTypeFault } from './declared-types.ts'
import type { PluginRuns } from './plugin-results.ts'

/** A compiled definition, identified by its content hash, and the versions of the lists it reads. */
export interface Bindable<P extends resolver.ContentPointer = resolver.ContentPointer> {
  /** Content hash and engine. Results derived from the definition may be cached by it, within a tenant. */
  readonly identity: string
  readonly compiled: CompiledDefinition
  /** Also those that its plugins may look up. */
  readonly lists: ReadonlyMap<string, P>
  readonly plugins: BoundPlugins
  /** Entries that override the lists in a what-if evaluation. The caller includes them in the identity. */
  readonly overrideList?: (list: BoundList) => BoundList
  /** Where results of its plugins are found; the shared cache when absent. */
  readonly runs?: PluginRuns | undefined
}

/** The definition has the instant of the resolution, if any; its lists may be shared by several instants. */
export interface Resolution<P extends resolver.ContentPointer = resolver.VersionPointer>
  extends Bindable<P extends resolver.VersionPointer ? resolver.ListPointer : resolver.ContentPointer> {
  readonly engine: number
  readonly definition: P
}

export interface ResolutionQuery extends resolver.Clocks {
  readonly family: DefinitionFamily
  readonly key: string
  /** This transaction changes what is in force and may be rolled back, so it must not use shared caches. */
  readonly bypass_caches?: boolean
  /** For checks that come before the question whether the plugins can run. */
  readonly without_plugins?: boolean
}

export const compiledDefinitions = declareCache<{ readonly compiled: CompiledDefinition; readonly identity: string }>({
  name: 'compiled_definitions',
  summary: 'Compiled versions of matrices and rules.',
  bound: { max_entries: 1000 },
})

const listKeyGuesses = declareCache<readonly string[]>({
  name: 'list_key_guesses',
  summary: 'The lists that the last known version of a definition reads.',
  bound: { max_entries: 10_000 },
})

export const boundDefinitions = declareCache<{
  readonly bound: BoundDefinition | readonly Finding[]
  readonly lists: BoundLists
}>({
  name: 'bound_definitions',
  summary: 'Compiled definitions bound to versions of their lists.',
  bound: { max_entries: 500 },
})

/** Definitions change rarely: two attempts are usual; more mean concurrent activations. */
const MAX_ATTEMPTS = 5

/** The resolution of what is in force, and the lists it reads that are not in force. */
export interface FoundResolution extends Resolution {
  readonly missing: readonly string[]
}

/**
 * One statement resolves the definition and the lists that its last known version reads. If the version in force reads other
 * lists, everything is resolved again, so that a resolution never mixes two statements.
 */
export async function findResolution(
  kernel: BindCapabilities,
  tx: Tx,
  { family, key, bypass_caches, without_plugins, ...clocks }: ResolutionQuery,
  engine?: number,
): Promise<FoundResolution> {
  const guesses = kernel.caches.get(listKeyGuesses)
  const guess = `${tx.tenant_id}:${family}:${key}`
  let requested = guesses.get(guess) ?? []
  for (let round = 0; round < MAX_ATTEMPTS; round++) {
    const { definition, lists } = await resolver.resolveWithLists(
      bypass_caches ? null : kernel,
      tx,
      { family, key, list_keys: requested },
      clocks,
    )
    const { compiled, identity } = await getCompiled(kernel, tx, definition, engine)
    const is_cached = !bypass_caches && clocks.valid_at === undefined && clocks.known_at === undefined
    const plugins = without_plugins
      ? NO_PLUGINS
      : await bindPluginsInForce(kernel, tx, compiled, { definition, valid_at: clocks.valid_at, is_cached })
    const joined = joinListKeys(compiled, plugins)
    // The same array as before keeps the same map of lists, and what is derived from it.
    const list_keys = isSameKeys(joined, requested) ? requested : joined
    // Also in a transaction that may be rolled back: a wrong guess only costs another statement.
    if (list_keys !== requested && !without_plugins) guesses.set(guess, list_keys)
    if (list_keys === requested || list_keys.every((list_key) => requested.includes(list_key))) {
      const read = list_keys === requested ? lists : pickLists(lists, list_keys)
      const missing = read.size === list_keys.length ? [] : list_keys.filter((list_key) => !read.has(list_key))
      return { engine: engine ?? compiled.engine, identity, definition, compiled, lists: read, plugins, missing }
    }
    requested = list_keys
  }
  return fail('conflict', `${key} is being changed at this moment; repeat the request.`)
}

/** Every list that a decision may read. */
export const joinListKeys = ({ list_keys }: CompiledDefinition, plugins: BoundPlugins): readonly string[] =>
  plugins.size === 0 ? list_keys : [...new Set([...list_keys, ...listPluginLists(plugins)])].sort()

const isSameKeys = (a: readonly string[], b: readonly string[]): boolean =>
  a === b || (a.length === b.length && a.every((key, index) => key === b[index]))

function pickLists<P>(lists: ReadonlyMap<string, P>, list_keys: readonly string[]): Map<string, P> {
  const read = new Map<string, P>()
  for (const list_key of list_keys) {
    const pointer = lists.get(list_key)
    if (pointer) read.set(list_key, pointer)
  }
  return read
}

/** Like findResolution, but fails when any list is not in force. */
export async function getResolution(
  kernel: BindCapabilities,
  tx: Tx,
  wanted: ResolutionQuery,
  engine?: number,
): Promise<Resolution> {
  const { missing, ...resolution } = await findResolution(kernel, tx, wanted, engine)
  const [list_key] = missing
  return list_key === undefined ? resolution : fail('nothing_in_force', { members: { list_key } })
}

export interface RestoreOptions {
  /** That of the decision; absent: that of new decisions. */
  readonly engine?: number
  /** `pinned`: also those that may no longer run, for replays. `valid`: 503 when one may not run now. */
  readonly plugins: 'pinned' | 'valid'
}

/** Restores the versions that a receipt pinned, without a clock. */
export async function restoreResolution(
  kernel: BindCapabilities,
  tx: Tx,
  manifest: readonly resolver.PinnedVersion[],
  { engine, plugins: wanted }: RestoreOptions,
): Promise<Resolution<resolver.ContentPointer>> {
  const pointers = await resolver.resolvePins(tx, manifest)
  const definition = pointers.find(({ family }) => isDecisionFamily(family)) ?? fail('content_corrupt')
  const { compiled, identity } = await getCompiled(kernel, tx, definition, engine)
  const plugins = await bindPinnedPlugins(kernel, tx, pointers, { must_be_valid: wanted === 'valid' })
  const lists = pointers
    .filter(({ family }) => family === 'list')
    .map((pointer) => [pointer.list_key, pointer] as const)
  return { engine: engine ?? compiled.engine, identity, definition, compiled, lists: new Map(lists), plugins }
}

/** The manifest of a map of lists, with the definition it was computed for. */
const manifests = new WeakMap<
  object,
  {
    readonly definition: resolver.ContentPointer
    readonly plugins: BoundPlugins
    readonly manifest: resolver.Manifest
  }
>()

/** The manifest of a resolution for a receipt: the definition with its family, every list and every plugin. */
export function getResolutionManifest({
  definition,
  lists,
  plugins,
}: Resolution<resolver.ContentPointer>): resolver.Manifest {
  const known = manifests.get(lists)
  if (known && known.plugins === plugins && isSameVersion(known.definition, definition)) return known.manifest
  const manifest = resolver.buildManifest([definition, ...lists.values(), ...toPluginPointers(plugins)])
  manifests.set(lists, { definition, plugins, manifest })
  return manifest
}

export const getResolutionPins = (resolution: Resolution<resolver.ContentPointer>): readonly resolver.PinnedVersion[] =>
  getResolutionManifest(resolution).pins

/** Versions are immutable, so only `via` can differ. */
const isSameVersion = (a: resolver.ContentPointer, b: resolver.ContentPointer): boolean =>
  a.via === b.via &&
  a.version === b.version &&
  a.content_hash === b.content_hash &&
  a.dataset_id === b.dataset_id &&
  a.dataset_tenant_id === b.dataset_tenant_id

/** The definition, its lists and its plugins as pointers for a receipt. */
export const toPointers = ({ definition, lists, plugins }: Resolution): readonly ReceiptPointer[] => [
  definition,
  ...[...lists.values(), ...toPluginPointers(plugins)].map((pointer) => ({ ...pointer, now: definition.now })),
]
export type ReceiptPointer = resolver.ContentPointer & { readonly now: string }

export const isFindings = (bound: BoundDefinition | readonly Finding[]): bound is readonly Finding[] =>
  Array.isArray(bound)

/** Binds a compiled definition to versions of lists, once per content of all of them. */
export async function bindDefinition(kernel: Capabilities<'caches'>, tx: Tx, of: Bindable) {
  const cache = kernel.caches.get(boundDefinitions)
  const id = getBindingKey(of, tx.tenant_id)
  const known = cache.get(id)
  if (known) return known
  const lists = new Map<string, BoundList>()
  for (const pointer of of.lists.values()) {
    const list = await bindList(kernel, tx, of, pointer)
    lists.set(pointer.list_key, of.overrideList?.(list) ?? list)
  }
  const binding = { bound: of.compiled.bind(lists), lists: lists as BoundLists }
  cache.set(id, binding)
  return binding
}

/** The binding key of a map of lists, with the values it was computed for. */
const bindings = new WeakMap<object, { readonly of: string; readonly text: string }>()

/** Two bindings with the same key are equal in every respect. */
export function getBindingKey({ identity, lists }: Bindable, tenant_id: string): string {
  const of = `${tenant_id} ${identity}`
  const known = bindings.get(lists)
  if (known?.of === of) return known.text
  const text = [of, ...[...lists.values()].map(toContentKey)].join(' ')
  bindings.set(lists, { of, text })
  return text
}

const toContentKey = (list: resolver.ContentPointer): string =>
  [
    list.list_key,
    list.dataset_id,
    list.version,
    list.content_hash,
    list.overlay_dataset_id,
    list.overlay_version,
    list.overlay_hash,
    list.overlay_policy,
  ].join(':')

async function bindList(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  of: Bindable,
  pointer: resolver.ContentPointer,
): Promise<BoundList> {
  const whole = await resolver.loadList(kernel, tx, pointer)
  if (!whole) return bindLargeList(kernel, tx, { of, pointer }, [])
  const entries = addKeys(whole.entries)
  return { ...toListFacts(pointer), get: (key) => entries.get(key), all: [...entries.values()] }
}

const addKeys = (entries: ReadonlyMap<string, Omit<ListEntry, 'key'>>): Map<string, ListEntry> =>
  new Map([...entries].map(([key, { entry, hash }]) => [key, { key, entry, hash }]))

/** Loads only the requested keys and those that the definition names. */
export async function bindLargeList(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { of: { compiled }, pointer }: { readonly of: Bindable; readonly pointer: resolver.ContentPointer },
  keys: readonly string[],
): Promise<BoundList> {
  const named = compiled.references.flatMap(({ list_key, key }) =>
    list_key === pointer.list_key && key !== null ? [key] : [],
  )
  const entries = addKeys(await resolver.lookUpHashedEntries(kernel, tx, pointer, [...new Set([...named, ...keys])]))
  return { ...toListFacts(pointer), get: (key) => entries.get(key), all: null }
}

const toListFacts = ({ list_key, version, content_hash, overlay_hash }: resolver.ContentPointer) => ({
  list_key,
  version,
  content_hash,
  overlay_hash,
})

/** Conditions that compare with a field whose declared type cannot match, found without reading values. */
export async function findDeclaredTypeFaults(
  tx: Tx,
  { references }: CompiledDefinition,
  lists: ReadonlyMap<string, resolver.ContentPointer>,
): Promise<Finding[]> {
  const compared = references.filter(({ compares }) => compares)
  const schemas = new Map<string, unknown>()
  for (const list_key of new Set(compared.map((reference) => reference.list_key))) {
    const pointer = lists.get(list_key)
    if (!pointer) continue
    const type = await typeStore.findTypeVersion(tx, pointer.type_tenant_id, pointer.type_key, pointer.type_version)
    schemas.set(list_key, type?.definition.schema)
  }
  return compared.flatMap((reference) => findDeclaredTypeFault(reference, schemas.get(reference.list_key)) ?? [])
}

/** Keyed by scope and content; the caller does not matter. Without `engine`, by the engine of new decisions. */
export async function getCompiled(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: resolver.ContentPointer,
  engine?: number,
): Promise<{ compiled: CompiledDefinition; identity: string }> {
  const cache = kernel.caches.get(compiledDefinitions)
  const id = `${pointer.dataset_tenant_id}:${pointer.family}:${pointer.content_hash}:${engine ?? 'new'}`
  const known = cache.get(id)
  if (known) return known
  const compiled = compileDefinition(await loadDefinition(kernel, tx, pointer), engine)
  const result = { compiled, identity: toIdentity(compiled) }
  cache.set(id, result)
  return result
}

/** Equal for a draft and the version it becomes, so that proofs of the draft are reused. */
export function toIdentity({ definition: { family, ...text }, engine }: CompiledDefinition): string {
  const hash = createHash('sha256').update(canonicalJson(text)).digest('hex')
  return `${family}:${hash}:${engine}`
}

/** Loads a published definition from its entries. */
export async function loadDefinition(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: resolver.ContentPointer,
): Promise<Definition> {
  const content = (await resolver.loadList(kernel, tx, pointer)) ?? fail('content_corrupt')
  return fromPartEntries(
    pointer.family as DefinitionFamily,
    [...content.entries.values()].map(({ entry }) => entry),
  )
}
