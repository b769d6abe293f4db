/**
 * Patterns of dataset types. Tenants write them, so they must match in linear time: RE2 runs them, except for simple ones, which
 * cannot backtrack far and which V8 runs ten times faster with the same meaning.
 */
import { RE2JS, RE2JSException } from 're2js'

export interface Matcher {
  test(text: string): boolean
  /** Ajv uses this text as cache key: without it all patterns of a schema would share the first matcher. */
  toString(): string
}

/** One ASCII character, or a class of them without escapes or negation, with an optional count. */
const PIECE = /(?:[A-Za-z0-9 _:,@%/-]|\\[d.]|\[[A-Za-z0-9 _.:,@%/-]+\])(\{\d+(?:,\d*)?\}|[?*+])?/y

/** Anchored at both ends, with at most one variable count: V8 then tries each split of the text once. */
function isSimple(pattern: string): boolean {
  if (!pattern.startsWith('^') || !pattern.endsWith('$')) return false
  let at = 1
  let varying = 0
  while (at < pattern.length - 1) {
    PIECE.lastIndex = at
    const piece = PIECE.exec(pattern)
    if (!piece) return false
    const count = piece[1]
    if (count !== undefined && !/^\{\d+\}$/.test(count)) varying++
    at = PIECE.lastIndex
  }
  return varying <= 1 && at === pattern.length - 1
}

/** RE2 supports only short names of Unicode properties. */
const PROPERTIES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Uppercase_Letter: 'Lu',
  Lowercase_Letter: 'Ll',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
}

const withShortProperties = (pattern: string): string =>
  pattern.replaceAll(/\\(?:([pP])\{(?:\w+=)?(\w+)\}|.)/gsu, (found, sign?: string, name?: string) =>
    sign && name ? `\\${sign}{${PROPERTIES[name] ?? name}}` : found,
  )

const compileLinear = (pattern: string): RE2JS => RE2JS.compile(RE2JS.translateRegExp(withShortProperties(pattern)))

/** Of a pattern without a fault. RE2 needs memory for each repetition, so it does not compile what V8 runs. */
export function compilePattern(pattern: string): Matcher {
  const matcher = isSimple(pattern) ? new RegExp(pattern, 'u') : compileLinear(pattern)
  return { test: (text) => matcher.test(text), toString: () => pattern }
}

/** Why the pattern cannot be used, or null. RE2 does not support look-around, back-references and counts above 1000. */
export function findPatternFault(pattern: string): string | null {
  try {
    compileLinear(pattern)
    if (isSimple(pattern)) new RegExp(pattern, 'u')
    return null
  } catch (error) {
    if (error instanceof RE2JSException || error instanceof SyntaxError) return error.message
    throw error
  }
}

const NUMBER_WORDS = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const CLASSES: Readonly<Record<string, readonly [one: string, many: string]>> = {
  '[A-Z]': ['capital letter', 'capital letters'],
  '[a-z]': ['small letter', 'small letters'],
  '[A-Za-z]': ['letter', 'letters'],
  '[a-zA-Z]': ['letter', 'letters'],
  '[0-9]': ['digit', 'digits'],
  '\\d': ['digit', 'digits'],
  '[A-Z0-9]': ['capital letter or digit', 'capital letters or digits'],
  '[a-z0-9]': ['small letter or digit', 'small letters or digits'],
  '[A-Za-z0-9]': ['letter or digit', 'letters or digits'],
}

/** "two capital letters" for `^[A-Z]{2}$`; null when there is no short description. */
export function describePattern(pattern: string): string | null {
  const found = /^\^(\[[^\]]+\]|\\d)(?:\{(\d+)(?:,(\d+))?\}|(\+))?\$$/.exec(pattern)
  const names = found?.[1] === undefined ? undefined : CLASSES[found[1]]
  if (!found || !names) return null
  const [one, many] = names
  const word = (digits: string): string => NUMBER_WORDS[Number(digits)] ?? digits
  const [, , least, most, plus] = found
  if (plus) return `one or more ${many}`
  if (least === undefined) return `one ${one}`
  if (most !== undefined) return `${word(least)} to ${word(most)} ${many}`
  return `${word(least)} ${least === '1' ? one : many}`
}
