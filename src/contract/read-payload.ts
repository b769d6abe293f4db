/**
 * First half of admission, without lists: bytes, JSON, records, schema, facts and provenance of one payload. It compiles the schema
 * that a tenant wrote, so it runs in the bounded worker (contract-runner.ts).
 */
import { Problem } from '#kernel/problem.ts'
import { parseStrictJson } from '#kernel/strict-json.ts'
import { SourceFault } from '#registry/adapter.ts'
import { escapeStep, parsePointer, valueAt } from '#registry/content/json-pointer.ts'
import { describeDemand, selectRelevantErrors } from '#registry/types/entry-fault-messages.ts'
import { SchemaTree } from '#registry/types/schema-tree.ts'
import { compileExplainer, compileSchema, type ErrorObject } from '#registry/types/schema-validator.ts'
import { type CompiledFact, compileFacts, readFacts } from './facts.ts'
import { type MemberNode, MemberTree } from './member-tree.ts'
import {
  type Contract,
  DEFAULT_MAX_BYTES,
  DEFAULT_MAX_RECORDS,
  type FactRecord,
  MAX_NOTES,
  type Note,
  type Violation,
  ViolationList,
} from './model.ts'
import { toPlace, toStorableText } from './places.ts'
import type { PayloadSketch } from './sketch.ts'
import { createListTest, isXmlMediaType, readXmlPayload } from './xml-payload.ts'

/** What one payload holds, before lists are known. */
export interface ReadPayload {
  /** Bytes, JSON or records cannot be read: nothing else was looked at. */
  readonly is_unreadable: boolean
  readonly violations: readonly Violation[]
  readonly more: number
  /** Indexes of records that have a violation. */
  readonly refused: readonly number[]
  readonly notes: readonly Note[]
  readonly record_count: number
  readonly facts: readonly FactRecord[]
  readonly provenance: { readonly source: unknown; readonly as_of: unknown }
}

export interface PayloadReader {
  readonly contract: Contract
  read(bytes: Buffer, media_type: string, sketch?: PayloadSketch): ReadPayload | Promise<ReadPayload>
}

/** Lists that the contract declares, for the conversion of XML. */
function createContractListTest({ record, records_at }: Contract) {
  const tree = new SchemaTree(record)
  const isArray = (pointer: string): boolean =>
    tree.findFieldSchemas(pointer).some((schema) => {
      const kinds = tree.getKinds(schema)
      return kinds.has('array') && !kinds.has('object')
    })
  return createListTest(records_at, isArray)
}

/** The contract has passed `checkContractText`. */
export function compileReader(contract: Contract): PayloadReader {
  const { max_bytes = DEFAULT_MAX_BYTES } = contract
  const reader = new RecordReader(contract)
  const isList = createContractListTest(contract)
  const refuse = (code: string, pointer: string, expected: string): ReadPayload =>
    createUnreadable({ code, pointer, keyword: code, expected, record_index: null })
  return {
    contract,
    read(bytes, media_type, sketch) {
      if (bytes.length > max_bytes) return refuse('bytes', '', `at most ${max_bytes} bytes`)
      if (isXmlMediaType(media_type)) {
        return readXmlPayload(bytes, isList).then(
          (payload) => reader.read(payload, sketch),
          (error: unknown) => {
            if (!(error instanceof SourceFault)) throw error
            return refuse('xml', '', error.message)
          },
        )
      }
      let payload: unknown
      try {
        payload = parseStrictJson(bytes)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        const fault = error.extra.errors?.[0]
        return refuse('json', fault?.pointer?.slice(1) ?? '', fault?.detail ?? 'a JSON document')
      }
      return reader.read(payload, sketch)
    },
  }
}

/** The payload as JSON; undefined when it cannot be parsed. */
export async function parsePayload(contract: Contract, bytes: Buffer, media_type: string): Promise<unknown> {
  try {
    if (isXmlMediaType(media_type)) return await readXmlPayload(bytes, createContractListTest(contract))
    return parseStrictJson(bytes)
  } catch (error) {
    if (error instanceof Problem || error instanceof SourceFault) return undefined
    throw error
  }
}

