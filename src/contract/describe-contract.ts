/** A contract in plain sentences, for people who do not read JSON Schema. */
import { findShapeFindings } from './contract-shape.ts'
import { describeFactType } from './facts.ts'
import { type Contract, type ContractCheck, DEFAULT_MAX_BYTES, DEFAULT_MAX_RECORDS, type Fact } from './model.ts'

const UNKNOWN_WORDS = {
  note: 'Members that the contract does not declare are noted; they refuse nothing and nothing reads them.',
  refuse: 'A member that the contract does not declare quarantines the payload.',
  drop: 'Members that the contract does not declare are ignored.',
} as const

/** Sentences of a contract; none of a draft that does not have the shape of one. */
export function describeContract(text: Readonly<Record<string, unknown>>): string[] {
  if (findShapeFindings(text).length > 0) return []
  const contract = text as unknown as Contract
  const { max_records = DEFAULT_MAX_RECORDS, max_bytes = DEFAULT_MAX_BYTES, unknown_members = 'note' } = contract
  const records =
    contract.records_at === ''
      ? 'A payload is one record'
      : `A payload has up to ${max_records} records at ${contract.records_at}`
  return [
    `${records}; it may have ${max_bytes} bytes.`,
    contract.partial === 'record'
      ? 'Good records of a payload with bad ones are admitted, and the result says that it is incomplete.'
      : 'One bad record quarantines the whole payload.',
    UNKNOWN_WORDS[unknown_members],
    ...contract.facts.map(describeFact),
    ...describeProvenance(contract),
    ...(contract.checks ?? []).map(describeCheck),
  ]
}

function describeFact(fact: Fact): string {
  const { name, title, at, one_of, values, required, personal } = fact
  const allowed = one_of
    ? `, one of the list ${one_of.list_key}`
    : values
      ? `, one of ${values.slice(0, 12).join(', ')}${values.length > 12 ? ' …' : ''}`
      : ''
  const marks = [required ? 'required' : 'optional', ...(personal ? ['personal data'] : [])].join(', ')
  return `${title ?? name} is ${describeFactType(fact)} at ${at}${allowed} (${marks}).`
}

function describeProvenance({ provenance, freshness }: Contract): string[] {
  const required = provenance?.required ?? []
  return [
    ...(required.length > 0 ? [`A payload must say its ${required.join(' and ')}.`] : []),
    ...(freshness ? [`Data older than ${formatSeconds(freshness.max_age_s)} when it arrives is refused.`] : []),
  ]
}

/** Whole days where it is a number of them. */
export const formatSeconds = (seconds: number): string =>
  seconds % 86_400 === 0 ? `${seconds / 86_400} days` : `${seconds} seconds`

function describeCheck({ key, title, when, else: otherwise }: ContractCheck): string {
  const conditions = when.map(({ of, test }) => `${of} ${test}`).join(' and ')
  const consequence = otherwise === 'note' ? 'it is noted' : 'the record is refused'
  return `${title ?? key}: ${conditions}; otherwise ${consequence}.`
}
