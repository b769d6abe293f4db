/** Builds the types of shipped adapters: definitions that the registry can publish unchanged. */
import { Type } from '#kernel/schema.ts'
import type { TypeDefinition } from '../types/type-definition.ts'

export type EntryType = TypeDefinition

type Written = Omit<EntryType, 'type_version' | 'trim' | 'list_rules' | 'fields' | 'schema'> & {
  readonly schema: object
  /** Titles of members, by pointer. */
  readonly titles: Readonly<Record<string, string>>
  /** Arrays that are sets: their order is ignored, by pointer. */
  readonly sets?: readonly string[]
  /** Texts whose white space is collapsed, by pointer. */
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

/** Text of a published list. Unlike request bodies it has no pattern: text that cannot be stored is refused for every type. */
export const textSchema = (max: number, options: Record<string, unknown> = {}) =>
  Type.String({ minLength: 1, maxLength: max, ...options })