/** As the first step of `records_at`: each page of a payload that is a list of pages. */
export const EACH_PAGE = '*'

/** The records of a payload; null when there is no list of them. A payload that is itself a list holds records. */
export function locateRecords(
  { records_at }: Pick<Contract, 'records_at'>,
  steps: readonly string[],
  payload: unknown,
): readonly unknown[] | null {
  if (steps[0] === EACH_PAGE) return locatePagedRecords(steps.slice(1), payload)
  const found = valueAt(payload, steps)
  if (Array.isArray(found)) return found
  return records_at === '' ? [payload] : null
}

/** Null unless every page has its list. */
function locatePagedRecords(steps: readonly string[], payload: unknown): readonly unknown[] | null {
  if (!Array.isArray(payload)) return null
  const lists = payload.map((page) => valueAt(page, steps))
  return lists.every((list) => Array.isArray(list)) ? lists.flat() : null
}

const createUnreadable = (violation: Violation): ReadPayload => ({
  is_unreadable: true,
  violations: [{ ...violation, pointer: toPlace(violation.pointer) }],
  more: 0,
  refused: [],
  notes: [],
  record_count: 0,
  facts: [],
  provenance: { source: null, as_of: null },
})

/** Reads parsed payloads of one contract. */
class RecordReader {
  readonly #contract: Contract
  readonly #facts: readonly CompiledFact[]
  readonly #members: MemberTree
  readonly #records_at: readonly string[]
  readonly #fits: ReturnType<typeof compileSchema>
  readonly #source: readonly string[] | null
  readonly #as_of: readonly string[] | null
  /** Exact places are built only where an undeclared member is a violation. */
  readonly #needsPlaces: boolean
  #explain: ReturnType<typeof compileExplainer> | undefined

  constructor(contract: Contract) {
    this.#contract = contract
    this.#facts = compileFacts(contract)
    this.#members = new MemberTree(contract)
    this.#records_at = parsePointer(contract.records_at)
    this.#fits = compileSchema(contract.record)
    const { source, as_of } = contract.provenance ?? {}
    this.#source = source === undefined ? null : parsePointer(source)
    this.#as_of = as_of === undefined ? null : parsePointer(as_of)
    this.#needsPlaces = contract.unknown_members === 'refuse'
  }

  read(payload: unknown, sketch?: PayloadSketch): ReadPayload {
    const records = this.#locate(payload)
    if (!Array.isArray(records)) return createUnreadable(records as Violation)
    const violations = new ViolationList()
    const refused: number[] = []
    const notes = new NoteList()
    const facts: FactRecord[] = []
    for (let index = 0; index < records.length; index++) {
      const before = violations.count
      const record: unknown = records[index]
      sketch?.startRecord()
      this.#walk(record, { index, violations, notes, sketch })
      if (!this.#fits(record)) this.#addSchemaViolations(record, index, violations)
      if (violations.count === before) {
        const found = readFacts(this.#facts, record)
        for (const violation of found.violations) violations.add({ ...violation, record_index: index })
        if (found.violations.length === 0) facts.push({ record_index: index, facts: found.values })
      }
      if (violations.count > before) refused.push(index)
    }
    return {
      is_unreadable: false,
      violations: violations.list,
      more: violations.more,
      refused,
      notes: notes.list,
      record_count: records.length,
      facts,
      provenance: this.#readProvenance(payload),
    }
  }

  #locate(payload: unknown): readonly unknown[] | Violation {
    const { records_at, max_records = DEFAULT_MAX_RECORDS } = this.#contract
    const refuse = (expected: string): Violation => ({
      ...{ code: 'records', pointer: records_at, keyword: 'records', expected, record_index: null },
    })
    const found = locateRecords(this.#contract, this.#records_at, payload)
    if (found === null) return refuse('a list of records')
    return found.length > max_records ? refuse(`at most ${max_records} records`) : found
  }

  #readProvenance(payload: unknown): ReadPayload['provenance'] {
    const read = (steps: readonly string[] | null): unknown => {
      const value = steps === null ? null : valueAt(payload, steps)
      return typeof value === 'string' ? toStorableText(value.slice(0, MAX_PROVENANCE_CHARS)) : null
    }
    return { source: read(this.#source), as_of: read(this.#as_of) }
  }

  /** Finds undeclared members and collects statistics, in one pass. */
  #walk(record: unknown, context: WalkContext): void {
    this.#walkValue(record, this.#members.root, '', context)
  }

  #walkValue(value: unknown, node: MemberNode, pointer: string, context: WalkContext): void {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      const items = this.#members.getItems(node)
      if (items === null) return
      for (let index = 0; index < value.length; index++) {
        context.sketch?.add(items, value[index])
        if (typeof value[index] !== 'object') continue
        this.#walkValue(value[index], items, this.#needsPlaces ? `${pointer}/${index}` : '', context)
      }
      return
    }
    let position = 0
    // Parsed JSON has own members only.
    for (const name in value) {
      const member = this.#members.getMemberAt(node, name, position++)
      if (member === null) continue
      const held = (value as Record<string, unknown>)[name]
      context.sketch?.add(member, held)
      if (member.declared && (typeof held !== 'object' || held === null)) continue
      const at = this.#needsPlaces ? `${pointer}/${escapeStep(name)}` : ''
      if (member.declared) this.#walkValue(held, member, at, context)
      else this.#meetUndeclared(member, at, context)
    }
  }

