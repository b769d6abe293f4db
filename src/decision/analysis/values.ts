/** Policy values of a definition as plain values. Lists have been bound before, so what they lack is found already. */
import { fieldReader } from '../engine-1/binder.ts'
import type { Scalar } from '../engine-1/unary.ts'
import type { Lists, Value } from '../model.ts'

export function plainValue(value: Value, lists: Lists): Scalar {
  if (typeof value !== 'object') return value
  const entry = lists.get(value.list_key)?.get(value.key)
  if (!entry) throw new Error(`The list ${value.list_key} has no entry ${value.key}, although it was bound`)
  return fieldReader(value.field)(entry.entry) as Scalar
}

export const plainValues = (values: readonly Value[], lists: Lists): Scalar[] =>
  values.map((value) => plainValue(value, lists))
