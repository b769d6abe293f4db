/**
 * Decides again with the versions in force now, and attributes differences to version changes. Stores nothing.
 */
import type { AnalysisRequest, ListSnapshot } from '#decision/analysis/analysis-request.ts'
import type { AttributionRequest, AttributionResult } from '#decision/analysis/analysis-runner.ts'
import { DEFINITION, ENGINE, toListName, toPluginName } from '#decision/analysis/analysis-task.ts'
import { engines } from '#decision/engines.ts'
import type { CompiledDefinition, Decision, DefinitionFamily, Finding, ListNeeds } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { datasetStore, type resolver } from '#modules/definitions/index.ts'
import { binding } from '#modules/risk-matrices/index.ts'
import { isEqualJson, listFieldChanges } from '#registry/content/json-patch.ts'
import { attributeInThread, type RunInTx, toPlainList } from './analysis-thread.ts'
import { type ChangedPlugin, findChangedPlugins, findSidedResults } from './plugin-switches.ts'
import { getIntactEvaluation, type IntactEvaluation } from './records/read-record.ts'
import { toOutcomeView } from './records/record.ts'

type PinnedResolution = binding.Resolution<resolver.ContentPointer>

/** An outcome, or the findings that prevent one. */
export const toAttempt = (decision: Decision) =>
  decision.ok
    ? { outcome: toOutcomeView(decision.outcome), findings: [] }
    : { outcome: null, findings: decision.findings.map(toFindingView) }

const toFindingView = ({ code, pointer, message }: Finding) => ({ code, pointer, message })

/** The pinned and the current versions. */
interface ResolutionPair {
  readonly pinned: PinnedResolution
  readonly today: PinnedResolution
}

export async function reevaluate(
  kernel: binding.DecideCapabilities & Capabilities<'encryption' | 'integrity'>,
  read: RunInTx,
  evaluation_id: string,
) {
  const { changedVersions, attribution, caller, ...answer } = await read(async (tx) =>
    decideToday(kernel, tx, await getIntactEvaluation(kernel, tx, evaluation_id)),
  )
  const tried = attribution ? await attributeInThread(kernel, attribution, caller) : NOTHING_TRIED
  return { ...answer, switches: changedVersions.map((each) => toVersionSwitch(each, tried, answer.before)) }
}
const NOTHING_TRIED: AttributionResult = { alone: [], joint: [], untried: [] }

/** The current outcome, and the data for attributing differences. */
async function decideToday(kernel: binding.DecideCapabilities, tx: Tx, { row, content, manifest }: IntactEvaluation) {
  const current: ResolutionPair = {
    pinned: await binding.restoreResolution(kernel, tx, manifest, { plugins: 'pinned' }),
    today: await binding.getResolution(kernel, tx, { family: row.family, key: row.definition_key }),
  }
  const { engine } = current.pinned
  const isOld = content.engine !== engine && engines.has(content.engine)
  const former = isOld
    ? {
        ...current,
        pinned: {
          ...current.pinned,
          ...(await binding.getCompiled(kernel, tx, current.pinned.definition, content.engine)),
          engine: content.engine,
        },
      }
    : current
  const changedVersions = [...findChangedVersions(current), ...(isOld ? [toEngineChange(content.engine, engine)] : [])]
  const decision = await binding.decideWith(kernel, tx, current.today, content.inputs)
  const before = toOutcomeView(content.outcome)
  const after = toAttempt(decision)
  return {
    evaluation_id: row.evaluation_id,
    same_outcome: isEqualJson(before, after.outcome),
    before,
    after,
    explanation: decision.ok ? decision.explanation : null,
    changes: listFieldChanges(before, after.outcome ?? {}),
    changedVersions,
    attribution:
      changedVersions.length > 0
        ? await buildAttribution(kernel, tx, [former, current], {
            names: changedVersions.map(getName),
            inputs: content.inputs,
            plugins: await findSidedResults(kernel, tx, current, content.inputs),
          })
        : null,
    caller: tx.tenant_id,
  }
}

function toVersionSwitch(
  { name, ...shown }: ChangedVersion,
  { alone, joint, untried }: AttributionResult,
  before: object,
) {
  const single = alone.find((each) => each.name === name)
  const whole = single?.whole ? ('whole' as const) : ('part' as const)
  const without = joint.includes(name) ? ('joint' as const) : ('none' as const)
  const outcome = single?.outcome.outcome ? toOutcomeView(single.outcome.outcome) : null
  return {
    ...shown,
    effect: untried.includes(name) ? ('unknown' as const) : single ? whole : without,
    alone: single ? { outcome, findings: single.outcome.findings } : null,
    changes: single ? listFieldChanges(before, outcome ?? {}) : [],
  }
}

