/**
 * Checks a definition without lists: shape, names, references, tests, limits. It accepts any JSON and never throws; a definition
 * without findings can be compiled.
 */
import { escapeStep, isObject } from '#registry/content/json-pointer.ts'
import type { DecisionTable, DefinitionFamily, Factor, Finding, Input, Trigger } from '../model.ts'
import { type AddedForm, isAdded } from './added-form.ts'
import { checkInput, checkSentence, checkTest, DeclaredNames } from './check-parts.ts'
import { checkScore, checkTable } from './check-table.ts'
import {
  ActionsShape,
  AggregationShape,
  BandsShape,
  FactorShape,
  InputShape,
  MAX_FACTORS,
  MAX_INPUTS,
  MAX_SCORE_BPS,
  MAX_TRIGGERS,
  ReasonCodeShape,
  ReasonShape,
  TableShape,
  TriggerShape,
} from './definition-shape.ts'
import type { Placeholder } from './sentence-template.ts'
import { anything, FindingCollector, listOf, object, type Shape } from './shape.ts'

const any: Shape = anything
const MatrixShape = object(
  {
    inputs: listOf(any, 1, MAX_INPUTS),
    factors: listOf(any, 1, MAX_FACTORS),
    aggregation: AggregationShape,
    bands: BandsShape,
    triggers: listOf(any, 0, MAX_TRIGGERS),
  },
  { family: any },
)
const RuleShape = object(
  { inputs: listOf(any, 1, MAX_INPUTS), table: any, reason_code: ReasonCodeShape, reason: ReasonShape },
  { family: any, required_actions: ActionsShape },
)

export function check(definition: unknown, family: DefinitionFamily, added?: AddedForm): Finding[] {
  const findings = new FindingCollector()
  ;(family === 'matrix' ? MatrixShape : RuleShape)(definition, '', findings)
  if (!isObject(definition)) return findings.list
  if (definition['family'] !== undefined && definition['family'] !== family) {
    findings.error('family_wrong', '/family', `This is to be a ${family}.`)
  }
  const names = checkInputs(definition['inputs'], findings)
  if (family === 'matrix') checkMatrix(definition, names, findings, added)
  else checkRule(definition, names, findings)
  return findings.list
}

/** The elements of an optional array, up to the limit. */
const elements = (value: unknown, max: number): unknown[] =>
  Array.isArray(value) ? Array.from(value.slice(0, max)) : []

function checkInputs(inputs: unknown, findings: FindingCollector): DeclaredNames {
  const names = new DeclaredNames()
  elements(inputs, MAX_INPUTS).forEach((given, index) => {
    const pointer = `/inputs/${index}`
    const fits = InputShape(given, pointer, findings) && checkInput(given as Input, pointer, findings)
    const name = isObject(given) ? given['name'] : undefined
    if (typeof name !== 'string') return
    if (!names.declare(name, fits ? (given as Input) : null)) {
      findings.error('name_repeated', `${pointer}/name`, `The input "${name}" is declared twice.`)
    }
  })
  return names
}

function checkMatrix(
  definition: Record<string, unknown>,
  names: DeclaredNames,
  findings: FindingCollector,
  added: AddedForm | undefined,
): void {
  const shape = added?.factor_shape ?? FactorShape
  const { aggregation } = definition
  const factors = elements(definition['factors'], MAX_FACTORS)
  const keys = factors.map((factor) => (isObject(factor) ? factor['key'] : undefined))
  for (const key of keys) names.all_factors.add(key)
  const good: Factor[] = []
  factors.forEach((given, index) => {
    const pointer = `/factors/${index}`
    if (shape(given, pointer, findings)) {
      const factor = given as Factor
      good.push(factor)
      checkFactor(factor, pointer, names, findings)
      if (isAdded(factor)) added?.check(factor, pointer, names, findings)
      checkWeight(factor, aggregation, pointer, findings)
    }
    const key = keys[index]
    if (typeof key !== 'string') return
    if (keys.indexOf(key) < index) {
      findings.error('name_repeated', `${pointer}/key`, `The factor "${key}" is declared twice.`)
    }
    // Added after the check, so that a factor sees earlier factors only.
    names.factors.add(key)
  })
  if (aggregation === 'weighted_sum' && good.length === factors.length) checkWeights(good, findings)
  checkTriggers(definition['triggers'], names, findings)
}

function checkFactor(factor: Factor, pointer: string, names: DeclaredNames, findings: FindingCollector): void {
  const words: Placeholder[] = ['input', 'value', 'score_bps']
  if (factor.form === 'lookup' || factor.form === 'presence') words.push('list_key')
  const sentence = (text: string | undefined, at: string) => checkSentence(text, at, { words, names }, findings)
  sentence(factor.reason, `${pointer}/reason`)
  if ('on_missing' in factor && factor.on_missing !== 'fail') {
    checkScore(factor.on_missing.default, `${pointer}/on_missing/default`, findings)
    sentence(factor.on_missing.reason, `${pointer}/on_missing/reason`)
  }
  switch (factor.form) {
    case 'lookup':
      checkKeyInputs(factor.inputs, `${pointer}/inputs`, names, findings)
      break
    case 'table':
      checkTable(factor.table, `${pointer}/table`, { names, words, scores: true }, findings)
      break
    case 'presence':
      checkKeyInputs([factor.input], `${pointer}/input`, names, findings)
      for (const member of ['present', 'absent', 'at_most'] as const) {
        const value = factor[member]
        if (value !== undefined) checkScore(value, `${pointer}/${member}`, findings)
      }
      if (factor.at_most !== undefined && !factor.count) {
        findings.error('member_useless', `${pointer}/at_most`, '"at_most" has a meaning only with "count": true.')
      }
      break
    case 'score_map':
      checkScoreMap(factor, pointer, names, findings)
  }
}

