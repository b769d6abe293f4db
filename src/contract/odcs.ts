/**
 * Contracts in the Open Data Contract Standard 3.1, as JSON. What the standard has a place for is written there; the rest are custom
 * properties, so that a contract survives the way out and back. Reading lists what does not map.
 */
import { escapeStep, isObject } from '#registry/content/json-pointer.ts'
import type { Contract } from './model.ts'

const API_VERSION = 'v3.1.0'

export interface OdcsNames {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly status: string
}

type Json = Record<string, unknown>

/** Members of a contract without a place in the standard. */
const CUSTOM_MEMBERS = [
  'capability',
  'records_at',
  'max_records',
  'max_bytes',
  'unknown_members',
  'partial',
  'facts',
  'provenance',
  'checks',
  'examples',
  'counter_examples',
] as const

const LOGICAL_TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  object: 'object',
  array: 'array',
}
/** Keywords of JSON Schema that are options of a logical type under the same name. */
const OPTIONS = [
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
] as const
const TIME_TYPES: Readonly<Record<string, string>> = { date: 'date', 'date-time': 'timestamp', time: 'time' }
const TIME_FORMATS: Readonly<Record<string, string>> = { date: 'date', timestamp: 'date-time', time: 'time' }

export function toOdcs(contract: Contract, names: OdcsNames): Json {
  const custom = CUSTOM_MEMBERS.filter((member) => contract[member] !== undefined).map((member) => ({
    property: member,
    value: contract[member],
  }))
  const personal = new Set((contract.personal ?? []).map(({ at }) => at))
  return {
    apiVersion: API_VERSION,
    kind: 'DataContract',
    id: names.id,
    name: names.name,
    version: names.version,
    status: names.status,
    schema: [{ name: 'record', logicalType: 'object', ...writeObject(contract.record, '', personal) }],
    ...(contract.freshness && {
      slaProperties: [{ property: 'freshness', value: contract.freshness.max_age_s, unit: 's' }],
    }),
    customProperties: [...custom, { property: 'record', value: contract.record }],
  }
}

function writeObject(schema: Json, pointer: string, personal: ReadonlySet<string>): Json {
  const { properties, required } = schema
  if (!isObject(properties)) return {}
  const names = new Set(Array.isArray(required) ? required : [])
  return {
    properties: Object.entries(properties).map(([name, member]) => ({
      name,
      ...(names.has(name) && { required: true }),
      ...writeProperty(isObject(member) ? member : {}, `${pointer}/${escapeStep(name)}`, personal),
    })),
  }
}

function writeProperty(schema: Json, pointer: string, personal: ReadonlySet<string>): Json {
  const types = [schema['type'] ?? []].flat().filter((type) => type !== 'null') as string[]
  const [type] = types
  const format = schema['format'] as string | undefined
  const time = type === 'string' && format !== undefined ? TIME_TYPES[format] : undefined
  const options = Object.fromEntries(
    OPTIONS.filter((name) => schema[name] !== undefined && !(name === 'format' && time)).map((name) => [
      name,
      schema[name],
    ]),
  )
  const items = isObject(schema['items']) ? schema['items'] : null
  return {
    ...(types.length === 1 && { logicalType: time ?? LOGICAL_TYPES[type as string] ?? 'string' }),
    ...(Object.keys(options).length > 0 && { logicalTypeOptions: options }),
    ...(typeof schema['title'] === 'string' && { businessName: schema['title'] }),
    ...(typeof schema['description'] === 'string' && { description: schema['description'] }),
    ...(personal.has(pointer) && { classification: 'personal' }),
    ...(Array.isArray(schema['enum']) && {
      quality: [{ type: 'library', metric: 'invalidValues', arguments: { validValues: schema['enum'] }, mustBe: 0 }],
    }),
    ...writeObject(schema, pointer, personal),
    ...(items && { items: writeProperty(items, `${pointer}/*`, personal) }),
  }
}

export interface OdcsReading {
  readonly contract: Json
  /** Members of the document that have no equivalent here. */
  readonly unmapped: readonly { readonly pointer: string; readonly reason: string }[]
}

const KNOWN_MEMBERS = new Set([
  ...['apiVersion', 'kind', 'id', 'name', 'version', 'status', 'schema', 'slaProperties', 'customProperties'],
])
const KNOWN_PROPERTY_MEMBERS = new Set([
  ...['name', 'logicalType', 'logicalTypeOptions', 'required', 'businessName', 'description', 'classification'],
  ...['properties', 'items', 'quality', 'physicalType', 'examples', 'primaryKey', 'primaryKeyPosition', 'unique', 'id'],
])
const PERSONAL_CLASSES = new Set(['personal', 'pii', 'restricted', 'confidential'])
const MAX_UNMAPPED = 500

/** A draft, with what is not taken over. The draft is checked like any other. */
export function fromOdcs(document: unknown): OdcsReading {
  const reader = new OdcsReader()
  return { contract: reader.read(document), unmapped: reader.unmapped }
}

class OdcsReader {
  readonly unmapped: { pointer: string; reason: string }[] = []
  readonly #personal: { at: string; guessed?: boolean }[] = []

