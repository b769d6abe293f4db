/**
 * Second half of admission, with lists: allowed values, provenance, freshness and checks, in this order. It runs no code that a
 * tenant wrote, so any process may use it.
 */
import { Binder, createFieldReader } from '#decision/engine-1/binder.ts'
import type { InputValue } from '#decision/engine-1/inputs.ts'
import { FindingCollector } from '#decision/engine-1/shape.ts'
import type { BoundLists, Finding } from '#decision/model.ts'
import {
  type BoundCheck,
  bindCheck,
  findConditionLists,
  listTestedFacts,
  type ParsedCheck,
  parseCondition,
} from './checks.ts'
import { formatSeconds } from './describe-contract.ts'
import { ANY_ELEMENT, type CompiledFact, compileFacts, toInputValue } from './facts.ts'
import {
  type Admission,
  type AdmissionResult,
  type Contract,
  type ContractCheck,
  type FactRecord,
  MAX_NOTES,
  type Note,
  type Violation,
  ViolationList,
} from './model.ts'
import type { ReadPayload } from './read-payload.ts'

/** A place at which a contract reads a list. */
export interface ContractListReference {
  readonly list_key: string
  readonly pointer: string
  readonly key: string | null
  readonly field: string | null
}

/** What judging a payload needs of a list: all entries, or these keys. */
export type ContractListNeeds = ReadonlyMap<string, 'all' | ReadonlySet<string>>

export interface CompiledContract {
  readonly contract: Contract
  readonly references: readonly ContractListReference[]
  readonly list_keys: readonly string[]
  needs(payloads: readonly ReadPayload[]): ContractListNeeds
  /** Faults of the lists come as findings. */
  bind(lists: BoundLists): BoundContract | readonly Finding[]
}

export interface BoundContract {
  /** `received_at` null: freshness is not checked. */
  judge(read: ReadPayload, received_at: string | null): Admission
}

/** The contract has passed `checkContractText`. */
export function compileContract(contract: Contract): CompiledContract {
  const facts = new Map(compileFacts(contract).map((compiled) => [compiled.fact.name, compiled]))
  const checks = (contract.checks ?? []).map((check, index) => parseCheck(check, facts, index))
  const references = [
    ...contract.facts.flatMap(({ one_of }, index): ContractListReference[] =>
      one_of
        ? [{ list_key: one_of.list_key, pointer: `/facts/${index}/one_of`, key: null, field: one_of.field ?? null }]
        : [],
    ),
    ...checks.flatMap(({ conditions }, check) =>
      conditions.flatMap((condition, index) =>
        findConditionLists(condition).map((list) => ({ ...list, pointer: `/checks/${check}/when/${index}/test` })),
      ),
    ),
  ]
  return {
    contract,
    references,
    list_keys: [...new Set(references.map(({ list_key }) => list_key))].sort(),
    needs: (payloads) => collectNeeds(contract, checks, payloads),
    bind(lists) {
      const binder = new Binder(lists)
      const allowed = contract.facts.flatMap((fact, index) =>
        fact.one_of ? [bindAllowedValues(fact, lists, `/facts/${index}/one_of`, binder)] : [],
      )
      const bound = checks.map((parsed, index) => ({
        check: parsed.check,
        holds: bindCheck(parsed, facts, `/checks/${index}`, binder),
      }))
      if (binder.findings.count > 0) return binder.findings.list
      const names = new Set(checks.flatMap(({ conditions }) => conditions.flatMap(listTestedFacts)))
      const tested = [...facts.values()].filter(({ fact }) => names.has(fact.name))
      const judgement = { contract, facts, tested, allowed, checks: bound }
      return { judge: (read, received_at) => judge(judgement, read, received_at) }
    },
  }
}

function parseCheck(check: ContractCheck, facts: ReadonlyMap<string, CompiledFact>, index: number): ParsedCheck {
  const findings = new FindingCollector()
  const conditions = check.when.map((condition, at) =>
    parseCondition(condition, facts, `/checks/${index}/when/${at}`, findings),
  )
  const [fault] = findings.list
  if (fault) throw new Error(`${fault.message} The contract was not checked.`)
  return { check, conditions: conditions.filter((condition) => condition !== null) }
}

