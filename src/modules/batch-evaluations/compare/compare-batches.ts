/**
 * Compares two batches of the same matrix or rule: which outcomes differ, and which version change or input change alone explains
 * each difference. Stores nothing.
 */
import type { Decision, Inputs } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { datasetStore, type resolver } from '#modules/definitions/index.ts'
import { toOutcomeView } from '#modules/evaluations/index.ts'

import { binding } from '#modules/risk-matrices/index.ts'

import { isEqualJson } from '#registry/content/json-patch.ts'
import { loadPlan } from '../create-batch.ts'
import { findBatch } from '../queries.ts'
import { openContents } from '../stored-items.ts'
import { type BatchPair, listPairs, type Pair, type PairTally, type StoredPair, tallyPairs } from './queries.ts'

type PinnedResolution = binding.Resolution<resolver.ContentPointer>

interface ChangedVersion {
  readonly family: 'list' | 'matrix' | 'rule' | 'plugin'
  readonly key: string
  readonly from: resolver.ContentPointer | undefined
  readonly to: resolver.ContentPointer | undefined
}

export async function loadSides(kernel: binding.BindCapabilities, tx: Tx, batch_id: string, other_batch_id: string) {
  const [one, other] = [assertFound(await findBatch(tx, batch_id)), assertFound(await findBatch(tx, other_batch_id))]
  if (one.family !== other.family || one.definition_key !== other.definition_key)
    fail('conflict', 'The two batches were decided by different matrices or rules.')
  const [first, second] = [await loadPlan(kernel, tx, one, 'pinned'), await loadPlan(kernel, tx, other, 'pinned')]
  return { first: first.resolution, second: second.resolution }
}

/** Counts of transitions from one result to another. */
function countTransitions<T>(tallies: readonly PairTally[], resultsOf: (tally: PairTally) => { from: T; to: T }) {
  const moves = new Map<string, { from: T; to: T; count: number }>()
  for (const tally of tallies) {
    const { from, to } = resultsOf(tally)
    const id = JSON.stringify([from, to])
    moves.set(id, { from, to, count: (moves.get(id)?.count ?? 0) + tally.count })
  }
  return [...moves].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
}

export async function countTotals(tx: Tx, { first }: Sides, batch_id: string, other_batch_id: string) {
  const tallies = await tallyPairs(tx, batch_id, other_batch_id)
  const sum = (fits: (tally: PairTally) => boolean) =>
    tallies.filter(fits).reduce((total, { count }) => total + count, 0)
  const isCommon = ({ in_first, in_second }: PairTally) => in_first && in_second
  const common = tallies.filter(isCommon)
  const isRule = first.definition.family === 'rule'
  return {
    common: sum(isCommon),
    only_first: sum(({ in_second }) => !in_second),
    only_second: sum(({ in_first }) => !in_first),
    same: sum((tally) => isCommon(tally) && !tally.different),
    different: sum((tally) => isCommon(tally) && tally.different),
    migration: countTransitions(common, ({ from, to }) => ({ from, to })),
    hit_migration: isRule ? countTransitions(common, ({ from_hit: from, to_hit: to }) => ({ from, to })) : [],
  }
}

export interface Sides {
  readonly first: PinnedResolution
  readonly second: PinnedResolution
}

/** The definition, lists and plugins whose versions differ between the two batches. */
export function findChangedVersions({ first, second }: Sides): ChangedVersion[] {
  const keys = [...new Set([...first.lists.keys(), ...second.lists.keys()])].sort()
  const pairs = [
    [first.definition, second.definition] as const,
    ...keys.map((key) => [first.lists.get(key), second.lists.get(key)] as const),
    ...pairPlugins(first, second),
  ]
  return pairs.flatMap(([from, to]) => {
    const { family, list_key: key } = (from ?? to) as resolver.ContentPointer
    return isEqualJson(toIdentity(from), toIdentity(to))
      ? []
      : [{ family: family as ChangedVersion['family'], key, from, to }]
  })
}

function pairPlugins(first: PinnedResolution, second: PinnedResolution) {
  const [from, to] = [first, second].map(
    ({ plugins }) => new Map(binding.toPluginPointers(plugins).map((pointer) => [pointer.list_key, pointer])),
  ) as [Map<string, resolver.ContentPointer>, Map<string, resolver.ContentPointer>]
  return [...new Set([...from.keys(), ...to.keys()])].sort().map((key) => [from.get(key), to.get(key)] as const)
}

const toIdentity = (pointer: resolver.ContentPointer | undefined) =>
  pointer && [
    pointer.dataset_id,
    pointer.version,
    pointer.content_hash,
    pointer.overlay_version,
    pointer.overlay_hash,
    pointer.configuration_hash ?? null,
    pointer.sandbox_hash ?? null,
  ]

