/** What readers of facts lose when one version of a contract follows another. */
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Contract, Fact } from './model.ts'

export interface FactChange {
  readonly fact: string
  readonly change: 'removed' | 'type_changed' | 'values_changed' | 'became_optional' | 'moved' | 'added'
  /** Something that reads the fact may fail or decide otherwise. */
  readonly breaks_readers: boolean
}

/** Changes in the order of the facts of the earlier version, then the new ones. */
export function compareFacts(
  before: Pick<Contract, 'facts'> | null,
  after: Pick<Contract, 'facts'> | null,
): FactChange[] {
  const later = new Map((after?.facts ?? []).map((fact) => [fact.name, fact]))
  const earlier = new Set((before?.facts ?? []).map(({ name }) => name))
  return [
    ...(before?.facts ?? []).flatMap((fact): FactChange[] => {
      const next = later.get(fact.name)
      const change = next ? findChange(fact, next) : 'removed'
      return change === null ? [] : [{ fact: fact.name, change, breaks_readers: change !== 'moved' }]
    }),
    ...(after?.facts ?? [])
      .filter(({ name }) => !earlier.has(name))
      .map(({ name }): FactChange => ({ fact: name, change: 'added', breaks_readers: false })),
  ]
}

function findChange(before: Fact, after: Fact): FactChange['change'] | null {
  if (before.type !== after.type || (before.scale ?? 2) !== (after.scale ?? 2)) return 'type_changed'
  if (!isWithin(before, after)) return 'values_changed'
  if (before.required && !after.required) return 'became_optional'
  return before.at === after.at ? null : 'moved'
}

/** The later fact has no value that the earlier one could not have. */
function isWithin(before: Fact, after: Fact): boolean {
  if (before.values) {
    const allowed = new Set(before.values)
    if (!after.values?.every((value) => allowed.has(value))) return false
  } else if (before.one_of && canonicalJson(before.one_of) !== canonicalJson(after.one_of ?? null)) {
    if (!after.values) return false
  }
  return isBoundKept(before, after, 'minimum') && isBoundKept(before, after, 'maximum')
}

/** Bounds of decimals and dates are texts of equal form, so a changed one counts as wider; a closer look is not needed. */
const isBoundKept = (before: Fact, after: Fact, bound: 'minimum' | 'maximum'): boolean => {
  const [old, young] = [before[bound], after[bound]]
  if (old === undefined || old === young) return true
  if (typeof old !== 'number' || typeof young !== 'number') return false
  return bound === 'minimum' ? young >= old : young <= old
}
