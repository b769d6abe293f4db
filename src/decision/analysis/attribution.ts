/**
 * Attributes a changed outcome to changed versions: each is switched alone from old to new and the decision is repeated. Versions
 * that have an effect only together are found by removing those that the new outcome does not need.
 */
import { canonicalJson } from '#kernel/canonical-json.ts'

export interface AttributionInput<T> {
  /** Names of changed versions: lists, the matrix. */
  readonly names: readonly string[]
  /** The outcome with the new version of `switched` and the old version of all others. */
  decide(switched: ReadonlySet<string>): T
  /** True when the time is over. */
  isOver?(): boolean
}

export interface Attribution<T> {
  readonly before: T
  readonly after: T
  readonly changed: boolean
  /** Each changes the outcome alone; `whole` when it gives the complete new outcome. */
  readonly alone: readonly { readonly name: string; readonly outcome: T; readonly whole: boolean }[]
  /** Needed for the new outcome, but without effect alone. */
  readonly joint: readonly string[]
  readonly without_effect: readonly string[]
  /** Not tried, since the time was over. */
  readonly untried: readonly string[]
}

/** Makes at most two decisions per name, and two more. */
export function attribute<T>({ names, decide, isOver = () => false }: AttributionInput<T>): Attribution<T> {
  const text = (outcome: T): string => canonicalJson(outcome)
  const before = decide(new Set())
  const after = decide(new Set(names))
  const single = names.flatMap((name) => (isOver() ? [] : [{ name, outcome: decide(new Set([name])) }]))
  const alone = single
    .filter(({ outcome }) => text(outcome) !== text(before))
    .map(({ name, outcome }) => ({ name, outcome, whole: text(outcome) === text(after) }))
  const effective = new Set(alone.map(({ name }) => name))
  const isWhole = alone.some(({ whole }) => whole) || text(before) === text(after)
  const needed = isWhole
    ? new Set<string>()
    : findMinimalSet(names, effective, (switched) => text(decide(switched)) === text(after), isOver)
  const inert = single.map(({ name }) => name).filter((name) => !effective.has(name))
  const joint = inert.filter((name) => needed?.has(name))
  const without_effect = needed ? inert.filter((name) => !needed.has(name)) : []
  const classified = new Set([...effective, ...joint, ...without_effect])
  const untried = names.filter((name) => !classified.has(name))
  return { before, after, changed: text(before) !== text(after), alone, joint, without_effect, untried }
}

/**
 * A minimal set: none of it can be left out. Names with an effect alone are removed last, since they explain more. Null when the
 * time was over.
 */
function findMinimalSet(
  names: readonly string[],
  effective: ReadonlySet<string>,
  hasNewOutcome: (switched: ReadonlySet<string>) => boolean,
  isOver: () => boolean,
): Set<string> | null {
  const needed = new Set(names)
  const inert = names.filter((name) => !effective.has(name))
  for (const name of [...inert, ...effective]) {
    if (isOver()) return null
    needed.delete(name)
    if (!hasNewOutcome(needed)) needed.add(name)
  }
  return needed
}