  read(document: unknown): Json {
    if (!isObject(document) || document['kind'] !== 'DataContract') {
      this.#skip('', 'This is not a data contract of ODCS: "kind" must be "DataContract".')
      return {}
    }
    if (typeof document['apiVersion'] !== 'string' || !/^v3\./.test(document['apiVersion'])) {
      this.#skip('/apiVersion', 'Only version 3 of the standard is read.')
    }
    for (const name of Object.keys(document)) {
      if (!KNOWN_MEMBERS.has(name)) this.#skip(`/${escapeStep(name)}`, 'A contract of this system has no such part.')
    }
    const custom = this.#readCustom(document['customProperties'])
    const schemas = Array.isArray(document['schema']) ? document['schema'] : []
    schemas.slice(1).forEach((_, index) => {
      this.#skip(`/schema/${index + 1}`, 'A contract describes one kind of record: the first schema is read.')
    })
    const record = isObject(schemas[0]) ? this.#readObject(schemas[0], '/schema/0', '') : {}
    const freshness = this.#readFreshness(document['slaProperties'])
    return {
      records_at: '',
      facts: [],
      examples: [],
      ...custom,
      record: custom['record'] ?? { type: 'object', ...record },
      ...(this.#personal.length > 0 && { personal: this.#personal }),
      ...(freshness && { freshness }),
    }
  }

  #skip(pointer: string, reason: string): void {
    if (this.unmapped.length < MAX_UNMAPPED) this.unmapped.push({ pointer, reason })
  }

  #readCustom(properties: unknown): Json {
    const known = new Set<string>([...CUSTOM_MEMBERS, 'record'])
    const members: Json = {}
    if (!Array.isArray(properties)) return members
    properties.forEach((each, index) => {
      const { property, value } = isObject(each) ? each : {}
      if (typeof property === 'string' && known.has(property)) members[property] = value
      else this.#skip(`/customProperties/${index}`, 'This property is not one of a contract.')
    })
    return members
  }

  #readFreshness(properties: unknown): Json | null {
    let found: Json | null = null
    if (!Array.isArray(properties)) return found
    properties.forEach((each, index) => {
      const { property, value, unit } = isObject(each) ? each : {}
      const seconds = typeof value === 'number' ? toSeconds(value, String(unit ?? 's')) : null
      if (property === 'freshness' && seconds !== null) found = { max_age_s: seconds, measured_from: 'as_of' }
      else this.#skip(`/slaProperties/${index}`, 'Only freshness with a number and a unit of time is read.')
    })
    return found
  }

  #readObject(schema: Json, at: string, pointer: string): Json {
    const list = Array.isArray(schema['properties']) ? schema['properties'].filter(isObject) : []
    const properties: Json = {}
    const required: string[] = []
    list.forEach((property, index) => {
      const { name } = property
      if (typeof name !== 'string') {
        this.#skip(`${at}/properties/${index}`, 'A property needs a name.')
        return
      }
      if (property['required'] === true) required.push(name)
      const member = this.#readProperty(property, `${at}/properties/${index}`, `${pointer}/${escapeStep(name)}`)
      Object.defineProperty(properties, name, { value: member, enumerable: true, writable: true, configurable: true })
    })
    return { ...(required.length > 0 && { required }), ...(list.length > 0 && { properties }) }
  }

  #readProperty(property: Json, at: string, pointer: string): Json {
    for (const name of Object.keys(property)) {
      if (!KNOWN_PROPERTY_MEMBERS.has(name)) this.#skip(`${at}/${escapeStep(name)}`, 'This is not read.')
    }
    const logical = property['logicalType']
    const time = typeof logical === 'string' ? TIME_FORMATS[logical] : undefined
    const type = time ? 'string' : typeof logical === 'string' ? LOGICAL_TYPES[logical] : undefined
    if (logical !== undefined && type === undefined) this.#skip(`${at}/logicalType`, 'This logical type is not known.')
    const { classification } = property
    if (typeof classification === 'string' && PERSONAL_CLASSES.has(classification.toLowerCase())) {
      this.#personal.push({ at: pointer, ...(classification.toLowerCase() !== 'personal' && { guessed: true }) })
    }
    const items = isObject(property['items'])
      ? { items: this.#readProperty(property['items'], `${at}/items`, `${pointer}/*`) }
      : {}
    return {
      ...(type !== undefined && { type }),
      ...(time && { format: time }),
      ...this.#readOptions(property['logicalTypeOptions'], at),
      ...(typeof property['businessName'] === 'string' && { title: property['businessName'] }),
      ...(typeof property['description'] === 'string' && { description: property['description'] }),
      ...this.#readValues(property['quality'], at),
      ...(type === 'object' && this.#readObject(property, at, pointer)),
      ...(type === 'array' && items),
    }
  }

  #readOptions(options: unknown, at: string): Json {
    if (!isObject(options)) return {}
    const known = new Set<string>(OPTIONS)
    const entries = Object.entries(options).filter(([name]) => {
      if (known.has(name)) return true
      this.#skip(`${at}/logicalTypeOptions/${escapeStep(name)}`, 'This option is not read.')
      return false
    })
    return Object.fromEntries(entries)
  }

  #readValues(quality: unknown, at: string): Json {
    if (!Array.isArray(quality)) return {}
    let values: unknown[] | null = null
    quality.forEach((rule, index) => {
      const given = isObject(rule) && isObject(rule['arguments']) ? rule['arguments']['validValues'] : undefined
      if (isObject(rule) && rule['metric'] === 'invalidValues' && Array.isArray(given)) values = given
      else this.#skip(`${at}/quality/${index}`, 'Only a list of valid values is read; write the rule as a check.')
    })
    return values ? { enum: values } : {}
  }
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1,
  sec: 1,
  second: 1,
  seconds: 1,
  m: 60,
  min: 60,
  minute: 60,
  minutes: 60,
  h: 3600,
  hour: 3600,
  hours: 3600,
  d: 86_400,
  day: 86_400,
  days: 86_400,
}

const toSeconds = (value: number, unit: string): number | null =>
  UNITS[unit.toLowerCase()] === undefined ? null : Math.round(value * (UNITS[unit.toLowerCase()] as number))
