/** What the same decision would have been with other inputs or other versions, and how little would have changed its band. */
import { orderOf } from '../../../decision/analysis/analysis-order.ts'
import type { Inputs } from '../../../decision/model.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { fail, named } from '../../../kernel/problem.ts'
import { changesOf } from '../../../registry/content/patch.ts'
import {
  type ContentPointer,
  findDataset,
  findVersion,
  manifestOf,
  type Origin,
  originOf,
  type Pinned,
  resolve,
} from '../../reference-data/index.ts'
import { bindTo, decideWith, isFindings, pointerTo, type Resolution, resolutionOf } from '../../risk-matrices/index.ts'
import { type Read, type SearchOrder, searchAside } from '../aside/actions.ts'
import { expectIntact, type Intact } from '../records/actions.ts'
import { shownOutcome } from '../records/rules.ts'
import { attemptOf } from '../reevaluate/actions.ts'

export interface Supposition {
  readonly inputs?: Readonly<Record<string, unknown>>
  readonly definition_version?: number
  /** Whose version it is; of the owner that was pinned when absent. */
  readonly definition_origin?: Origin
  readonly lists?: readonly { readonly list_key: string; readonly version: number; readonly origin?: Origin }[]
  readonly search?: boolean
  readonly band?: string
}

export async function suppose(kernel: Kernel, read: Read, evaluation_id: string, supposed: Supposition) {
  const { order, ...answer } = await read(async (tx) =>
    supposeOf(kernel, tx, await expectIntact(kernel, tx, evaluation_id), supposed),
  )
  return { ...answer, search: order ? await searchAside(kernel, order) : null }
}

async function supposeOf(kernel: Kernel, tx: Tx, { row, content, manifest }: Intact, supposed: Supposition) {
  const resolution = await versionsOf(kernel, tx, manifest, supposed)
  const inputs = withChanges(content.inputs, supposed.inputs ?? {})
  const decision = await decideWith(kernel, tx, resolution, inputs)
  const before = shownOutcome(content.outcome)
  const after = attemptOf(decision)
  return {
    evaluation_id: row.evaluation_id,
    before,
    after,
    explanation: decision.ok ? decision.explanation : null,
    changes: changesOf(before, after.outcome ?? {}),
    order: supposed.search ? await searchOf(kernel, tx, resolution, inputs, supposed.band) : null,
  }
}

/** From the inputs as supposed: what else would have to be different for another band. */
async function searchOf(
  kernel: Kernel,
  tx: Tx,
  resolution: Resolution<ContentPointer>,
  inputs: Inputs,
  band: string | undefined,
): Promise<SearchOrder | null> {
  const { bound, lists } = await bindTo(kernel, tx, resolution)
  if (isFindings(bound)) return null
  return [orderOf(resolution.compiled, lists, resolution.engine), inputs, band, tx.tenant_id]
}

/** Null takes an input away: then its declared default holds, or its absence is a fault. */
function withChanges(inputs: Readonly<Record<string, unknown>>, changes: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries({ ...inputs, ...changes }).filter(([, value]) => value !== null))
}

/** As pinned, but for the versions that are named; what another version of the definition reads besides is read as of today. */
async function versionsOf(
  kernel: Kernel,
  tx: Tx,
  manifest: readonly Pinned[],
  { definition_version, definition_origin, lists = [] }: Supposition,
): Promise<Resolution<ContentPointer>> {
  if (definition_origin !== undefined && definition_version === undefined)
    fail('conflict', 'Name the version of the definition as well.')
  const wanted = new Map(lists.map(({ list_key, version, origin }) => [list_key, { version, origin }]))
  const definition = definition_version && { version: definition_version, origin: definition_origin }
  const pins: Pinned[] = []
  for (const pin of manifest) {
    const other = pin.family ? definition : wanted.get(pin.list_key)
    pins.push(other ? await otherVersion(tx, pin, other.version, other.origin) : pin)
    if (!pin.family) wanted.delete(pin.list_key)
  }
  // A list that the decision did not read has no version that could be another.
  for (const [list_key] of wanted) fail('conflict', `The decision did not read ${list_key}.`)
  const resolution = await resolutionOf(kernel, tx, pins)
  const missing = resolution.compiled.list_keys.filter((list_key) => !resolution.lists.has(list_key))
  if (missing.length === 0) return resolution
  const further = await resolve(tx, missing, {})
  return {
    ...resolution,
    lists: new Map([...resolution.lists, ...further.map((pointer) => [pointer.list_key, pointer] as const)]),
  }
}

/** Of the owner that was pinned, unless the other one is named. An overlay lies over the shared list only. */
async function otherVersion(tx: Tx, pin: Pinned, version: number, origin?: Origin): Promise<Pinned> {
  const name = `version ${version} of ${pin.list_key}`
  if (origin === undefined || origin === originOf(pin.dataset_tenant_id)) {
    const of = { tenant_id: pin.dataset_tenant_id, dataset_id: pin.dataset_id }
    const { content_hash } = named(await findVersion(tx, of, version), name)
    return { ...pin, version, content_hash }
  }
  const dataset = named(await findDataset(tx, pin.list_key, pin.family ?? 'list', origin), name)
  const found = named(await findVersion(tx, dataset, version), name)
  const [other] = manifestOf([pointerTo(dataset, found)]) as [Pinned]
  return other
}
