/**
 * Groups the values of an input into equivalence classes: two values are in one class when every probe gives the same result for
 * both. Most inputs have a handful of classes, whatever the number of their values.
 */
import { MAX_ITEMS } from '../engine-1/definition-shape.ts'
import type { InputValue } from '../engine-1/inputs.ts'
import { toColumn } from '../engine-1/unary.ts'
import type { BoundLists, Input } from '../model.ts'
import { type Atom, buildAtoms, type Distinctions, NotAnalysable, toWireValue } from './atoms.ts'

/** A function of an input that the definition depends on. */
export interface Probe {
  /** The results for values in their order, or for items of a list. */
  labels(atoms: readonly Atom[]): readonly string[]
  /** The result for a list, from the results of its items; it must not depend on their order. */
  join(labels: readonly string[]): string
}

export interface ValueClass {
  /** One of its values, as tests see it. */
  readonly held: InputValue
  /** The same in the form of the API. */
  readonly wire: unknown
  /** Its atoms; empty for a list. */
  readonly atoms: readonly Atom[]
  /** The results of all probes. */
  readonly labels: readonly string[]
}

export interface Dimension {
  readonly input: Input
  readonly classes: readonly ValueClass[]
}

export interface InputProbes {
  readonly by: Distinctions
  readonly probes: readonly Probe[]
}

const MAX_LIST_CLASSES = 4096

/** Throws NotAnalysable when the values cannot be enumerated. */
export function buildDimension(input: Input, { by, probes }: InputProbes, lists: BoundLists): Dimension {
  const column = toColumn(input)
  const atoms = buildAtoms(input, by, lists)
  if (atoms.length === 0) throw new NotAnalysable('the list of its allowed values is empty')
  const answers = probes.map((probe) => probe.labels(atoms))
  const groups = new Map<string, { labels: readonly string[]; atoms: Atom[] }>()
  for (const [at, atom] of atoms.entries()) {
    const labels = answers.map((each) => each[at] as string)
    const signature = labels.join('\n')
    const group = groups.get(signature)
    if (group) group.atoms.push(atom)
    else groups.set(signature, { labels, atoms: [atom] })
  }
  const singles = [...groups.values()].map(({ labels, atoms }) => {
    const held = (atoms[0] as Atom).value
    return { labels, atoms, held, wire: toWireValue(held, column) }
  })
  if (!column.many) return { input, classes: singles }
  return { input, classes: buildListClasses(input, singles, probes) }
}

interface ItemClass {
  readonly labels: readonly string[]
  readonly atoms: readonly Atom[]
}

/**
 * Extends lists item by item without repetition, since a repeated item changes no result. A list with the same results as a list of
 * at most its length is not extended, since the same items can be added to the other one.
 */
function buildListClasses(input: Input, items: readonly ItemClass[], probes: readonly Probe[]): ValueClass[] {
  const seen = new Set<string>()
  const classes: ValueClass[] = []
  const isNew = (list: readonly ItemClass[]): boolean => {
    const labels = probes.map((probe, i) => probe.join(list.map((item) => item.labels[i] as string)))
    const signature = labels.join('\n')
    if (seen.has(signature)) return false
    seen.add(signature)
    const held = list.map((item, n) => item.atoms[countOccurrences(list.slice(0, n), item)]?.value as string)
    classes.push({ held, wire: held, atoms: [], labels })
    if (classes.length > MAX_LIST_CLASSES) {
      throw new NotAnalysable(`its lists differ in more than ${MAX_LIST_CLASSES} ways`)
    }
    return true
  }
  const most = input.max_items ?? MAX_ITEMS
  let longest: ItemClass[][] = isNew([]) ? [[]] : []
  for (let length = 1; length <= most && longest.length > 0; length++) {
    longest = longest.flatMap((shorter) =>
      items
        .filter((item) => countOccurrences(shorter, item) < item.atoms.length)
        .map((item) => [...shorter, item])
        .filter(isNew),
    )
  }
  return classes
}

const countOccurrences = (list: readonly ItemClass[], item: ItemClass): number =>
  list.filter((each) => each === item).length
