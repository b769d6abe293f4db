/**
 * Why a decision comes out differently than before: of all things that have a new version, each is switched alone from the old
 * to the new one and the decision made again. What has an effect only together with others is found by taking away whatever
 * is not needed for the new outcome.
 */
import { canonicalJson } from '#kernel/canonical-json.ts'

export interface AttributionInput<T> {
  /** Names of what has an old and a new version: lists, the matrix. */
  readonly names: readonly string[]
  /** The outcome with the new version of those switched and the old one of all others. */
  decide(switched: ReadonlySet<string>): T
  /** True from when nothing more is to be tried. */
  isOver?(): boolean
}

export interface Attribution<T> {
  readonly before: T
  readonly after: T
  readonly changed: boolean
  /** Each changes the outcome by itself; `whole` when that is the new outcome already. */
  readonly alone: readonly { readonly name: string; readonly outcome: T; readonly whole: boolean }[]
  /** Needed for the new outcome, though without effect when switched alone. */
  readonly joint: readonly string[]
  readonly without_effect: readonly string[]
  /** What it does was not found out: it was over before. */
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
    : findMinimalSet(text(after), names, effective, (switched) => text(decide(switched)), isOver)
  const inert = single.map(({ name }) => name).filter((name) => !effective.has(name))
  const joint = inert.filter((name) => needed?.has(name))
  const without_effect = needed ? inert.filter((name) => !needed.has(name)) : []
  const classified = new Set([...effective, ...joint, ...without_effect])
  const untried = names.filter((name) => !classified.has(name))
  return { before, after, changed: text(before) !== text(after), alone, joint, without_effect, untried }
}

/**
 * A smallest set in that none of it can be left out; what has an effect alone is kept longest, since it explains more. Null
 * when it was over before that was known.
 */
function findMinimalSet(
  after: string,
  names: readonly string[],
  effective: ReadonlySet<string>,
  outcome: (switched: ReadonlySet<string>) => string,
  isOver: () => boolean,
): Set<string> | null {
  const needed = new Set(names)
  const inert = names.filter((name) => !effective.has(name))
  for (const name of [...inert, ...effective]) {
    if (isOver()) return null
    needed.delete(name)
    if (outcome(needed) !== after) needed.add(name)
  }
  return needed
}
