/**
 * Decides whether a version of a plugin can run: the package, the code, its golden examples, and what it asks of the tenant. The
 * command line uses the same validation without a tenant.
 */
import { isHostAllowed } from '#kernel/plugin-policy.ts'
import { isTitleText } from '#kernel/schema.ts'
import { findOptionFaults } from '#registry/adapter-options.ts'
import { formatReaders } from '#registry/adapters/plugin-adapter.ts'
import type { SandboxResult } from '#sandbox/model.ts'
import { type ExampleRunner, listExampleCalls, runExamples, toReason } from './examples.ts'
import {
  ENTRY_POINTS,
  getHosts,
  getLimits,
  getListUses,
  getSchemas,
  MIN_EXAMPLES,
  type PluginManifest,
} from './manifest.ts'
import type { PluginPackage } from './package.ts'
import type { Reason } from './reasons.ts'
import { checkSignature, type Publisher } from './signature.ts'
import { fillDefaults, findSchemaFaults, findValueFaults, type ValueSchema } from './value-schema.ts'

/** What only the caller knows. A member that is null is not checked. */
export interface ValidationContext {
  /** Lists in force, with the names of their members; undefined for a list that is not in force. */
  readonly findFields: ((list_key: string) => readonly string[] | undefined) | null
  readonly granted_lists: readonly string[] | null
  readonly granted_hosts: readonly string[] | null
  /** Hosts that the operator allows for plugins; `*.name` for all names below. */
  readonly operator_hosts: readonly string[] | null
  /** Why the contract refuses the payloads of the examples, or that it is not in force; empty when it accepts them. */
  readonly checkContract: ((contract_key: string, payloads: readonly unknown[]) => Promise<readonly string[]>) | null
  /** Whose signatures count. */
  readonly publishers: readonly Publisher[] | null
  readonly require_signed: boolean
  /** Configuration in force. It is not checked where the schema of the package cannot be used. */
  readonly configuration?: unknown
  /** It was valid under another build of the sandbox: rules for new packages do not hold for it. */
  readonly was_accepted?: boolean
  /** Takes turns with other callers in the sandbox. */
  readonly caller?: string
  readonly signal?: AbortSignal
}

/** Without a tenant: what the package says is checked, not what an installation has. */
export const OFFLINE_CONTEXT: ValidationContext = {
  findFields: null,
  granted_lists: null,
  granted_hosts: null,
  operator_hosts: null,
  checkContract: null,
  publishers: null,
  require_signed: false,
}

export interface PluginValidation {
  readonly valid: boolean
  readonly reasons: readonly Reason[]
  /** The most fuel that an example used; null when none ran. */
  readonly fuel_max: number | null
}

export async function validatePlugin(
  runner: ExampleRunner,
  plugin: PluginPackage,
  context: ValidationContext,
): Promise<PluginValidation> {
  const { manifest } = plugin
  const rules = context.was_accepted ? [] : [...checkSchemas(manifest), ...checkTexts(manifest)]
  const reasons: Reason[] = [...rules, ...checkFormat(manifest)]
  const isUsable = !reasons.some(isSchemaReason)
  if (reasons.length === 0) reasons.push(...checkExampleValues(manifest))
  const loaded = await checkLoading(runner, plugin, context)
  reasons.push(...loaded.reasons)
  let { fuel_max }: { fuel_max: number | null } = loaded
  // Examples of a module that cannot be loaded, or under schemas that cannot be used, would repeat the same reason.
  if (
    loaded.reasons.length === 0 &&
    reasons.every(({ code }) => code !== 'schema_invalid' && code !== 'examples_missing')
  ) {
    const examples = await runExamples(runner, plugin, context)
    reasons.push(...examples.reasons)
    fuel_max = examples.fuel_max
  }
  reasons.push(...(await checkContext(plugin, isUsable ? context : { ...context, configuration: undefined })))
  return { valid: reasons.length === 0, reasons, fuel_max }
}

/** Nothing can be checked by a schema with such a reason. */
export const isSchemaReason = ({ code }: { readonly code: string }): boolean => code === 'schema_invalid'

/** What only the caller knows: signature, permissions, the configuration in force and the contract. Runs no code. */
export async function checkContext(plugin: PluginPackage, context: TenantContext): Promise<Reason[]> {
  const { manifest } = plugin
  const { publishers, require_signed } = context
  const signature = publishers && checkSignature(plugin, publishers, require_signed)
  return [
    ...(signature ? [signature] : []),
    ...checkPermissions(manifest, context),
    ...checkConfiguration(manifest, context),
    ...(await checkContract(manifest, context)),
  ]
}

/** What the reader of the format does not take. */
function checkFormat(manifest: PluginManifest): Reason[] {
  if (manifest.kind !== 'adapter') return []
  const { kind, options = {} } = manifest.format
  return findOptionFaults(formatReaders[kind], options).map(({ pointer, detail }) => ({
    ...{ code: 'manifest_invalid', pointer: `/format/options${pointer}`, message: `This value ${detail}.` },
  }))
}

const checkSchemas = (manifest: PluginManifest): Reason[] =>
  getSchemas(manifest).flatMap(([member, schema]) =>
    findSchemaFaults(schema).map(
      ({ pointer, message }): Reason => ({ code: 'schema_invalid', pointer: `/${member}${pointer}`, message }),
    ),
  )

