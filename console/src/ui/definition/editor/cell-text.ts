/**
 * Converts an output of a decision table to and from cell text: a number, a word, yes or no, or a list reference. Pure.
 */
import { isListValue, type Value } from '#console/ui/decision/definition-model.ts'

const ARROW = ' > '

/** `{list_key, key, field}` is written `list > key > field`. */
export const formatCell = (value: Value | undefined): string => {
  if (value === undefined) return ''
  return isListValue(value) ? [value.list_key, value.key, value.field].join(ARROW) : String(value)
}

export function parseCell(text: string): Value {
  const [list_key, key, field, ...rest] = text.split('>').map((part) => part.trim())
  if (list_key && key && field && rest.length === 0) return { list_key, key, field }
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text
}
