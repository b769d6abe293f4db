/** Checks single parts of a definition for check.ts: an input, a name, a test, a sentence. */
import type { Input } from '../model.ts'
import { compileInput, getParser } from './inputs.ts'
import { listPlaceholders, type Placeholder } from './sentence-template.ts'
import { type FindingCollector, findStorageFault, formatForMessage } from './shape.ts'
import { type Column, findListKeys, SCORE_COLUMN, toColumn } from './unary.ts'
import { isTestFault, parseTest } from './unary-parser.ts'

const SCORE = 'score'
const FACTOR = /^factor\.(.*)$/

/** The declared names. Invalid inputs are included, so that one fault is not reported at every use. */
export class DeclaredNames {
  private readonly inputs = new Map<string, Input | null>()
  /** Keys of the factors before the current part. */
  readonly factors = new Set<string>()
  readonly all_factors = new Set<unknown>()

  declare(name: string, input: Input | null): boolean {
    if (this.inputs.has(name)) return false
    this.inputs.set(name, input)
    return true
  }

  isInput(name: string): boolean {
    return this.inputs.has(name)
  }

  /** Null when the input is invalid or unknown; the latter is reported. */
  input(name: string, pointer: string, findings: FindingCollector): Input | null {
    const found = this.inputs.get(name)
    if (found === undefined) findings.error('input_undeclared', pointer, `There is no input "${name}".`)
    return found ?? null
  }

  column(reference: string, pointer: string, findings: FindingCollector, with_score = false): Column | null {
    if (reference === SCORE && with_score) return SCORE_COLUMN
    const factor = FACTOR.exec(reference)?.[1]
    if (factor === undefined) {
      const input = this.input(reference, pointer, findings)
      return input && toColumn(input)
    }
    if (this.factors.has(factor)) return SCORE_COLUMN
    if (this.all_factors.has(factor)) {
      const message = `The factor "${factor}" does not stand before this one, so it has no score yet.`
      findings.error('forward_reference', pointer, message)
    } else findings.error('factor_undeclared', pointer, `There is no factor "${factor}".`)
    return null
  }
}

export function checkInput(input: Input, pointer: string, findings: FindingCollector): boolean {
  const before = findings.count
  const { name, type, values, one_of } = input
  if (name === SCORE) findings.error('name_reserved', `${pointer}/name`, '"score" means the score of the whole matrix.')
  const only = (member: keyof Input, types: readonly string[]) => {
    if (input[member] === undefined || types.includes(type)) return
    findings.error('member_useless', `${pointer}/${member}`, `"${member}" has no meaning for the type ${type}.`)
  }
  only('scale', ['decimal'])
  only('values', ['enum', 'list'])
  only('one_of', ['enum', 'list', 'string'])
  only('max_items', ['list'])
  only('minimum', ['integer', 'decimal', 'date'])
  only('maximum', ['integer', 'decimal', 'date'])
  if (type === 'enum' && !values && !one_of) {
    findings.error('values_missing', pointer, 'An enum needs "values", or "one_of" naming the list they stand in.')
  }
  if (values && one_of) findings.error('member_useless', `${pointer}/one_of`, 'Give "values" or "one_of", not both.')
  if (values && new Set(values).size < values.length) {
    findings.error('name_repeated', `${pointer}/values`, 'A value is repeated.')
  }
  checkBounds(input, pointer, findings)
  if (findings.count > before) return false
  if (input.default !== undefined && compileInput(input).fallback === undefined) {
    const message = `${formatForMessage(input.default)} cannot be the default: it is not a value this input may have.`
    findings.error('default_invalid', `${pointer}/default`, message)
  }
  for (const text of [input.default].flat()) {
    const fault = typeof text === 'string' ? findStorageFault(text) : null
    if (fault) findings.error('text_not_normal', `${pointer}/default`, fault)
  }
  return findings.count === before
}

function checkBounds(input: Input, pointer: string, findings: FindingCollector): void {
  const { kind, scale } = toColumn(input)
  if (kind === 'text' || kind === 'boolean') return
  const parse = getParser(kind, scale)
  const bound = (member: 'minimum' | 'maximum'): number | undefined => {
    if (input[member] === undefined) return undefined
    const value = parse(input[member])
    if (value === undefined) {
      findings.error(
        'bound_invalid',
        `${pointer}/${member}`,
        `${formatForMessage(input[member])} is not a value of type ${input.type}.`,
      )
    }
    return value
  }
  const [low, high] = [bound('minimum'), bound('maximum')]
  if (low !== undefined && high !== undefined && low > high) {
    findings.error('bounds_crossed', `${pointer}/minimum`, 'The minimum is above the maximum.')
  }
}

/** `of`: the input or score that is tested. */
export function checkTest(
  text: string,
  { of, column }: { readonly of: string; readonly column: Column },
  pointer: string,
  findings: FindingCollector,
): void {
  const parsed = parseTest(text, column)
  if (isTestFault(parsed)) findings.error(parsed.code, pointer, parsed.message)
  else if ((of === SCORE || FACTOR.test(of)) && findListKeys(parsed).length > 0) {
    findings.error('test_type', pointer, 'A score is never the key of a list.')
  }
}

export interface SentenceContext {
  readonly names: DeclaredNames
  readonly words: readonly Placeholder[]
}

export function checkSentence(
  text: string | undefined,
  pointer: string,
  { words, names }: SentenceContext,
  findings: FindingCollector,
): void {
  for (const name of text === undefined ? [] : listPlaceholders(text)) {
    if (words.includes(name as Placeholder) || names.isInput(name)) continue
    const known = words.map((word) => `{${word}}`).join(', ')
    findings.error(
      'placeholder_unknown',
      pointer,
      `{${name}} cannot be filled in here. Known are ${known} and the names of inputs.`,
    )
  }
}
