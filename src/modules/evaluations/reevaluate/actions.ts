/**
 * Deciding again with what is in force today, and saying which change of version makes which difference. Nothing is stored.
 */
import type { AnalysisOrder, PlainList } from '../../../decision/analysis/analysis-order.ts'
import { DEFINITION, ENGINE, listName } from '../../../decision/analysis/analysis-task.ts'
import type { AttributionOrder, Tried } from '../../../decision/analysis/analyst.ts'
import { CURRENT_ENGINE, engines } from '../../../decision/engines.ts'
import type { Compiled, Decision, Finding, Inputs, Needs } from '../../../decision/model.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { changesOf, sameJson } from '../../../registry/content/patch.ts'
import { type ContentPointer, type Origin, originOf } from '../../reference-data/index.ts'
import { decideWith, type Resolution, resolutionOf, resolveDecision } from '../../risk-matrices/index.ts'
import { attributeAside, plainList, type Read } from '../aside/actions.ts'
import { expectIntact, type Intact } from '../records/actions.ts'
import { shownOutcome } from '../records/rules.ts'

type Versions = Resolution<ContentPointer>

/** An outcome, or why there is none. */
export const attemptOf = (decision: Decision) =>
  decision.ok
    ? { outcome: shownOutcome(decision.outcome), findings: [] }
    : { outcome: null, findings: decision.findings.map(shownFinding) }

const shownFinding = ({ code, pointer, message }: Finding) => ({ code, pointer, message })

/** The versions of then and of today, as one engine understands them. */
interface Sides {
  readonly pinned: Versions
  readonly today: Versions
}

export async function reevaluate(kernel: Kernel, read: Read, evaluation_id: string) {
  const { moved, order, caller, ...answer } = await read(async (tx) =>
    todayOf(kernel, tx, await expectIntact(kernel, tx, evaluation_id)),
  )
  const tried = order ? await attributeAside(kernel, order, caller) : NOTHING_MOVED
  return { ...answer, switches: moved.map((each) => switchOf(each, tried, answer.before)) }
}
const NOTHING_MOVED: Tried = { alone: [], joint: [], untried: [] }

/** Today's answer, and what is to be found out about how it came to be another. */
async function todayOf(kernel: Kernel, tx: Tx, { row, content, manifest }: Intact) {
  const sidesWith = async (engine: number): Promise<Sides> => ({
    pinned: await resolutionOf(kernel, tx, manifest, engine),
    today: await resolveDecision(kernel, tx, { family: row.family, key: row.definition_key }, engine),
  })
  const current = await sidesWith(CURRENT_ENGINE)
  const isOld = content.engine !== CURRENT_ENGINE && engines.has(content.engine)
  const former = isOld ? await sidesWith(content.engine) : current
  const moved = [...movedBetween(current), ...(isOld ? [engineMoved(content.engine)] : [])]
  const decision = await decideWith(kernel, tx, current.today, content.inputs)
  const before = shownOutcome(content.outcome)
  const after = attemptOf(decision)
  return {
    evaluation_id: row.evaluation_id,
    same_outcome: sameJson(before, after.outcome),
    before,
    after,
    explanation: decision.ok ? decision.explanation : null,
    changes: changesOf(before, after.outcome ?? {}),
    moved,
    order: moved.length > 0 ? await orderOf(kernel, tx, moved.map(nameOf), [former, current], content.inputs) : null,
    caller: tx.tenant_id,
  }
}

function switchOf({ name, ...shown }: Moved, { alone, joint, untried }: Tried, before: object) {
  const single = alone.find((each) => each.name === name)
  const whole = single?.whole ? ('whole' as const) : ('part' as const)
  const without = joint.includes(name) ? ('joint' as const) : ('none' as const)
  const outcome = single?.outcome.outcome ? shownOutcome(single.outcome.outcome) : null
  return {
    ...shown,
    effect: untried.includes(name) ? ('unknown' as const) : single ? whole : without,
    alone: single ? { outcome, findings: single.outcome.findings } : null,
    changes: single ? changesOf(before, outcome ?? {}) : [],
  }
}

