/** The options an adapter is given: those that were sent, with the mapping that comes from the type. */
import { pointerOf } from '../../../registry/content/pointer.ts'
import { mappingOf } from '../../../registry/export.ts'
import type { TypeDefinition } from '../../../registry/types/definition.ts'

const TABLES = new Set(['csv', 'tsv', 'xlsx'])

/**
 * A table without a stated mapping is read by the members of the type: its headers are their names. Members that constants or
 * elements fill are not looked for.
 */
export function optionsFor(
  adapter_key: string,
  options: Record<string, unknown>,
  type: TypeDefinition | null,
): Record<string, unknown> {
  const isMapped = options['columns'] !== undefined || options['header'] === false
  if (!TABLES.has(adapter_key) || type === null || isMapped) return options
  const { constants = {}, elements = [] } = options as {
    constants?: Record<string, unknown>
    elements?: readonly { readonly pointer: string }[]
  }
  const filled = [...Object.keys(constants).map((name) => pointerOf([name])), ...elements.map(({ pointer }) => pointer)]
  const isFilled = (pointer: string) =>
    filled.some((one) => pointer === one || pointer.startsWith(`${one}/`) || one.startsWith(`${pointer}/`))
  return { ...options, columns: mappingOf(type).filter(({ pointer }) => pointer === '' || !isFilled(pointer)) }
}
