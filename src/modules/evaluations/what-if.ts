/** What-if: the decision with other inputs or versions, and the smallest changes of inputs that change its band. */
import { buildAnalysisRequest } from '#decision/analysis/analysis-request.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertReferenced, fail } from '#kernel/problem.ts'
import { datasetStore, documentStore, resolver, versionStore } from '#modules/definitions/index.ts'
import { binding, isDecisionFamily } from '#modules/risk-matrices/index.ts'

import { listFieldChanges } from '#registry/content/json-patch.ts'
import { type RunInTx, type SearchArguments, searchInThread } from './analysis-thread.ts'
import { toPluginResults } from './plugin-switches.ts'
import { getIntactEvaluation, type IntactEvaluation } from './records/read-record.ts'
import { toOutcomeView } from './records/record.ts'
import { toAttempt } from './reevaluate.ts'

export interface WhatIfChanges {
  readonly inputs?: Readonly<Record<string, unknown>>
  readonly definition_version?: number
  /** The owner of the version; the pinned owner when absent. */
  readonly definition_origin?: datasetStore.Origin
  readonly lists?: readonly {
    readonly list_key: string
    readonly version: number
    readonly origin?: datasetStore.Origin
  }[]
  readonly search?: boolean
  readonly band?: string
}

export async function whatIf(
  kernel: binding.DecideCapabilities & Capabilities<'encryption' | 'integrity'>,
  read: RunInTx,
  evaluation_id: string,
  hypothetical: WhatIfChanges,
) {
  const { search_request, ...answer } = await read(async (tx) =>
    decideWhatIf(kernel, tx, await getIntactEvaluation(kernel, tx, evaluation_id), hypothetical),
  )
  return { ...answer, search: search_request ? await searchInThread(kernel, search_request) : null }
}

async function decideWhatIf(
  kernel: binding.DecideCapabilities,
  tx: Tx,
  { row, content, manifest }: IntactEvaluation,
  hypothetical: WhatIfChanges,
) {
  const resolution = await getChangedResolution(kernel, tx, manifest, hypothetical)
  const inputs = withChanges(content.inputs, hypothetical.inputs ?? {})
  const decision = await binding.decideWith(kernel, tx, resolution, inputs)
  const before = toOutcomeView(content.outcome)
  const after = toAttempt(decision)
  return {
    evaluation_id: row.evaluation_id,
    before,
    after,
    explanation: decision.ok ? decision.explanation : null,
    changes: listFieldChanges(before, after.outcome ?? {}),
    search_request: hypothetical.search
      ? await buildSearch(kernel, tx, resolution, {
          inputs,
          band: hypothetical.band,
          plugins: toPluginResults(decision.plugins),
        })
      : null,
  }
}

/** Starts from the given inputs and searches the smallest changes that lead to another band. */
async function buildSearch(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  resolution: binding.Resolution<resolver.ContentPointer>,
  start: SearchArguments[1],
): Promise<SearchArguments | null> {
  const { bound, lists } = await binding.bindDefinition(kernel, tx, resolution)
  if (binding.isFindings(bound)) return null
  return [buildAnalysisRequest(resolution.compiled, lists), start, tx.tenant_id]
}

/** Null removes an input: its declared default is used, or its absence is a fault. */
function withChanges(inputs: Readonly<Record<string, unknown>>, changes: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries({ ...inputs, ...changes }).filter(([, value]) => value !== null))
}

/** The pinned versions, except those that are named; lists that only the other version of the definition reads are current. */
async function getChangedResolution(
  kernel: binding.BindCapabilities,
  tx: Tx,
  manifest: readonly resolver.PinnedVersion[],
  { definition_version, definition_origin, lists = [] }: WhatIfChanges,
): Promise<binding.Resolution<resolver.ContentPointer>> {
  if (definition_origin !== undefined && definition_version === undefined)
    fail('conflict', 'Name the version of the definition as well.')
  const wanted = new Map(lists.map(({ list_key, version, origin }) => [list_key, { version, origin }]))
  const definition = definition_version && { version: definition_version, origin: definition_origin }
  const pins: resolver.PinnedVersion[] = []
  for (const pin of manifest) {
    const other = pin.family === undefined ? wanted.get(pin.list_key) : isDecisionFamily(pin.family) && definition
    pins.push(other ? await pinOtherVersion(tx, pin, other.version, other.origin) : pin)
    if (!pin.family) wanted.delete(pin.list_key)
  }
  // Only lists that the decision read can be replaced.
  for (const [list_key] of wanted) fail('conflict', `The decision did not read ${list_key}.`)
  const restored = await binding.restoreResolution(kernel, tx, pins, { plugins: 'valid' })
  const plugins = await binding.bindFurtherPlugins(kernel, tx, restored.compiled, restored.plugins)
  const resolution = { ...restored, plugins }
  const missing = binding.joinListKeys(resolution.compiled, plugins).filter((key) => !resolution.lists.has(key))
  if (missing.length === 0) return resolution
  const further = await resolver.resolveVersions(tx, missing, {})
  const joined = new Map<string, resolver.ContentPointer>(resolution.lists)
  for (const pointer of further) joined.set(pointer.list_key, pointer)
  return { ...resolution, lists: joined }
}

/** The version of the pinned owner, unless the other owner is named. Only shared lists have overlays. */
async function pinOtherVersion(
  tx: Tx,
  pin: resolver.PinnedVersion,
  version: number,
  origin?: datasetStore.Origin,
): Promise<resolver.PinnedVersion> {
  const name = `version ${version} of ${pin.list_key}`
  if (origin === undefined || origin === datasetStore.getOrigin(pin.dataset_tenant_id)) {
    const of = { tenant_id: pin.dataset_tenant_id, dataset_id: pin.dataset_id }
    const { content_hash } = assertReferenced(await versionStore.findVersion(tx, of, version), name)
    return { ...pin, version, content_hash }
  }
  const dataset = assertReferenced(await datasetStore.findDataset(tx, pin.list_key, pin.family ?? 'list', origin), name)
  const found = assertReferenced(await versionStore.findVersion(tx, dataset, version), name)
  const [other] = resolver.toPins([documentStore.toContentPointer(dataset, found)]) as [resolver.PinnedVersion]
  return other
}
