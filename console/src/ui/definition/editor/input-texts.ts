/** Describes an input in a few words, and converts it to another type. Pure. */
import type { Input, InputType } from '#console/ui/decision/definition-model.ts'
import { formatCount } from '#console/ui/format.ts'

export const inputTypes: Readonly<Record<InputType, string>> = {
  enum: 'one of a set of values',
  list: 'several values',
  boolean: 'yes or no',
  integer: 'whole number',
  decimal: 'decimal number',
  date: 'date',
  string: 'text',
}

export function describeInput({ type, values, one_of, unit, minimum, maximum, default: fallback }: Input): string {
  return [
    inputTypes[type] ?? String(type),
    one_of && `from ${one_of.list_key}`,
    values && formatCount(values.length, 'value'),
    unit && `in ${unit}`,
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum}`,
    fallback !== undefined && 'optional',
  ]
    .filter(Boolean)
    .join(', ')
}

/** The initial default of an optional input. */
export function firstDefault({ type, values, minimum }: Input): unknown {
  switch (type) {
    case 'list':
      return []
    case 'boolean':
      return false
    case 'integer':
      return typeof minimum === 'number' ? minimum : 0
    case 'decimal':
      return typeof minimum === 'string' ? minimum : '0'
    default:
      return values?.[0] ?? ''
  }
}

/** Changes the type of an input and keeps the members that still apply. */
export function changeType(input: Input, type: InputType): Input {
  const { name, title, description, unit, values, one_of, from } = input
  const isChosen = type === 'enum' || type === 'list'
  const isMeasured = type === 'integer' || type === 'decimal'
  return {
    name,
    title,
    type,
    ...(description !== undefined && { description }),
    ...(isMeasured && unit !== undefined && { unit }),
    ...(isChosen && (one_of ? { one_of } : { values: values ?? [] })),
    ...(from && { from }),
  }
}
