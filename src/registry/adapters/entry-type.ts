/** How the types of shipped adapters are written down: a definition the registry can publish as it is. */
import type { TypeDefinition } from '../types/definition.ts'

export type EntryType = TypeDefinition

type Written = Omit<EntryType, 'type_version' | 'list_rules' | 'fields' | 'schema'> & {
  readonly schema: object
  /** What people call the members, by pointer. */
  readonly titles: Readonly<Record<string, string>>
}

export function entryType({ titles, schema, ...rest }: Written): EntryType {
  return {
    ...rest,
    type_version: 1,
    schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema },
    list_rules: {},
    fields: Object.fromEntries(Object.entries(titles).map(([pointer, title]) => [pointer, { title }])),
  }
}
