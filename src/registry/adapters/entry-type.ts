/** How the types of shipped adapters are written down: a definition the registry can publish as it is. */
import { Type } from '#kernel/schema.ts'
import type { TypeDefinition } from '../types/type-definition.ts'

export type EntryType = TypeDefinition

type Written = Omit<EntryType, 'type_version' | 'trim' | 'list_rules' | 'fields' | 'schema'> & {
  readonly schema: object
  /** What people call the members, by pointer. */
  readonly titles: Readonly<Record<string, string>>
  /** Arrays whose order means nothing, by pointer. */
  readonly sets?: readonly string[]
  /** Texts whose line breaks and runs of blanks mean nothing, by pointer. */
  readonly collapsed?: readonly string[]
}

export function entryType({ titles, sets = [], collapsed = [], schema, ...rest }: Written): EntryType {
  return {
    ...rest,
    type_version: 1,
    schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema },
    trim: true,
    list_rules: {},
    fields: Object.fromEntries(
      Object.entries(titles).map(([pointer, title]) => [
        pointer,
        {
          title,
          ...(sets.includes(pointer) && { set: true as const }),
          ...(collapsed.includes(pointer) && { whitespace: 'collapse' as const }),
        },
      ]),
    ),
  }
}

/** Text of a published list. Without the pattern of request bodies: what cannot be stored is refused for every type alike. */
export const textSchema = (max: number, options: Record<string, unknown> = {}) =>
  Type.String({ minLength: 1, maxLength: max, ...options })
