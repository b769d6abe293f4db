/** Converts a type definition between form fields and the request body. Pure. */
import type { Schemas } from '@probity/client'
import { isJson } from '#console/ui/json-position.ts'
import type { DatasetType } from '#console/ui/registry-queries.ts'

export const jsonParts = ['schema', 'trim', 'fields', 'list_rules', 'examples'] as const
export type JsonPart = (typeof jsonParts)[number]

export interface Draft extends Readonly<Record<JsonPart, string>> {
  readonly title: string
  readonly description: string
  /** Pointers separated by spaces. */
  readonly key: string
}

type Content = Omit<
  Schemas['DatasetType'],
  'type_key' | 'type_version' | 'origin' | 'definition_hash' | 'compatibility'
>

const indented = (value: unknown): string => JSON.stringify(value, null, 2)

export const blank: Draft = {
  title: '',
  description: '',
  key: '/code',
  schema: indented({
    type: 'object',
    properties: { code: { type: 'string', maxLength: 20 }, name: { type: 'string', maxLength: 200 } },
    required: ['code', 'name'],
    additionalProperties: false,
  }),
  trim: '[]',
  fields: indented({ '/code': { title: 'Code' }, '/name': { title: 'Name' } }),
  list_rules: '{}',
  examples: indented([{ code: 'A1', name: 'An example' }]),
}

export const toDraft = (type: DatasetType): Draft => ({
  title: type.title,
  description: type.description,
  key: type.key_pointers.join(' '),
  schema: indented(type.schema),
  trim: indented(type.trim ?? []),
  fields: indented(type.fields),
  list_rules: indented(type.list_rules),
  examples: indented(type.examples),
})

/** The parts that are not valid JSON. */
export const findInvalidJson = (draft: Draft): JsonPart[] => jsonParts.filter((part) => !isJson(draft[part]))

export const parseContent = ({ title, description, key, ...parts }: Draft): Content =>
  ({
    title,
    description,
    key_pointers: key.split(/[\s,]+/).filter((pointer) => pointer !== ''),
    ...Object.fromEntries(jsonParts.map((part) => [part, JSON.parse(parts[part])])),
  }) as Content

export interface PartFault {
  /** Relative to the part. */
  readonly pointer: string
  readonly detail: string
}

/** `#/schema/properties/x` concerns the part `schema`, at `/properties/x`. */
export function groupFaults(errors: readonly { pointer: string; detail: string }[], part: string): PartFault[] {
  const start = `#/${part}`
  return errors
    .filter(({ pointer }) => pointer === start || pointer.startsWith(`${start}/`))
    .map(({ pointer, detail }) => ({ pointer: pointer.slice(start.length), detail }))
}
