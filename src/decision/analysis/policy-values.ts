/** Resolves policy values of a definition. The lists are already bound, so missing values have been reported. */
import { createFieldReader } from '../engine-1/binder.ts'
import type { Scalar } from '../engine-1/unary.ts'
import type { BoundLists, PolicyValue } from '../model.ts'

export function resolveValue(value: PolicyValue, lists: BoundLists): Scalar {
  if (typeof value !== 'object') return value
  const entry = lists.get(value.list_key)?.get(value.key)
  if (!entry) throw new Error(`The list ${value.list_key} has no entry ${value.key}, although it was bound`)
  return createFieldReader(value.field)(entry.entry) as Scalar
}

export const resolveValues = (values: readonly PolicyValue[], lists: BoundLists): Scalar[] =>
  values.map((value) => resolveValue(value, lists))
