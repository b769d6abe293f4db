/** Factors that a plugin scores: their shape, their check, and how the result of the plugin becomes an outcome. */
import type { AddedForm, FactorContext, ScoreFunction } from '../engine-1/added-form.ts'
import {
  factorForms,
  factorMembers,
  MAX_SCORE_BPS,
  NameShape,
  optionalFactorMembers,
} from '../engine-1/definition-shape.ts'
import { compileReason } from '../engine-1/factors.ts'
import { RESULT_MISSING, type Run } from '../engine-1/run.ts'
import { formatForMessage, integer, listOf, object, tagged, text } from '../engine-1/shape.ts'
import { LIST_KEY } from '../engine-1/unary-parser.ts'
import type { PluginFactor, PluginResult } from '../model.ts'

const MAX_PLUGIN_INPUTS = 50
/** Values of a result that the sentence about it names. */
const MAX_NAMED_VALUES = 8

const PluginKey = text(100, LIST_KEY, 'the key of a plugin: small letters, digits, "-" and "_"')
const Score = integer(0, MAX_SCORE_BPS)

export const pluginForm: AddedForm = {
  factor_shape: tagged('form', {
    ...factorForms,
    plugin: object(
      {
        ...factorMembers,
        plugin_key: PluginKey,
        inputs: listOf(NameShape, 1, MAX_PLUGIN_INPUTS),
        score_min_bps: Score,
        score_max_bps: Score,
      },
      optionalFactorMembers,
    ),
  }),
  check({ inputs, score_min_bps, score_max_bps }, pointer, names, findings) {
    inputs.forEach((name, index) => {
      const at = `${pointer}/inputs/${index}`
      names.input(name, at, findings)
      if (inputs.indexOf(name) < index) findings.error('name_repeated', at, `"${name}" is named twice.`)
    })
    if (score_min_bps > score_max_bps) {
      findings.error('bounds_crossed', `${pointer}/score_min_bps`, 'The lowest score is above the highest.')
    }
  },
  bind: bindPluginFactor,
}

function bindPluginFactor(factor: PluginFactor, context: FactorContext): ScoreFunction {
  const { key, plugin_key } = factor
  const { pointer, subjects } = context
  const reason = compileReason(factor, context, `The plugin ${plugin_key} gives {score_bps} basis points.`)

  const request = (run: Run): null => {
    const inputs = Object.fromEntries(subjects.map(({ reference, slot }) => [reference, run.raw_values[slot]]))
    run.needs.push({ factor: key, pointer, plugin_key, inputs })
    return run.fail(RESULT_MISSING, pointer, `${factor.title}: the plugin ${plugin_key} has not been run.`)
  }

  return (run) => {
    const result = run.plugins?.get(key)
    if (!result) return request(run)
    const { score_bps, values, read } = result
    if (score_bps < factor.score_min_bps || score_bps > factor.score_max_bps) {
      throw new RangeError(`${pointer}: the score ${score_bps} of ${plugin_key} is outside the range of the factor`)
    }
    for (const { list_key, key: entry_key, hash } of read) {
      run.used.push({ list_key, key: entry_key, field: null, value: hash !== null, hash })
    }
    run.score_bps = score_bps
    const found = read.map(({ list_key, key: entry_key, hash }) => ({
      ...{ list_key, key: entry_key, field: null, value: hash !== null },
    }))
    return {
      score_bps,
      reason: appendValues(reason(run), result),
      reason_code: result.reason_code ?? factor.reason_code ?? null,
      ...(found.length > 0 && { found }),
      plugin: { plugin_key, values },
    }
  }
}

/** `… employees 0, registered "2024-01-31".` Names only texts, numbers, true and false. */
function appendValues(sentence: string, { values }: PluginResult): string {
  const named = Object.keys(values)
    .sort()
    .flatMap((name) => (isScalar(values[name]) ? [`${name} ${formatForMessage(values[name])}`] : []))
  return named.length === 0 ? sentence : `${sentence} Values: ${named.slice(0, MAX_NAMED_VALUES).join(', ')}.`
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)