/** Everything that a decision on a mixture of old and new versions may read. */
async function orderOf(
  kernel: Kernel,
  tx: Tx,
  names: readonly string[],
  [former, current]: readonly [Sides, Sides],
  inputs: Inputs,
): Promise<AttributionOrder> {
  const all = [...new Set([former.pinned, former.today, current.pinned, current.today])]
  const asked = all.map(({ compiled }) => ({ compiled, needs: compiled.needs(inputs) }))
  const keysOf = (list_key: string) => new Set(asked.flatMap((each) => keysAsked(each, list_key)))
  const plain = async ({ engine, compiled }: Versions, pointers: readonly ContentPointer[]): Promise<AnalysisOrder> => {
    const lists: PlainList[] = []
    for (const pointer of pointers) lists.push(await plainList(kernel, tx, pointer, keysOf))
    return { engine, definition: compiled.definition, lists }
  }
  const then = new Map([...former.pinned.lists, ...current.pinned.lists])
  const today = [...new Map([...former.today.lists, ...current.today.lists]).values()]
  const others = today.filter(({ list_key }) => names.includes(listName(list_key)) || !then.has(list_key))
  return {
    names,
    old: await plain(former.pinned, [...then.values()]),
    young: await plain(current.today, others),
    inputs,
  }
}

/** Of a list that is not held whole: what the definition names and what the inputs lead to. */
function keysAsked({ compiled, needs }: { compiled: Compiled; needs: Needs }, list_key: string): string[] {
  const named = compiled.references.flatMap((each) => (each.list_key === list_key && each.key !== null ? each.key : []))
  const needed = needs.get(list_key) ?? []
  return needed === 'all' ? named : [...named, ...needed]
}

/** One thing that has another version today: the definition, a list that was read then or is read now, or the engine. */
interface Moved {
  readonly name: string
  readonly family: ContentPointer['family'] | 'engine'
  readonly key: string
  readonly from_version: number | null
  readonly from_origin: Origin | null
  readonly to_version: number | null
  readonly to_origin: Origin | null
  readonly from_overlay: number | null
  readonly to_overlay: number | null
}
const nameOf = ({ name }: Moved): string => name

const engineMoved = (from_version: number): Moved => ({
  name: ENGINE,
  family: 'engine',
  key: 'engine',
  from_version,
  from_origin: null,
  to_version: CURRENT_ENGINE,
  to_origin: null,
  from_overlay: null,
  to_overlay: null,
})

function movedBetween({ pinned, today }: Sides): Moved[] {
  const moved = (name: string, from: ContentPointer | undefined, to: ContentPointer | undefined): Moved[] => {
    const { family, list_key: key } = (from ?? to) as ContentPointer
    if (sameJson(namesOf(from), namesOf(to))) return []
    const versions = {
      from_version: from?.version ?? null,
      from_origin: from ? originOf(from.dataset_tenant_id) : null,
      to_version: to?.version ?? null,
      to_origin: to ? originOf(to.dataset_tenant_id) : null,
    }
    const overlays = { from_overlay: from?.overlay_version ?? null, to_overlay: to?.overlay_version ?? null }
    return [{ name, family, key, ...versions, ...overlays }]
  }
  const keys = [...new Set([...pinned.lists.keys(), ...today.lists.keys()])].sort()
  return [
    ...moved(DEFINITION, pinned.definition, today.definition),
    ...keys.flatMap((key) => moved(listName(key), pinned.lists.get(key), today.lists.get(key))),
  ]
}

const namesOf = (pointer: ContentPointer | undefined) =>
  pointer === undefined
    ? null
    : [pointer.dataset_id, pointer.version, pointer.content_hash, pointer.overlay_version, pointer.overlay_hash]