/** Large lists are read by key; a field of a list, or a value in it, needs the whole list. */
function collectNeeds(
  { facts }: Contract,
  checks: readonly ParsedCheck[],
  payloads: readonly ReadPayload[],
): ContractListNeeds {
  const needs = new Map<string, 'all' | Set<string>>()
  const addKeys = (list_key: string, name: string): void => {
    const keys = needs.get(list_key) ?? new Set<string>()
    if (keys === 'all') return
    for (const payload of payloads) {
      for (const record of payload.facts) {
        for (const value of [record.facts[name] ?? []].flat()) keys.add(String(value))
      }
    }
    needs.set(list_key, keys)
  }
  for (const { name, one_of } of facts) {
    if (one_of?.field !== undefined) needs.set(one_of.list_key, 'all')
    else if (one_of) addKeys(one_of.list_key, name)
  }
  for (const condition of checks.flatMap(({ conditions }) => conditions)) {
    for (const { list_key, key } of findConditionLists(condition)) {
      const keys = needs.get(list_key) ?? new Set<string>()
      if (keys !== 'all' && key !== null) needs.set(list_key, keys.add(key))
      else if (key === null) addKeys(list_key, condition.of)
    }
  }
  return needs
}

interface AllowedValues {
  readonly name: string
  readonly list_key: string
  readonly pointer: string
  has(value: string): boolean
}

function bindAllowedValues(
  { name, at, one_of }: Contract['facts'][number],
  lists: BoundLists,
  pointer: string,
  binder: Binder,
): AllowedValues {
  const { list_key, field } = one_of as { list_key: string; field?: string }
  const list = binder.bindList(list_key, pointer)
  const common = { name, list_key, pointer: at }
  if (field === undefined) return { ...common, has: (value) => lists.get(list_key)?.get(value) !== undefined }
  if (list.all === null) {
    const message = `The list "${list_key}" is too large for its fields to be allowed values.`
    binder.findings.error('list_too_large', pointer, message)
  }
  const read = createFieldReader(field)
  const values = new Set((list.all ?? []).map(({ entry }) => read(entry)))
  return { ...common, has: (value) => values.has(value) }
}

interface Judgement {
  readonly contract: Contract
  readonly facts: ReadonlyMap<string, CompiledFact>
  /** Those that a check reads. */
  readonly tested: readonly CompiledFact[]
  readonly allowed: readonly AllowedValues[]
  readonly checks: readonly { readonly check: ContractCheck; readonly holds: BoundCheck }[]
}

function judge(judgement: Judgement, read: ReadPayload, received_at: string | null): Admission {
  const { contract, allowed } = judgement
  const violations = new ViolationList(read.violations, read.more)
  const refused = new Set(read.refused)
  const notes = [...read.notes]
  const refuseRecord = (violation: Violation): void => {
    violations.add(violation)
    refused.add(violation.record_index as number)
  }
  for (const record of read.facts) checkAllowedValues(allowed, record, refuseRecord)
  const before = violations.count
  const provenance = read.is_unreadable ? { source: null, as_of: null } : toProvenance(contract, read, violations)
  if (!read.is_unreadable) checkFreshness(contract, provenance.as_of, received_at, { violations, notes })
  const isPayloadRefused = read.is_unreadable || violations.count > before
  for (const record of read.facts) checkRecord(judgement, record, { refuseRecord, notes })
  const facts = read.facts.filter(({ record_index }) => !refused.has(record_index))
  const hasGoodRecord = facts.length > 0 || read.record_count === 0
  const isRefused = isPayloadRefused || (refused.size > 0 && !(contract.partial === 'record' && hasGoodRecord))
  return {
    result: toResult(isRefused, refused.size > 0 || notes.length > 0),
    incomplete: !isRefused && refused.size > 0,
    violations: violations.list,
    more: violations.more,
    notes: notes.slice(0, MAX_NOTES),
    record_count: read.record_count,
    facts: isRefused ? [] : facts,
    provenance,
  }
}

const toResult = (isRefused: boolean, hasRemarks: boolean): AdmissionResult =>
  isRefused ? 'quarantined' : hasRemarks ? 'admitted_with_notes' : 'admitted'

