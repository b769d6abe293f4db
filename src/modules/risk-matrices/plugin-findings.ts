/** Whether the plugins that a matrix names are in force and fit it: kind, range of scores, and inputs. */
import { listPluginFactors } from '#decision/analysis/plugin-scores.ts'
import type { CompiledDefinition, Finding, Input, InputType, PluginFactor } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import type { resolver } from '#modules/definitions/index.ts'
import { bindPlugin, type pluginModel } from '#modules/plugins/index.ts'
import type { ValueSchema } from '#plugin/value-schema.ts'
import type { BindCapabilities, BoundPlugins } from './binding/bound-plugins.ts'

export const toPluginFinding = (problem: Problem, pointer: string): Finding => ({
  code: 'plugin_invalid',
  pointer,
  message: problem.extra.detail ?? 'The plugin cannot run.',
  severity: 'error',
})

interface CheckedPlugins {
  readonly plugins: BoundPlugins
  readonly findings: readonly Finding[]
  readonly problem?: Problem
}

/** A plugin that cannot run is a finding here: a draft is checked, not decided. */
export async function checkPlugins(
  kernel: BindCapabilities,
  tx: Tx,
  { definition }: CompiledDefinition,
  { valid_at }: resolver.Clocks,
): Promise<CheckedPlugins> {
  const plugins = new Map<string, pluginModel.BoundPlugin>()
  const findings: Finding[] = []
  let problem: Problem | undefined
  for (const factor of listPluginFactors(definition)) {
    const index = definition.family === 'matrix' ? definition.factors.indexOf(factor) : 0
    const pointer = `/factors/${index}`
    try {
      const { plugin_key } = factor
      const wanted = { plugin_key, kind: 'factor' as const, ...(valid_at !== undefined && { valid_at }) }
      const bound = plugins.get(plugin_key) ?? (await bindPlugin(kernel, tx, wanted))
      plugins.set(plugin_key, bound)
      findings.push(...findMisfits(factor, bound, definition.inputs, pointer))
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'plugin_invalid') throw error
      problem ??= error
      findings.push(toPluginFinding(error, `${pointer}/plugin_key`))
    }
  }
  return { plugins, findings, ...(problem && { problem }) }
}

function findMisfits(
  factor: PluginFactor,
  { manifest }: pluginModel.BoundPlugin,
  declared: readonly Input[],
  pointer: string,
): Finding[] {
  const findings: Finding[] = []
  const report = (code: string, member: string, message: string): void => {
    findings.push({ code, pointer: `${pointer}/${member}`, message, severity: 'error' })
  }
  const { plugin_key, inputs } = factor
  if (manifest.kind !== 'factor') throw new TypeError(`${plugin_key} is not a plugin of kind factor`)
  const { score_min_bps, score_max_bps } = manifest
  if (score_min_bps < factor.score_min_bps || score_max_bps > factor.score_max_bps) {
    const range = `${score_min_bps} to ${score_max_bps}`
    report('plugin_range', 'score_max_bps', `The plugin ${plugin_key} declares scores from ${range}: name that range.`)
  }
  const { properties = {}, required = [], additionalProperties } = manifest.inputs
  for (const name of required.filter((each) => !inputs.includes(each))) {
    report('plugin_input_missing', 'inputs', `The plugin ${plugin_key} needs the input "${name}".`)
  }
  for (const [index, name] of inputs.entries()) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    const input = declared.find((each) => each.name === name)
    if (!schema && additionalProperties === false)
      report('plugin_input_unknown', `inputs/${index}`, `The plugin ${plugin_key} has no input "${name}".`)
    const fault = schema && input ? findTypeFault(input, schema) : null
    if (fault !== null) report('plugin_input_type', `inputs/${index}`, `The plugin ${plugin_key} ${fault}`)
  }
  return findings
}

/** How values of inputs travel as JSON. */
const JSON_TYPES: Readonly<Record<InputType, readonly string[]>> = {
  enum: ['string'],
  string: ['string'],
  date: ['string'],
  decimal: ['string'],
  integer: ['integer', 'number'],
  boolean: ['boolean'],
  list: ['array'],
}

function findTypeFault(input: Input, schema: ValueSchema): string | null {
  const types: readonly string[] | null = schema.type === undefined ? null : [schema.type].flat()
  if (types && !JSON_TYPES[input.type].some((type) => types.includes(type))) {
    return `expects "${input.name}" as ${types.join(' or ')}, but it is of type ${input.type}, sent as ${JSON_TYPES[input.type][0]}.`
  }
  const other = schema.enum && input.values?.find((value) => !schema.enum?.includes(value))
  return other === undefined ? null : `does not know the value ${JSON.stringify(other)} of "${input.name}".`
}
