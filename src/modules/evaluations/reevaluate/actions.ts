/**
 * Deciding again with what is in force today, and saying which change of version makes which difference. Nothing is stored.
 */
import { attribute } from '../../../decision/analysis/attribution.ts'
import { CURRENT_ENGINE, engines } from '../../../decision/engines.ts'
import type { Decision, Finding } from '../../../decision/model.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { changesOf, sameJson } from '../../../registry/content/patch.ts'
import type { ContentPointer } from '../../reference-data/index.ts'
import { decideWith, type Resolution, resolutionOf, resolveDecision } from '../../risk-matrices/index.ts'
import type { Intact } from '../records/actions.ts'
import { shownOutcome } from '../records/rules.ts'

type Versions = Resolution<ContentPointer>

/** An outcome, or why there is none. */
export const attemptOf = (decision: Decision) =>
  decision.ok
    ? { outcome: shownOutcome(decision.outcome), findings: [] }
    : { outcome: null, findings: decision.findings.map(shownFinding) }
type Attempt = ReturnType<typeof attemptOf>

const shownFinding = ({ code, pointer, message }: Finding) => ({ code, pointer, message })

/** The versions of then and of today, as one engine understands them. */
interface Sides {
  readonly pinned: Versions
  readonly today: Versions
}

export async function reevaluate(kernel: Kernel, tx: Tx, { row, content, manifest }: Intact) {
  const sidesWith = async (engine: number): Promise<Sides> => ({
    pinned: await resolutionOf(kernel, tx, manifest, engine),
    today: await resolveDecision(kernel, tx, { family: row.family, key: row.definition_key }, engine),
  })
  const current = await sidesWith(CURRENT_ENGINE)
  const isOld = content.engine !== CURRENT_ENGINE && engines.has(content.engine)
  const former = isOld ? await sidesWith(content.engine) : current
  const things = [...movedBetween(current), ...(isOld ? [engineMoved(content.engine)] : [])]
  const decideOn = async (switched: ReadonlySet<string>): Promise<Attempt> => {
    const versions = mixed(switched.has(ENGINE) ? current : former, switched)
    return attemptOf(await decideWith(kernel, tx, versions, content.inputs))
  }
  const found = await attributed(things.map(nameOf), decideOn)
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
    switches: things.map((moved) => {
      const { name: _, ...shown } = moved
      const single = found.alone.find(({ name }) => name === moved.name)
      const without = found.joint.includes(moved.name) ? ('joint' as const) : ('none' as const)
      return {
        ...shown,
        effect: single ? (single.whole ? ('whole' as const) : ('part' as const)) : without,
        alone: single?.outcome ?? null,
        changes: single ? changesOf(before, single.outcome.outcome ?? {}) : [],
      }
    }),
  }
}

/** Attribution does not wait for an outcome: the first one it misses is decided, and it is asked again. */
async function attributed(names: readonly string[], decideOn: (switched: ReadonlySet<string>) => Promise<Attempt>) {
  const known = new Map<string, Attempt>()
  const idOf = (switched: ReadonlySet<string>) => [...switched].sort().join('\n')
  for (;;) {
    const missing: ReadonlySet<string>[] = []
    const found = attribute<Attempt>({
      names,
      decide: (switched) => {
        const outcome = known.get(idOf(switched))
        if (!outcome) missing.push(new Set(switched))
        return outcome ?? UNKNOWN
      },
    })
    const [first] = missing
    if (!first) return found
    known.set(idOf(first), await decideOn(first))
  }
}
const UNKNOWN: Attempt = { outcome: null, findings: [] }

const ENGINE = 'engine'

/** One thing that has another version today: the definition, a list that was read then or is read now, or the engine. */
interface Moved {
  readonly name: string
  readonly family: ContentPointer['family'] | 'engine'
  readonly key: string
  readonly from_version: number | null
  readonly to_version: number | null
  readonly from_overlay: number | null
  readonly to_overlay: number | null
}
const nameOf = ({ name }: Moved): string => name

const engineMoved = (from_version: number): Moved => ({
  name: ENGINE,
  family: 'engine',
  key: 'engine',
  from_version,
  to_version: CURRENT_ENGINE,
  from_overlay: null,
  to_overlay: null,
})

const listName = (list_key: string): string => `list ${list_key}`
const DEFINITION = 'definition'

function movedBetween({ pinned, today }: Sides): Moved[] {
  const moved = (name: string, from: ContentPointer | undefined, to: ContentPointer | undefined): Moved[] => {
    const { family, list_key: key } = (from ?? to) as ContentPointer
    if (sameJson(namesOf(from), namesOf(to))) return []
    const versions = { from_version: from?.version ?? null, to_version: to?.version ?? null }
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

/** Today's version of what is switched, the pinned one of all else; a list that was not read then has only today's. */
function mixed({ pinned, today }: Sides, switched: ReadonlySet<string>): Versions {
  const base = switched.has(DEFINITION) ? today : pinned
  const lists = base.compiled.list_keys.flatMap((list_key) => {
    const [old, young] = [pinned.lists.get(list_key), today.lists.get(list_key)]
    const chosen = switched.has(listName(list_key)) ? (young ?? old) : (old ?? young)
    return chosen ? [[list_key, chosen] as const] : []
  })
  return { ...base, lists: new Map(lists) }
}
