/** plugin.json: what a plugin is, what it may use, and how it behaves in its golden examples. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { closed, integer, listOf, oneOf, Slug, type Static, type TSchema, Type, text } from '#kernel/schema.ts'
import { describeSchemaFault, omitImplied } from '#kernel/schema-messages.ts'
import { isObject } from '#registry/content/json-pointer.ts'
import type { EntryPoint, PluginKind, SandboxLimits } from '#sandbox/model.ts'
import type { Reason } from './reasons.ts'
import { countPatternSteps, type ValueSchema } from './value-schema.ts'

export const PLUGIN_KINDS = ['factor', 'adapter', 'provider'] as const satisfies readonly PluginKind[]
export const PLUGIN_API = 1
export const MIN_EXAMPLES = 3
export const MAX_FUEL = 2000
/** Of all examples of one exported function together: each runs three times. */
export const MAX_EXAMPLES_FUEL = 10_000
export const MAX_MEMORY_MIB = 32
const MAX_SCORE_BPS = 10_000
const SEMVER = '^(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})(-[0-9A-Za-z.-]{1,50})?$'
const HOST = '^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$'
const FILE_NAME = '^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$'

const Schema = Type.Unsafe<ValueSchema>({ type: 'object', description: 'JSON Schema, as far as plugins can use it.' })
const Value = Type.Unsafe<unknown>({})
const Entries = Type.Record(
  Type.String({ maxLength: 100 }),
  Type.Record(
    Type.String({ maxLength: 400 }),
    Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'] }),
  ),
)

export const ListPermission = Type.Unsafe<string | { readonly list_key: string; readonly fields?: readonly string[] }>({
  anyOf: [Slug(), closed({ list_key: Slug(), fields: Type.Optional(listOf(text(200), 50, { uniqueItems: true })) })],
})

const base = {
  plugin_key: Slug(),
  version: Type.String({
    pattern: SEMVER,
    maxLength: 100,
    description: 'For readers: versions are numbered on upload.',
  }),
  api: integer(PLUGIN_API, PLUGIN_API),
  entry: Type.String({ pattern: FILE_NAME, maxLength: 100, description: 'The module in the package.' }),
  title: text(200),
  description: Type.Optional(text(2000)),
  config_schema: Type.Optional(Schema),
  limits: Type.Optional(
    closed({
      fuel: Type.Optional(integer(1, MAX_FUEL, { description: 'About 10,000 operations each.' })),
      memory_mib: Type.Optional(integer(20, MAX_MEMORY_MIB)),
    }),
  ),
}
const exampleBase = { name: text(200), config: Type.Optional(Value) }
const examples = <S extends TSchema>(schema: S) => listOf(schema, 200)

export const FactorExample = closed({ ...exampleBase, input: Value, lists: Type.Optional(Entries), output: Value })
export const FactorManifest = closed({
  ...base,
  kind: oneOf(['factor']),
  inputs: Schema,
  outputs: Type.Optional(Schema),
  score_min_bps: integer(0, MAX_SCORE_BPS),
  score_max_bps: integer(0, MAX_SCORE_BPS),
  permissions: Type.Optional(closed({ lists: Type.Optional(listOf(ListPermission, 20)) })),
  examples: examples(FactorExample),
})

export const SOURCE_FORMATS = ['csv', 'json', 'xml', 'xlsx'] as const
export const AdapterExample = closed({
  ...exampleBase,
  input: closed({ chunk: Value, state: Type.Optional(Value) }),
  output: Value,
})
export const AdapterManifest = closed({
  ...base,
  kind: oneOf(['adapter']),
  outputs: Type.Optional(Schema),
  format: Type.Unsafe<{ readonly kind: (typeof SOURCE_FORMATS)[number]; readonly options?: Record<string, unknown> }>(
    closed({
      kind: oneOf(SOURCE_FORMATS),
      options: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
    }),
  ),
  examples: examples(AdapterExample),
})

export const ProviderExample = closed({
  ...exampleBase,
  input: Value,
  request: Type.Unsafe<unknown>({ description: 'What request() returns.' }),
  response: Type.Unsafe<unknown>({ description: 'What parse() gets: status, headers and body.' }),
  output: Type.Unsafe<unknown>({ description: 'The payload that parse() returns.' }),
})
export const ProviderPluginManifest = closed({
  ...base,
  kind: oneOf(['provider']),
  inputs: Schema,
  outputs: Type.Optional(Schema),
  contract_key: Slug(),
  permissions: closed({
    hosts: listOf(Type.String({ pattern: HOST, maxLength: 253 }), 20, { minItems: 1, uniqueItems: true }),
  }),
  examples: examples(ProviderExample),
})

