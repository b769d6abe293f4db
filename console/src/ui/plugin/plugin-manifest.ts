/** The manifest of a plugin, which an invalid version may have in any shape. Pure. */

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const toObject = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})

export interface ListWish {
  readonly list_key: string
  /** Empty: every field. */
  readonly fields: readonly string[]
}

export interface ReadManifest {
  readonly entry: string | null
  readonly lists: readonly ListWish[]
  readonly hosts: readonly string[]
  readonly contract_key: string | null
  /** In basis points. */
  readonly score: { readonly min: number; readonly max: number } | null
  readonly fuel: number | null
  readonly memory_mib: number | null
  readonly inputs: readonly NamedInput[]
  readonly format: string | null
  readonly config_schema: Readonly<Record<string, unknown>> | null
}

export interface NamedInput {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
}

const toText = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const toNumber = (value: unknown): number | null => (typeof value === 'number' ? value : null)
const toTexts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

function toListWishes(value: unknown): readonly ListWish[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((one): ListWish[] => {
    if (typeof one === 'string') return [{ list_key: one, fields: [] }]
    const list_key = toText(toObject(one)['list_key'])
    return list_key === null ? [] : [{ list_key, fields: toTexts(toObject(one)['fields']) }]
  })
}

function toInputs(schema: unknown): readonly NamedInput[] {
  const { properties, required } = toObject(schema)
  const wanted = toTexts(required)
  return Object.entries(toObject(properties)).map(([name, of]) => {
    const { type, enum: values } = toObject(of)
    const described = Array.isArray(values)
      ? values.map(String).join(', ')
      : (toText(type) ?? toTexts(type).join(' or '))
    return { name, type: described || 'any value', isRequired: wanted.includes(name) }
  })
}

export function readManifest(manifest: unknown): ReadManifest {
  const { entry, permissions, contract_key, score_min_bps, score_max_bps, limits, inputs, format, config_schema } =
    toObject(manifest)
  const [min, max] = [toNumber(score_min_bps), toNumber(score_max_bps)]
  return {
    entry: toText(entry),
    lists: toListWishes(toObject(permissions)['lists']),
    hosts: toTexts(toObject(permissions)['hosts']),
    contract_key: toText(contract_key),
    score: min === null || max === null ? null : { min, max },
    fuel: toNumber(toObject(limits)['fuel']),
    memory_mib: toNumber(toObject(limits)['memory_mib']),
    inputs: toInputs(inputs),
    format: toText(toObject(format)['kind']),
    config_schema: isObject(config_schema) ? config_schema : null,
  }
}

/** The order in which people write a manifest: stored objects keep none. */
const ORDER = ['plugin_key', 'version', 'kind', 'api', 'entry', 'title', 'description', 'inputs', 'outputs']

export function sortManifest(manifest: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const rank = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length)
  return Object.fromEntries(Object.entries(manifest).toSorted(([a], [b]) => rank(a) - rank(b)))
}
