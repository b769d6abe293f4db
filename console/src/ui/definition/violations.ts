/** Violations of a contract in words, and their place in the payload. Pure. */
import type { Schemas } from '@probity/client'
import { toSentence } from '#console/ui/format.ts'

export type Violation = Schemas['ContractViolation']

/** What is wrong, by the keyword of the violation. */
export const keywordTexts: Readonly<Record<string, string>> = {
  required: 'Missing field',
  type: 'Wrong kind of value',
  enum: 'Value not allowed',
  const: 'Value not allowed',
  pattern: 'Wrong pattern',
  format: 'Wrong format',
  minLength: 'Text too short',
  maxLength: 'Text too long',
  minimum: 'Number too small',
  maximum: 'Number too large',
  minItems: 'Too few items',
  maxItems: 'Too many items',
  one_of: 'Not on the list',
  fact: 'Fact cannot be read',
  unknown_members: 'Undeclared field',
  bytes: 'Payload too large',
  limits: 'Limits exceeded',
  json: 'Not readable as JSON',
  xml: 'Not readable as XML',
  records: 'Records not found',
  provenance: 'Source or date missing',
  freshness: 'Data too old',
}

export function describeKeyword({ code, keyword }: Pick<Violation, 'keyword'> & { readonly code?: string }): string {
  if (code === 'check_failed') return `Check “${keyword}” failed`
  return keywordTexts[keyword] ?? toSentence(keyword)
}

/** Demands such as `must be a list` and `fits none of the forms`. */
const VERB = /^(?:must|does|fits|has|is) /

/** What is wanted, in a sentence: a demand, a thing such as `a value`, or sentences about a text that cannot be read. */
export function describeDemand(expected: string): string {
  const text = expected.replace(/\.+$/, '')
  if (/^\p{Lu}/u.test(text)) return `${text}.`
  return VERB.test(text) ? `It ${text}.` : `Expected: ${text}.`
}

/** The pointer into the whole payload: that of a violation in a record begins at the record. */
export function toPayloadPointer(
  { pointer, record_index }: Pick<Violation, 'pointer' | 'record_index'>,
  records_at: string,
  payload: unknown,
): string {
  if (record_index === null) return pointer
  const isList = records_at !== '' || Array.isArray(payload)
  return `${records_at}${isList ? `/${record_index}` : ''}${pointer}`
}

/** `/address/country` of the second record. */
export const formatViolationPlace = ({ pointer, record_index }: Pick<Violation, 'pointer' | 'record_index'>): string =>
  [record_index === null ? '' : `record ${record_index + 1}`, pointer].filter(Boolean).join(', ') || 'whole payload'
