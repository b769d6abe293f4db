/** What an input is, in a few words. Pure. */
import type { Input, InputType } from '#console/ui/decision/definition-model.ts'
import { formatCount } from '#console/ui/format.ts'

export const inputTypes: Readonly<Record<InputType, string>> = {
  enum: 'one of several values',
  list: 'several values at once',
  boolean: 'yes or no',
  integer: 'a whole number',
  decimal: 'a number with decimals',
  date: 'a date',
  string: 'a text',
}

export function describeInput({ type, values, one_of, unit, minimum, maximum, default: fallback }: Input): string {
  return [
    inputTypes[type] ?? String(type),
    one_of && `from ${one_of.list_key}`,
    values && formatCount(values.length, 'value'),
    unit && `in ${unit}`,
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum}`,
    fallback !== undefined && 'may be left out',
  ]
    .filter(Boolean)
    .join(', ')
}

/** What an input is taken to be when it is left out, to begin with. */
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

/** An input by another type keeps what still has a meaning. */
export function changeType(input: Input, type: InputType): Input {
  const { name, title, description, unit, values, one_of } = input
  const isChosen = type === 'enum' || type === 'list'
  const isMeasured = type === 'integer' || type === 'decimal'
  return {
    name,
    title,
    type,
    ...(description !== undefined && { description }),
    ...(isMeasured && unit !== undefined && { unit }),
    ...(isChosen && (one_of ? { one_of } : { values: values ?? [] })),
  }
}
