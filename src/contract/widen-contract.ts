/**
 * The smallest change of a contract that admits a payload: each demand that the payload breaks is loosened just enough, or removed
 * where there is nothing between. Values become part of the contract only as members of an enumeration that is not personal.
 */
import { isObject, parsePointer, valueAt } from '#registry/content/json-pointer.ts'
import { getKind } from '#registry/types/schema-tree.ts'
import { compileExplainer, compileSchema, type ErrorObject } from '#registry/types/schema-validator.ts'
import type { Admission, Contract, Fact, Violation } from './model.ts'
import { generalisePointer } from './places.ts'

type MutableSchema = Record<string, unknown>

const MAX_ROUNDS = 50

/** Loosens the schema of records until all of them fit; null when that is not possible. */
export function widenSchema(contract: Contract, records: readonly unknown[]): Contract {
  const schema = structuredClone(contract.record) as MutableSchema
  const personal = [
    ...(contract.personal ?? []).map(({ at }) => at),
    ...contract.facts.filter((fact) => fact.personal).map(({ at }) => at),
  ]
  for (const record of records) {
    for (let round = 0; round < MAX_ROUNDS && !compileSchema(schema)(record); round++) {
      const errors = compileExplainer(schema)(record) ?? []
      // The innermost demands first: an alternative fits once one of its parts does.
      const inner = errors.filter(({ keyword }) => !COMBINING.has(keyword))
      for (const error of inner.length > 0 ? inner : errors) loosen(schema, error, record, personal)
    }
  }
  return { ...contract, record: schema }
}

const COMBINING = new Set(['anyOf', 'oneOf', 'if'])

function loosen(schema: MutableSchema, error: ErrorObject, record: unknown, personal: readonly string[]): void {
  const { keyword, params, schemaPath, instancePath } = error
  // `#/properties/name/minLength`: the schema is one step above the keyword.
  const steps = parsePointer(decodeURIComponent(schemaPath.slice(1)))
  const at = steps.lastIndexOf(keyword)
  const node = valueAt(schema, steps.slice(0, at < 0 ? -1 : at))
  if (!isObject(node)) return
  const value = valueAt(record, parsePointer(instancePath))
  const place = generalisePointer(instancePath)
  const isPersonal = personal.some((pointer) => `${place}/`.startsWith(`${pointer}/`))
  loosenKeyword(node, keyword, { params, value, isPersonal })
}

interface BrokenDemand {
  readonly params: Readonly<Record<string, unknown>>
  readonly value: unknown
  readonly isPersonal: boolean
}

function loosenKeyword(node: MutableSchema, keyword: string, { params, value, isPersonal }: BrokenDemand): void {
  switch (keyword) {
    case 'required':
      node['required'] = (node['required'] as unknown[]).filter((name) => name !== params['missingProperty'])
      if ((node['required'] as unknown[]).length === 0) delete node['required']
      return
    case 'type': {
      const kind = getKind(value)
      const added = kind === 'number' && Number.isInteger(value) ? 'integer' : kind
      node['type'] = [...new Set([node['type']].flat()), added]
      // An enumeration of other kinds would refuse it again.
      return
    }
    case 'enum':
      if (isPersonal || typeof value === 'object') delete node['enum']
      else node['enum'] = [...(node['enum'] as unknown[]), value]
      return
    case 'minLength':
    case 'maxLength':
      node[keyword] = [...(value as string)].length
      return
    case 'minItems':
    case 'maxItems':
      node[keyword] = (value as unknown[]).length
      return
    case 'minimum':
    case 'maximum':
      node[keyword] = value
      return
    case 'minProperties':
    case 'maxProperties':
      node[keyword] = Object.keys(value as object).length
      return
    default:
      // Patterns, formats, exclusive bounds and combinations have nothing between holding and not.
      delete node[keyword]
  }
}

/** Loosens what is judged with lists: facts, provenance, freshness and checks. */
export function widenJudged(contract: Contract, { violations, provenance }: Admission, received_at: string): Contract {
  return violations.reduce(
    (widened, violation) => loosenPart(widened, violation, { provenance, received_at }),
    contract,
  )
}

interface Arrival {
  readonly provenance: Admission['provenance']
  readonly received_at: string
}

function loosenPart(contract: Contract, violation: Violation, { provenance, received_at }: Arrival): Contract {
  const { code, pointer, keyword } = violation
  const changeFacts = (change: (fact: Fact) => Fact | null): Contract => ({
    ...contract,
    facts: contract.facts.flatMap((fact) => {
      const changed = isFactPlace(fact, pointer) ? change(fact) : fact
      return changed ? [changed] : []
    }),
  })
  switch (code) {
    case 'unknown_member':
      return keyword === 'unknown_members' ? { ...contract, unknown_members: 'note' } : contract
    case 'fact_missing':
      return changeFacts(({ required: _, ...fact }) => fact)
    case 'fact_unreadable':
      return changeFacts(({ minimum: _min, maximum: _max, max_items: _items, values: _values, ...fact }) => ({
        ...fact,
        ...(fact.type === 'enum' && !fact.one_of && { type: 'string' as const }),
      }))
    case 'not_on_list':
      return changeFacts(({ one_of: _, ...fact }) => ({
        ...fact,
        ...(fact.type === 'enum' && { type: 'string' as const }),
      }))
    case 'provenance_missing': {
      const required = contract.provenance?.required?.filter((name) => contract.provenance?.[name] !== pointer) ?? []
      const { required: _, ...rest } = contract.provenance ?? {}
      return { ...contract, provenance: { ...rest, ...(required.length > 0 && { required }) } }
    }
    case 'stale': {
      const age_s = Math.ceil((Date.parse(received_at) - Date.parse(provenance.as_of ?? received_at)) / 1000)
      return contract.freshness ? { ...contract, freshness: { ...contract.freshness, max_age_s: age_s } } : contract
    }
    case 'check_failed':
      return {
        ...contract,
        checks: (contract.checks ?? []).map((check) => (check.key === keyword ? { ...check, else: 'note' } : check)),
      }
    default:
      return contract
  }
}

const isFactPlace = ({ at }: Fact, pointer: string): boolean => {
  const place = generalisePointer(pointer)
  return at === pointer || at === place || `${at}/*` === place
}

/** Loosens limits of the payload as a whole. */
export function widenLimits(
  contract: Contract,
  { violations }: Pick<Admission, 'violations'>,
  sizes: PayloadSizes,
): Contract {
  const [first] = violations
  if (first?.code === 'bytes') return { ...contract, max_bytes: sizes.bytes }
  if (first?.code === 'records' && sizes.records !== null) return { ...contract, max_records: sizes.records }
  return contract
}

export interface PayloadSizes {
  readonly bytes: number
  /** Null: there is no list of records. */
  readonly records: number | null
}