export type FactorManifest = Static<typeof FactorManifest>
export type AdapterManifest = Static<typeof AdapterManifest>
export type ProviderPluginManifest = Static<typeof ProviderPluginManifest>
export type PluginManifest = FactorManifest | AdapterManifest | ProviderPluginManifest

const schemas = { factor: FactorManifest, adapter: AdapterManifest, provider: ProviderPluginManifest } as const

export const ENTRY_POINTS: Readonly<Record<PluginKind, readonly EntryPoint[]>> = {
  factor: ['factor'],
  adapter: ['adapter'],
  provider: ['request', 'parse'],
}

/** Members of a manifest that are schemas. A kind of plugin has some of them. */
export const SCHEMA_MEMBERS = ['inputs', 'outputs', 'config_schema'] as const

export const getSchemas = (manifest: PluginManifest): readonly (readonly [member: string, schema: unknown])[] =>
  SCHEMA_MEMBERS.flatMap((member) => {
    const schema = (manifest as { readonly [name: string]: unknown })[member]
    return schema === undefined ? [] : [[member, schema] as const]
  })

/** Of the patterns in all schemas. */
export const countManifestSteps = (manifest: PluginManifest): number =>
  getSchemas(manifest).reduce((sum, [, schema]) => sum + countPatternSteps(schema), 0)

const DEFAULT_FUEL = 200

export const getLimits = ({ limits }: Pick<PluginManifest, 'limits'>): SandboxLimits => ({
  fuel: limits?.fuel ?? DEFAULT_FUEL,
  memory_mib: limits?.memory_mib ?? MAX_MEMORY_MIB,
})

export interface ListUse {
  readonly list_key: string
  readonly fields: readonly string[]
}

export function getListUses(manifest: PluginManifest): readonly ListUse[] {
  const lists = manifest.kind === 'factor' ? (manifest.permissions?.lists ?? []) : []
  return lists.map((each) => (typeof each === 'string' ? { list_key: each, fields: [] } : { fields: [], ...each }))
}

export const getHosts = (manifest: PluginManifest): readonly string[] =>
  manifest.kind === 'provider' ? manifest.permissions.hosts : []

/** Faults of the manifest itself; those of its schemas and examples are found later. */
export function checkPluginManifest(manifest: unknown): Reason[] {
  if (!isObject(manifest))
    return [{ code: 'manifest_invalid', pointer: '', message: 'plugin.json must hold an object.' }]
  const { kind, api } = manifest
  if (kind !== undefined && !PLUGIN_KINDS.includes(kind as PluginKind)) {
    const message = `There is no kind ${describeValue(kind)}; the kinds are ${PLUGIN_KINDS.join(', ')}.`
    return [{ code: 'kind_unknown', pointer: '/kind', message }]
  }
  if (api !== undefined && api !== PLUGIN_API) {
    const message = `There is no plugin interface ${describeValue(api)}; this version has ${PLUGIN_API}.`
    return [{ code: 'kind_unknown', pointer: '/api', message }]
  }
  if (kind === undefined) return [{ code: 'manifest_invalid', pointer: '/kind', message: 'This member is required.' }]
  return [...checkShape(manifest, kind as PluginKind), ...checkRange(manifest)]
}

const describeValue = (value: unknown): string => (JSON.stringify(value) ?? '').slice(0, 50)

const validators = new Map<PluginKind, ValidateFunction>()
/** The schemas are our own, and the meta-schema takes longer to compile than any of them. */
const AJV_OPTIONS = { allErrors: true, strict: false, meta: false, validateSchema: false }
const MAX_REASONS = 50

function checkShape(manifest: object, kind: PluginKind): Reason[] {
  const validate = validators.get(kind) ?? new Ajv2020(AJV_OPTIONS).compile(schemas[kind])
  validators.set(kind, validate)
  if (validate(manifest)) return []
  const errors = omitImplied(validate.errors ?? []).filter(
    // A plugin without examples has the reason `examples_missing`.
    ({ keyword, params }) => keyword !== 'anyOf' && params['missingProperty'] !== 'examples',
  )
  return errors.slice(0, MAX_REASONS).map((error) => {
    const [pointer, message] = describeSchemaFault(error)
    return { code: 'manifest_invalid', pointer, message }
  })
}

function checkRange({ score_min_bps, score_max_bps }: { score_min_bps?: unknown; score_max_bps?: unknown }): Reason[] {
  if (typeof score_min_bps !== 'number' || typeof score_max_bps !== 'number' || score_min_bps <= score_max_bps)
    return []
  const message = 'The lowest score must not be above the highest.'
  return [{ code: 'manifest_invalid', pointer: '/score_min_bps', message }]
}
