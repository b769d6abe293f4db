/** Describes example inputs of a finding as a sentence. Pure. */
import type { Input } from '#console/ui/decision/definition-model.ts'
import { formatEntryValue } from '#console/ui/type-texts.ts'

/** For a finding in a table, only the inputs of its columns are described. */
export function describeExample(
  example: Readonly<Record<string, unknown>>,
  inputs: readonly Pick<Input, 'name' | 'title' | 'unit'>[],
  columns: readonly string[] = [],
): string {
  const read = Object.keys(example).filter((name) => columns.includes(name))
  const names = read.length > 0 && read.length === columns.length ? columns : Object.keys(example)
  const parts = names.map((name) => {
    const input = inputs.find((one) => one.name === name)
    const value = example[name]
    const words = Array.isArray(value) && value.length === 0 ? 'empty' : formatEntryValue(value)
    return `${input?.title || name} is ${words}${input?.unit ? ` ${input.unit}` : ''}`
  })
  const last = parts.pop() ?? ''
  return parts.length === 0 ? last : `${parts.join(', ')} and ${last}`
}