export const toVersionChangeView = ({ family, key, from, to }: ChangedVersion) => ({
  family,
  key,
  from_version: from?.version ?? null,
  from_origin: from ? datasetStore.getOrigin(from.dataset_tenant_id) : null,
  to_version: to?.version ?? null,
  to_origin: to ? datasetStore.getOrigin(to.dataset_tenant_id) : null,
  from_overlay: from?.overlay_version ?? null,
  to_overlay: to?.overlay_version ?? null,
})

/** The first batch's versions with one of them replaced by the second batch's. */
function switchVersion({ first, second }: Sides, { family, key, to }: ChangedVersion): PinnedResolution {
  if (family === 'list') return to ? { ...first, lists: new Map(first.lists).set(key, to) } : first
  const lists = new Map([...second.lists, ...first.lists])
  const other = second.plugins.get(key)
  if (family === 'plugin') return other ? { ...first, lists, plugins: new Map(first.plugins).set(key, other) } : first
  const read = binding.joinListKeys(second.compiled, second.plugins).flatMap((list_key) => {
    const chosen = lists.get(list_key)
    return chosen ? [[list_key, chosen] as const] : []
  })
  return { ...second, lists: new Map(read), plugins: new Map([...second.plugins, ...first.plugins]) }
}

const INPUTS = 'inputs'

/** One page of differing items, each with the single changes that explain the difference. */
export async function listDifferentPairs(
  kernel: binding.DecideCapabilities & Capabilities<'encryption'>,
  tx: Tx,
  sides: Sides,
  page: { readonly ids: BatchPair; readonly after: string | null; readonly count: number },
) {
  const changedVersions = findChangedVersions(sides).map((each) => ({
    name: `${each.family} ${each.key}`,
    versions: switchVersion(sides, each),
  }))
  const rows = await openPairs(kernel, tx, page.ids, await listPairs(tx, page.ids, page.after, page.count))
  const because = rows.map((): string[] => [])
  const comparable = rows.flatMap(({ before, after }, index) =>
    before.inputs && after.inputs && after.state === 'done' ? [{ index, before: before.inputs, after }] : [],
  )
  /** Decides for all rows together, so that plugins run in few tasks. */
  const explain = async (name: string, of: PinnedResolution, asked: readonly ComparedRow[]) => {
    const all = asked.map(({ inputs }) => inputs)
    for (const [position, decision] of (await binding.decideAll(kernel, tx, of, all)).entries()) {
      const { index, wanted } = asked[position] as ComparedRow
      if (hasOutcome(decision, wanted)) because[index]?.push(name)
    }
  }
  const changed_inputs = comparable.filter(({ before, after }) => !isEqualJson(before, after.inputs))
  await explain(
    INPUTS,
    sides.first,
    changed_inputs.map(({ index, after }) => ({ index, inputs: after.inputs as Inputs, wanted: after })),
  )
  for (const { name, versions } of changedVersions) {
    await explain(
      name,
      versions,
      comparable.map(({ index, before, after }) => ({ index, inputs: before, wanted: after })),
    )
  }
  return rows.map(({ before, after, ...pair }, index) => {
    const { inputs: _before, ...shownBefore } = before
    const { inputs: _after, ...shownAfter } = after
    return { ...pair, before: shownBefore, after: shownAfter, because: because[index] as string[] }
  })
}

/** Items of erased subjects are compared by their outcomes; the reason of a difference is not known any more. */
async function openPairs(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  [batch_id, other_batch_id]: BatchPair,
  stored: readonly StoredPair[],
): Promise<Pair[]> {
  const before = stored.map((pair) => ({ batch_id, ...pair.before, content: pair.before_content }))
  const after = stored.map((pair) => ({ batch_id: other_batch_id, ...pair.after, content: pair.after_content }))
  const opened = await openContents(kernel, tx, [...before, ...after])
  return stored.map(({ key, before: first, after: second }, index) => {
    const [one, other] = [opened[index], opened[index + stored.length]]
    const toSide = ({ state, band, score_bps, hit }: StoredPair['before']) => ({ state, band, score_bps, hit })
    return {
      key,
      subject_id: second.subject_id,
      external_id: other?.external_id ?? null,
      seq: first.seq,
      other_seq: second.seq,
      before: { ...toSide(first), inputs: one?.inputs ?? null },
      after: { ...toSide(second), inputs: other?.inputs ?? null },
    }
  })
}

interface ComparedRow {
  readonly index: number
  readonly inputs: Inputs
  readonly wanted: Pair['after']
}

function hasOutcome(decision: Decision, wanted: Pair['after']): boolean {
  if (!decision.ok) return false
  const { band, score_bps, hit } = toOutcomeView(decision.outcome)
  return band === wanted.band && score_bps === wanted.score_bps && hit === wanted.hit
}