type RefuseRecord = (violation: Violation) => void

function checkAllowedValues(allowed: readonly AllowedValues[], record: FactRecord, refuse: RefuseRecord): void {
  for (const { name, list_key, pointer, has } of allowed) {
    const value = record.facts[name]
    if (value === undefined || (typeof value === 'string' && has(value))) continue
    const wrong = Array.isArray(value) ? value.findIndex((item) => !has(String(item))) : has(String(value)) ? -1 : 0
    if (wrong < 0) continue
    refuse({
      code: 'not_on_list',
      pointer: Array.isArray(value) ? toElementPointer(pointer, wrong) : pointer,
      keyword: 'one_of',
      expected: `an entry of the list ${list_key}`,
      record_index: record.record_index,
    })
  }
}

/** The position is exact where one array was read; an array inside another keeps its `*`. */
function toElementPointer(pointer: string, index: number): string {
  const stars = pointer.split('/').filter((step) => step === ANY_ELEMENT).length
  if (stars === 0) return `${pointer}/${index}`
  return stars === 1 ? pointer.replace(/\/\*(?=\/|$)/, `/${index}`) : pointer
}

const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2}))?$/

/** The instant of a date or of a date and time with its zone; null for other texts. */
function parseInstant(text: string): number | null {
  const instant = INSTANT.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(instant) ? null : instant
}

function toProvenance({ provenance }: Contract, read: ReadPayload, violations: ViolationList): Admission['provenance'] {
  const { source, as_of } = read.provenance
  const found = {
    source: typeof source === 'string' && source.trim() !== '' ? source : null,
    as_of: typeof as_of === 'string' && parseInstant(as_of) !== null ? as_of : null,
  }
  for (const name of provenance?.required ?? []) {
    if (found[name] !== null) continue
    violations.add({
      code: 'provenance_missing',
      pointer: provenance?.[name] ?? '',
      keyword: 'provenance',
      expected: name === 'source' ? 'the source of the data' : 'the date or instant of the data',
      record_index: null,
    })
  }
  return found
}

/** Clocks of providers may be ahead by this much. */
const CLOCK_TOLERANCE_MS = 86_400_000

function checkFreshness(
  { freshness, provenance }: Contract,
  as_of: string | null,
  received_at: string | null,
  { violations, notes }: { readonly violations: ViolationList; readonly notes: Note[] },
): void {
  if (!freshness || received_at === null) return
  const pointer = provenance?.as_of ?? ''
  const at = as_of === null ? null : parseInstant(as_of)
  if (at === null) {
    notes.push({ code: 'age_unknown', pointer, record_index: null })
    return
  }
  const age_ms = Date.parse(received_at) - at
  const refuse = (code: string, expected: string): void =>
    violations.add({ code, pointer, keyword: 'freshness', expected, record_index: null })
  if (age_ms > freshness.max_age_s * 1000)
    refuse('stale', `data that is at most ${formatSeconds(freshness.max_age_s)} old`)
  else if (age_ms < -CLOCK_TOLERANCE_MS) refuse('as_of_in_future', 'a date that is not in the future')
}

function checkRecord(
  { facts, tested, checks }: Judgement,
  { record_index, facts: given }: FactRecord,
  { refuseRecord, notes }: { readonly refuseRecord: RefuseRecord; readonly notes: Note[] },
): void {
  if (checks.length === 0) return
  const values = new Map<string, InputValue>()
  for (const compiled of tested) {
    const { name } = compiled.fact
    const value = given[name] === undefined ? undefined : toInputValue(compiled, given[name])
    if (value !== undefined) values.set(name, value)
  }
  for (const { check, holds } of checks) {
    if (holds(values) !== false) continue
    const [{ of }] = check.when as [ContractCheck['when'][number]]
    const pointer = facts.get(of)?.fact.at ?? ''
    if (check.else === 'note') notes.push({ code: `check_failed:${check.key}`, pointer, record_index })
    else {
      const expected = check.title ?? check.when.map((each) => `${each.of} ${each.test}`).join(' and ')
      refuseRecord({ code: 'check_failed', pointer, keyword: check.key, expected, record_index })
    }
  }
}