/** Inputs whose values form the key of an entry. */
function checkKeyInputs(
  inputs: readonly string[],
  pointer: string,
  names: DeclaredNames,
  findings: FindingCollector,
): void {
  inputs.forEach((name, index) => {
    const at = pointer.endsWith('/input') ? pointer : `${pointer}/${index}`
    const input = names.input(name, at, findings)
    if (!input) return
    if (input.type === 'decimal') {
      findings.error('key_impossible', at, `"${name}" is a decimal, which is never the key of a list.`)
    }
    if (input.type === 'list' && inputs.length > 1) {
      findings.error('key_impossible', at, `"${name}" is a list: it cannot be one part of a key among others.`)
    }
    if (inputs.indexOf(name) < index) findings.error('name_repeated', at, `"${name}" is named twice.`)
  })
}

function checkScoreMap(
  factor: Extract<Factor, { form: 'score_map' }>,
  pointer: string,
  names: DeclaredNames,
  findings: FindingCollector,
): void {
  for (const [value, score] of Object.entries(factor.scores)) {
    checkScore(score, `${pointer}/scores/${escapeStep(value)}`, findings)
  }
  const input = names.input(factor.input, `${pointer}/input`, findings)
  if (!input) return
  if (input.type !== 'enum' && input.type !== 'boolean') {
    const message = `"${input.name}" is of type ${input.type}; only the values of an enum or a boolean have scores.`
    findings.error('input_unsuitable', `${pointer}/input`, message)
    return
  }
  const allowed = input.type === 'boolean' ? ['true', 'false'] : input.values
  for (const value of allowed ? Object.keys(factor.scores) : []) {
    if (allowed?.includes(value)) continue
    const at = `${pointer}/scores/${escapeStep(value)}`
    findings.error('value_unknown', at, `"${input.name}" never has the value ${JSON.stringify(value)}.`)
  }
}

function checkWeight(factor: Factor, aggregation: unknown, pointer: string, findings: FindingCollector): void {
  if (aggregation === 'weighted_sum' && factor.weight_bps === undefined) {
    findings.error('weight_missing', pointer, 'For a weighted sum every factor needs "weight_bps".')
  }
  if ((aggregation === 'sum' || aggregation === 'max') && factor.weight_bps !== undefined) {
    findings.error(
      'weight_useless',
      `${pointer}/weight_bps`,
      `Weights have no meaning for the aggregation "${aggregation}".`,
    )
  }
}

/** Weights from lists are summed when lists are bound. */
function checkWeights(factors: readonly Factor[], findings: FindingCollector): void {
  let sum = 0
  for (const { weight_bps } of factors) {
    if (typeof weight_bps !== 'number') return
    sum += weight_bps
  }
  if (sum !== MAX_SCORE_BPS) {
    findings.error(
      'weights_sum',
      '/factors',
      `The weights must sum to ${MAX_SCORE_BPS} basis points; they sum to ${sum}.`,
    )
  }
}

function checkTriggers(triggers: unknown, names: DeclaredNames, findings: FindingCollector): void {
  const keys = new Set<string>()
  elements(triggers, MAX_TRIGGERS).forEach((given, index) => {
    const pointer = `/triggers/${index}`
    if (!TriggerShape(given, pointer, findings)) return
    const trigger = given as Trigger
    if (keys.has(trigger.key)) {
      findings.error('name_repeated', `${pointer}/key`, `The trigger "${trigger.key}" is declared twice.`)
    }
    keys.add(trigger.key)
    const words: readonly Placeholder[] = ['input', 'value', 'score_bps']
    checkSentence(trigger.reason, `${pointer}/reason`, { words, names }, findings)
    trigger.when.forEach(({ of, test }, n) => {
      const at = `${pointer}/when/${n}`
      const column = names.column(of, `${at}/of`, findings, true)
      if (column) checkTest(test, { of, column }, `${at}/test`, findings)
    })
  })
}

function checkRule(definition: Record<string, unknown>, names: DeclaredNames, findings: FindingCollector): void {
  const words: readonly Placeholder[] = ['input', 'value']
  if (typeof definition['reason'] === 'string')
    checkSentence(definition['reason'], '/reason', { words, names }, findings)
  if (!Object.hasOwn(definition, 'table') || !TableShape(definition['table'], '/table', findings)) return
  // The shape was checked above.
  checkTable(definition['table'] as DecisionTable, '/table', { names, words, scores: false }, findings)
}