/** Texts that are shown beside others. */
function checkTexts({ title, description, examples = [] }: PluginManifest): Reason[] {
  const texts: [pointer: string, text: string | undefined][] = [
    ['/title', title],
    ['/description', description],
    ...examples.map(({ name }, index): [string, string] => [`/examples/${index}/name`, name]),
  ]
  const message = 'This text is not visible, or has characters that change the direction of the text beside it.'
  return texts.flatMap(([pointer, text]) =>
    text === undefined || isTitleText(text) ? [] : [{ code: 'manifest_invalid', pointer, message }],
  )
}

/** The examples' own inputs and configuration. */
function checkExampleValues(manifest: PluginManifest): Reason[] {
  const examples = manifest.examples ?? []
  if (examples.length < MIN_EXAMPLES) {
    const message = `A plugin has at least ${MIN_EXAMPLES} golden examples; this one has ${examples.length}.`
    return [{ code: 'examples_missing', pointer: '/examples', message }]
  }
  const inputs: ValueSchema = 'inputs' in manifest ? manifest.inputs : {}
  const config: ValueSchema = manifest.config_schema ?? {}
  const toConfig = (given: unknown): unknown => fillDefaults(config, given ?? {})
  const toReasons = (schema: ValueSchema, value: unknown, at: string): Reason[] =>
    findValueFaults(schema, value)
      .slice(0, 1)
      .map(({ pointer, message }) => ({
        ...{ code: 'manifest_invalid', pointer: `${at}${pointer}`, message: `This value ${message}.` },
      }))
  return examples.flatMap((example, index) => [
    ...(manifest.kind === 'adapter' ? [] : toReasons(inputs, example.input, `/examples/${index}/input`)),
    ...toReasons(config, toConfig(example.config), `/examples/${index}/config`),
  ])
}

function checkConfiguration(
  { config_schema = {} }: PluginManifest,
  { configuration }: Pick<ValidationContext, 'configuration'>,
): Reason[] {
  if (configuration === undefined) return []
  const [fault] = findValueFaults(config_schema, fillDefaults(config_schema, configuration))
  if (!fault) return []
  const message = `The configuration in force does not fit: ${fault.pointer || 'it'} ${fault.message}.`
  return [{ code: 'schema_invalid', pointer: '/config_schema', message }]
}

type TenantContext = Omit<ValidationContext, 'caller' | 'signal'>

function checkPermissions(manifest: PluginManifest, context: TenantContext): Reason[] {
  const lists = getListUses(manifest).flatMap(({ list_key, fields }, index): Reason[] => {
    const pointer = `/permissions/lists/${index}`
    const known = context.findFields?.(list_key)
    if (context.findFields && !known) {
      return [{ code: 'list_unknown', pointer, message: `There is no list ${list_key} in force.` }]
    }
    const missing = known ? fields.find((field) => !known.includes(field)) : undefined
    if (missing !== undefined) {
      return [{ code: 'list_unknown', pointer, message: `The list ${list_key} has no member ${missing}.` }]
    }
    if (context.granted_lists && !context.granted_lists.includes(list_key)) {
      return [{ code: 'permission_missing', pointer, message: `The list ${list_key} is not granted to the plugin.` }]
    }
    return []
  })
  const hosts = getHosts(manifest).flatMap((host, index): Reason[] => {
    const pointer = `/permissions/hosts/${index}`
    if (context.operator_hosts && !isHostAllowed(context.operator_hosts, host)) {
      return [{ code: 'permission_missing', pointer, message: `The operator does not allow plugins to use ${host}.` }]
    }
    if (context.granted_hosts && !context.granted_hosts.includes(host)) {
      return [{ code: 'permission_missing', pointer, message: `The host ${host} is not granted to the plugin.` }]
    }
    return []
  })
  return [...lists, ...hosts]
}

async function checkLoading(
  runner: ExampleRunner,
  { manifest, source }: PluginPackage,
  context: ValidationContext,
): Promise<{ readonly reasons: readonly Reason[]; readonly fuel_max: number | null }> {
  const limits = getLimits(manifest)
  let fuel_max: number | null = null
  for (const entry_point of ENTRY_POINTS[manifest.kind]) {
    const items = [{ args: [], load_only: true }]
    const [result] = (await runner.run(
      { source, entry_point, items, limits, refuses_own_import: !context.was_accepted },
      context,
    )) as [SandboxResult]
    fuel_max = Math.max(fuel_max ?? 0, result.fuel)
    if (!result.ok && result.reason !== 'needs_entries') return { reasons: [toReason(result)], fuel_max }
  }
  return { reasons: [], fuel_max }
}

async function checkContract(manifest: PluginManifest, { checkContract }: TenantContext): Promise<Reason[]> {
  if (manifest.kind !== 'provider' || !checkContract) return []
  const payloads = listExampleCalls(manifest)
    .filter(({ entry_point }) => entry_point === 'parse')
    .map(({ expected }) => expected)
  const faults = await checkContract(manifest.contract_key, payloads)
  return faults.map((message) => ({ code: 'contract_violated', pointer: '/contract_key', message }))
}
