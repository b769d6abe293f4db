/** Whether a version of a plugin fits the factor of a matrix: kind, range of scores, names and types of inputs. */
import { listPluginFactors } from '#decision/analysis/plugin-scores.ts'
import type { CompiledDefinition, Finding, Input, InputType, PluginFactor } from '#decision/model.ts'
import type { PluginManifest } from '#plugin/manifest.ts'
import type { ValueSchema } from '#plugin/value-schema.ts'

/** Why the factors of a matrix that name the plugin cannot be scored by this version of it. */
export function findFactorMisfits(
  { definition }: CompiledDefinition,
  plugin_key: string,
  manifest: PluginManifest,
): Finding[] {
  if (definition.family !== 'matrix') return []
  return listPluginFactors(definition)
    .filter((factor) => factor.plugin_key === plugin_key)
    .flatMap((factor) =>
      findMisfits(factor, manifest, definition.inputs, `/factors/${definition.factors.indexOf(factor)}`),
    )
    .filter(({ severity }) => severity === 'error')
}

/** Also warnings, about values that the matrix takes and the plugin does not. */
export function findMisfits(
  factor: PluginFactor,
  manifest: PluginManifest,
  declared: readonly Input[],
  pointer: string,
): Finding[] {
  const findings: Finding[] = []
  const report = (code: string, member: string, message: string, severity: Finding['severity'] = 'error'): void => {
    findings.push({ code, pointer: `${pointer}/${member}`, message, severity })
  }
  const { plugin_key, inputs } = factor
  if (manifest.kind !== 'factor') {
    report('plugin_kind', 'plugin_key', `${plugin_key} is a plugin of kind ${manifest.kind}, not factor.`)
    return findings
  }
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
    const beyond = schema && input && fault === null ? findRangeFault(input, schema) : null
    if (beyond !== null)
      report('plugin_input_range', `inputs/${index}`, `The plugin ${plugin_key} ${beyond}`, 'warning')
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

/** Such values are refused when they are decided on, so that the matrix has no answer for them. */
function findRangeFault({ name, minimum, maximum }: Input, schema: ValueSchema): string | null {
  const [lowest, highest] = [Number(minimum ?? -Infinity), Number(maximum ?? Infinity)]
  if (schema.minimum !== undefined && lowest < schema.minimum) {
    return `takes no value of "${name}" below ${schema.minimum}: decisions on such a value are refused.`
  }
  if (schema.maximum !== undefined && highest > schema.maximum) {
    return `takes no value of "${name}" above ${schema.maximum}: decisions on such a value are refused.`
  }
  return null
}