/** Loads everything that a decision on a mix of pinned and current versions may read. */
async function buildAttribution(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  [former, current]: readonly [ResolutionPair, ResolutionPair],
  { names, inputs, plugins }: Pick<AttributionRequest, 'names' | 'inputs' | 'plugins'>,
): Promise<AttributionRequest> {
  const all = [...new Set([former.pinned, former.today, current.pinned, current.today])]
  const asked = all.map(({ compiled }) => ({ compiled, needs: compiled.needs(inputs) }))
  const collectKeys = (list_key: string) => new Set(asked.flatMap((each) => listReadKeys(each, list_key)))
  const plain = async (
    { engine, compiled }: PinnedResolution,
    pointers: readonly resolver.ContentPointer[],
  ): Promise<AnalysisRequest> => {
    const lists: ListSnapshot[] = []
    for (const pointer of pointers) lists.push(await toPlainList(kernel, tx, pointer, collectKeys))
    return { engine, definition: compiled.definition, lists }
  }
  const then = new Map([...former.pinned.lists, ...current.pinned.lists])
  const today = [...new Map([...former.today.lists, ...current.today.lists]).values()]
  const others = today.filter(({ list_key }) => names.includes(toListName(list_key)) || !then.has(list_key))
  return {
    names,
    old: await plain(former.pinned, [...then.values()]),
    young: await plain(current.today, others),
    inputs,
    ...(plugins && { plugins }),
  }
}

/** The keys of a large list that the definition names or that the inputs lead to. */
function listReadKeys(
  { compiled, needs }: { compiled: CompiledDefinition; needs: ListNeeds },
  list_key: string,
): string[] {
  const named = compiled.references.flatMap((each) => (each.list_key === list_key && each.key !== null ? each.key : []))
  const needed = needs.get(list_key) ?? []
  return needed === 'all' ? named : [...named, ...needed]
}

/** One change of version: the definition, a list or plugin that either side uses, or the engine. */
interface ChangedVersion {
  readonly name: string
  readonly family: DefinitionFamily | 'list' | 'plugin' | 'engine'
  readonly key: string
  readonly from_version: number | null
  readonly from_origin: datasetStore.Origin | null
  readonly to_version: number | null
  readonly to_origin: datasetStore.Origin | null
  readonly from_overlay: number | null
  readonly to_overlay: number | null
}
const getName = ({ name }: ChangedVersion): string => name

const toEngineChange = (from_version: number, to_version: number): ChangedVersion => ({
  name: ENGINE,
  family: 'engine',
  key: 'engine',
  from_version,
  from_origin: null,
  to_version,
  to_origin: null,
  from_overlay: null,
  to_overlay: null,
})

function findChangedVersions({ pinned, today }: ResolutionPair): ChangedVersion[] {
  const listChange = (
    name: string,
    from: resolver.ContentPointer | undefined,
    to: resolver.ContentPointer | undefined,
  ): ChangedVersion[] => {
    const { family, list_key: key } = (from ?? to) as resolver.ContentPointer
    if (isEqualJson(toIdentity(from), toIdentity(to))) return []
    const versions = {
      from_version: from?.version ?? null,
      from_origin: from ? datasetStore.getOrigin(from.dataset_tenant_id) : null,
      to_version: to?.version ?? null,
      to_origin: to ? datasetStore.getOrigin(to.dataset_tenant_id) : null,
    }
    const overlays = { from_overlay: from?.overlay_version ?? null, to_overlay: to?.overlay_version ?? null }
    // A decision consults a matrix or a rule, and lists.
    return [{ name, family: family as ChangedVersion['family'], key, ...versions, ...overlays }]
  }
  const keys = [...new Set([...pinned.lists.keys(), ...today.lists.keys()])].sort()
  return [
    ...listChange(DEFINITION, pinned.definition, today.definition),
    ...keys.flatMap((key) => listChange(toListName(key), pinned.lists.get(key), today.lists.get(key))),
    ...findChangedPlugins({ pinned, today }).map(toPluginChange),
  ]
}

const toPluginChange = ({ plugin_key, from, to }: ChangedPlugin): ChangedVersion => ({
  name: toPluginName(plugin_key),
  family: 'plugin',
  key: plugin_key,
  from_version: from?.version ?? null,
  from_origin: from ? datasetStore.getOrigin(from.pointer.dataset_tenant_id) : null,
  to_version: to?.version ?? null,
  to_origin: to ? datasetStore.getOrigin(to.pointer.dataset_tenant_id) : null,
  from_overlay: null,
  to_overlay: null,
})

const toIdentity = (pointer: resolver.ContentPointer | undefined) =>
  pointer === undefined
    ? null
    : [pointer.dataset_id, pointer.version, pointer.content_hash, pointer.overlay_version, pointer.overlay_hash]
