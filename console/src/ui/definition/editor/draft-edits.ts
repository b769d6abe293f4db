/** Edits of a definition: reordering parts, and renaming with all references. Pure. */
import type { Definition } from '#console/ui/decision/definition-model.ts'

export const replaceItem = <T>(items: readonly T[], place: number, change: (item: T) => T): T[] =>
  items.map((item, at) => (at === place ? change(item) : item))

export const removeItem = <T>(items: readonly T[], place: number): T[] => items.filter((_, at) => at !== place)

export function moveItem<T>(items: readonly T[], place: number, by: -1 | 1): readonly T[] {
  const [one, two] = [items[place], items[place + by]]
  if (one === undefined || two === undefined) return items
  return items.map((item, at) => (at === place ? two : at === place + by ? one : item))
}

/** An unused name such as `input_3`. */
export function findFreeName(taken: readonly string[], beginning: string): string {
  let number = taken.length + 1
  while (taken.includes(`${beginning}${number}`)) number++
  return `${beginning}${number}`
}

/** Sets a member, or removes it if the value is empty. */
export function setMember<T extends object, K extends keyof T>(of: T, member: K, value: T[K] | undefined | ''): T {
  const { [member]: _, ...rest } = of
  return (value === undefined || value === '' ? rest : { ...rest, [member]: value }) as T
}

/** Renames an input and all its references in columns, factors, triggers and reasons. */
export function renameInput(draft: Definition, place: number, to: string): Definition {
  const names = (draft.inputs ?? []).map(({ name }) => name)
  const renamed = renameReferences(draft, names, place, (name) => name, to)
  return { ...renamed, inputs: replaceItem(renamed.inputs ?? [], place, (input) => ({ ...input, name: to })) }
}

/** Renames a factor and all references to its score. */
export function renameFactor(draft: Definition, place: number, to: string): Definition {
  const keys = (draft.factors ?? []).map(({ key }) => key)
  const renamed = renameReferences(draft, keys, place, (key) => `factor.${key}`, to)
  return { ...renamed, factors: replaceItem(renamed.factors ?? [], place, (factor) => ({ ...factor, key: to })) }
}

/** While two parts have the same name, references stay with the other one. */
function renameReferences(
  draft: Definition,
  names: readonly string[],
  place: number,
  asReference: (name: string) => string,
  to: string,
): Definition {
  const from = names[place] ?? ''
  const isShared = names.filter((name) => name === from).length > 1
  return from === '' || isShared ? draft : (replaceReferences(draft, asReference(from), asReference(to)) as Definition)
}

const LISTS_OF_NAMES = ['columns', 'inputs']
const SINGLE_NAMES = ['input', 'of']

/** A copy in which references to one name are replaced by another. */
function replaceReferences(part: unknown, from: string, to: string): unknown {
  if (Array.isArray(part)) return part.map((item) => replaceReferences(item, from, to))
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part).map(([member, value]) => {
      if (LISTS_OF_NAMES.includes(member) && Array.isArray(value) && typeof value[0] === 'string')
        return [member, value.map((name) => (name === from ? to : name))]
      if (SINGLE_NAMES.includes(member) && value === from) return [member, to]
      if (member === 'reason' && typeof value === 'string') return [member, value.replaceAll(`{${from}}`, `{${to}}`)]
      return [member, replaceReferences(value, from, to)]
    }),
  )
}
