/**
 * Decides a group of rows of a batch: loads the data of all rows in one transaction, then decides row by row with no transaction
 * open, yielding to the event loop. Stores nothing.
 */
import type { BoundList, BoundLists, ListEntry } from '#decision/model.ts'
import { createSalt } from '#decision/salt.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { resolver } from '#modules/definitions/index.ts'
import { buildDocument, mergeInputs, toProblemErrors } from '#modules/evaluations/index.ts'

import { binding } from '#modules/risk-matrices/index.ts'

import { listSubjectsByIds, type SubjectRow } from '#modules/subjects/index.ts'
import { forceCustomPlans, listPreviousBands } from '../queries.ts'
import type { InputRow } from '../source/input-rows.ts'
import { createEventLoopYield, type RunInTx } from '../source/read-items.ts'
import { type ItemRow, type PreparedItem, rankBands, toDoneItem, toFailedItem, toItemFindings } from './item-results.ts'

/** What is common to all items of a batch. */
export interface BatchPlan {
  readonly resolution: binding.Resolution<resolver.ContentPointer>
  /** The requested `valid_at`; part of every document. */
  readonly asked_at: string | null
  /** Previous bands are those of ratings before this instant. */
  readonly known_at: string
  /** How its plugins run. */
  readonly plugin_runs?: Omit<binding.RunOptions, 'caller'>
}

/** The plugins of all rows run together. An item whose plugin fails fails with it; the others are decided. */
export async function decideRows(
  kernel: binding.DecideCapabilities,
  read: RunInTx,
  plan: BatchPlan,
  rows: readonly InputRow[],
): Promise<ItemRow[]> {
  const data = await read((tx) => loadDecisionData(kernel, tx, plan, rows))
  const { bound, lists, fetched, asked, tenant_id } = data
  const { definition } = plan.resolution.compiled
  const rank = definition.family === 'matrix' ? rankBands(definition, lists) : new Map<string, number>()
  const pause = createEventLoopYield()
  const runs = binding.createOwnRuns(kernel, { caller: tenant_id, ...plan.plugin_runs })
  const decidable = asked.flatMap(({ inputs }) => (inputs ? [{ inputs, lists: fetched }] : []))
  const of = { of: plan.resolution, bound, lists, asked: decidable }
  const decisions = (await binding.decideLoaded(kernel, read, of, { runs, pause })).values()
  const items: ItemRow[] = []
  for (const each of asked) {
    const decision = each.inputs === null ? null : (decisions.next().value as binding.PinnedDecision)
    items.push(toItem(plan, rank, each, decision))
    await pause()
  }
  return items
}

function toItem(
  { resolution, asked_at }: BatchPlan,
  rank: ReadonlyMap<string, number>,
  asked: PreparedItem,
  decision: binding.PinnedDecision | null,
): ItemRow {
  const { inputs, row } = asked
  if (inputs === null || !decision) return toFailedItem(asked, row.findings)
  if (!decision.ok) return toFailedItem(asked, toItemFindings(decision.findings))
  const document_salt = createSalt()
  const { document_hash } = buildDocument(resolution, { inputs, valid_at: asked_at }, decision, document_salt)
  return toDoneItem(asked, decision, { document_hash, document_salt }, rank)
}