  #meetUndeclared(member: MemberNode, pointer: string, { index, violations, notes }: WalkContext): void {
    const { unknown_members = 'note' } = this.#contract
    if (unknown_members === 'note') notes.add({ code: 'unknown_member', pointer: member.pointer, record_index: index })
    if (unknown_members !== 'refuse') return
    const expected = 'only members that the contract declares'
    violations.add({ code: 'unknown_member', pointer, keyword: 'unknown_members', expected, record_index: index })
  }

  #addSchemaViolations(record: unknown, record_index: number, violations: ViolationList): void {
    const first = this.#fits.errors ?? []
    this.#explain ??= compileExplainer(this.#contract.record)
    const seen = new Set<string>()
    for (const error of selectRelevantErrors(this.#explain(record) ?? first)) {
      const violation = toViolation(error, record_index)
      const identity = `${violation.pointer} ${violation.keyword} ${violation.expected}`
      if (seen.has(identity)) continue
      seen.add(identity)
      violations.add(violation)
    }
  }
}

interface WalkContext {
  readonly index: number
  readonly violations: ViolationList
  readonly notes: NoteList
  readonly sketch: PayloadSketch | undefined
}

/** One note for each code and pointer, however many records have it. */
class NoteList {
  readonly list: Note[] = []
  readonly #seen = new Set<string>()

  add(note: Note): void {
    if (this.list.length >= MAX_NOTES || this.#seen.has(`${note.code} ${note.pointer}`)) return
    this.#seen.add(`${note.code} ${note.pointer}`)
    this.list.push(note)
  }
}

const MAX_EXPECTED_CHARS = 300
const MAX_PROVENANCE_CHARS = 2000

/** Names of members come from the payload; what the schema demands does not. */
function toViolation(error: ErrorObject, record_index: number): Violation {
  const { keyword, params, instancePath } = error
  const name = params['missingProperty'] ?? params['additionalProperty'] ?? params['propertyName']
  const pointer = name === undefined ? instancePath : `${instancePath}/${escapeStep(String(name))}`
  const [code, demand] = describeError(error)
  return {
    code,
    pointer,
    keyword,
    expected: demand.slice(0, MAX_EXPECTED_CHARS),
    record_index,
  }
}

function describeError(error: ErrorObject): readonly [code: string, demand: string] {
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired':
      return ['required', 'a value']
    case 'additionalProperties':
      return ['unknown_member', 'only members that the contract declares']
    case 'propertyNames':
      return ['name_refused', 'another member name']
    default:
      return describeDemand(error)
  }
}
