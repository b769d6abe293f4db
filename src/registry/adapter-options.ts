/** Checks the options a caller sends for an adapter against its schema and against each other. */
import { findSchemaErrors } from '#kernel/http/validation.ts'
import type { Adapter } from './adapter.ts'

/** The faults of the options, each with a JSON pointer into them. Faults of the schema come first. */
export function findOptionFaults(
  { options: schema, checkOptions }: Pick<Adapter, 'options' | 'checkOptions'>,
  options: Record<string, unknown>,
) {
  const shape = findSchemaErrors('body', schema, structuredClone(options))
  if (shape.length === 0) return [...(checkOptions?.(options) ?? [])]
  return shape.map(({ pointer, detail }) => ({ pointer: pointer?.slice(1) ?? '', detail }))
}