/** Loads subjects, previous bands and entries of large lists in a few statements for all rows. */
async function loadDecisionData(
  kernel: binding.DecideCapabilities,
  tx: Tx,
  { resolution, known_at }: BatchPlan,
  rows: readonly InputRow[],
) {
  const { definition } = resolution.compiled
  await binding.bindPinnedPlugins(kernel, tx, binding.toPluginPointers(resolution.plugins), { must_be_valid: true })
  await forceCustomPlans(tx)
  const subjects = await findRowSubjects(tx, rows)
  const known = [...new Set(subjects.values())].map(({ subject_id }) => subject_id)
  const ratings =
    definition.family === 'matrix' && known.length > 0
      ? await listPreviousBands(tx, known, resolution.definition.list_key, known_at)
      : []
  const previous = new Map(ratings.map(({ subject_id, band }) => [subject_id, band]))
  const asked = rows.map((row): PreparedItem => {
    const subject = subjects.get(row.seq) ?? null
    const previous_band = (subject && previous.get(subject.subject_id)) ?? null
    const inputs = row.inputs && mergeInputs(definition.inputs, subject?.attributes ?? {}, row.inputs)
    return { row, subject, inputs, previous_band }
  })
  const { bound, lists } = await getBoundDefinition(kernel, tx, resolution)
  const fetched = await fetchLargeLists(kernel, tx, resolution, { lists, asked })
  return { bound, lists, asked, fetched, tenant_id: tx.tenant_id }
}

/** Subjects by item number. An unknown external id is no fault: the item is decided on its inputs alone. */
async function findRowSubjects(tx: Tx, rows: readonly InputRow[]): Promise<Map<number, SubjectRow>> {
  const given = rows.filter(({ subject }) => subject === undefined)
  const found = await listSubjectsByIds(tx, {
    subject_ids: given.flatMap(({ subject_id }) => subject_id ?? []),
    external_ids: given.flatMap(({ subject_id, external_id }) => (subject_id === null ? (external_id ?? []) : [])),
  })
  const byId = new Map(found.map((subject) => [subject.subject_id, subject]))
  const byName = new Map(found.map((subject) => [subject.external_id, subject]))
  return new Map(
    rows.flatMap(({ seq, subject_id, external_id, subject: known }) => {
      const named = external_id === null ? undefined : byName.get(external_id)
      const subject = known ?? (subject_id === null ? named : byId.get(subject_id))
      return subject ? [[seq, subject] as const] : []
    }),
  )
}

/** Fails when the definition cannot be bound to its lists: no item could be decided. */
export async function getBoundDefinition(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  resolution: binding.Resolution<resolver.ContentPointer>,
) {
  const { bound, lists } = await binding.bindDefinition(kernel, tx, resolution)
  if (!binding.isFindings(bound)) return { bound, lists }
  const errors = toProblemErrors(bound)
  return fail('inputs_refused', { detail: `Nothing was decided. ${errors[0]?.detail ?? ''}`, errors })
}

/** Fetches the entries of large lists that any item needs, in one go; undefined when there is no large list. */
async function fetchLargeLists(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { compiled, lists: pointers }: binding.Resolution<resolver.ContentPointer>,
  { lists, asked }: { readonly lists: BoundLists; readonly asked: readonly PreparedItem[] },
): Promise<BoundLists | undefined> {
  const large = [...lists.values()].filter(({ all }) => all === null)
  if (large.length === 0) return undefined
  const decidable = asked.flatMap(({ inputs }) => (inputs ? [inputs] : []))
  const needs = decidable.filter((inputs) => compiled.checkInputs(inputs).every(isWarning)).map(compiled.needs)
  const fetched = new Map(lists)
  for (const list of large) {
    const keys = needs.flatMap((need) => {
      const wanted = need.get(list.list_key) ?? []
      return wanted === 'all' ? [] : [...wanted]
    })
    const pointer = pointers.get(list.list_key) as resolver.ContentPointer
    fetched.set(
      list.list_key,
      extendList(list, await resolver.lookUpHashedEntries(kernel, tx, pointer, [...new Set(keys)])),
    )
  }
  return fetched
}
const isWarning = ({ severity }: { severity: string }): boolean => severity !== 'error'

function extendList(list: BoundList, found: ReadonlyMap<string, Omit<ListEntry, 'key'>>): BoundList {
  const getEntry = (key: string): ListEntry | undefined => {
    const entry = found.get(key)
    return entry ? { key, ...entry } : list.get(key)
  }
  return { ...list, get: getEntry }
}
