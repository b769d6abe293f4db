/**
 * Proposes a contract from sample payloads. The same payloads in any order give the same text: all statistics are commutative and
 * members are sorted by name. Values of samples appear only as members of enumerations.
 */
import { formatPointer, isObject, parsePointer } from '#registry/content/json-pointer.ts'
import { findRecordsPointer } from './find-records.ts'
import { toSnakeCase } from './member-names.ts'
import type { Contract, Fact, PersonalMember } from './model.ts'
import { EACH_PAGE, locateRecords } from './read-payload.ts'
import { type InferenceList, ValueProfile } from './value-profile.ts'

/** A member is required when all of at least so many records have it. */
const MIN_REQUIRED = 20
const MAX_FACTS = 100
const MAX_DEPTH = 16
const MAX_MEMBERS = 400

export interface InferenceOptions {
  /** Lists whose keys may be proposed as allowed values, such as countries. */
  readonly lists?: readonly InferenceList[]
  /** Where the records are, if that is known. */
  readonly records_at?: string
}

export interface InferredContract {
  readonly contract: Contract
  readonly records: number
  readonly samples: number
  /** Samples without the list of records, or with an empty one. */
  readonly samples_without_records: number
  /** Members with so many names that they are described as free-form objects. */
  readonly open_objects: readonly string[]
}

export function inferContract(payloads: readonly unknown[], options: InferenceOptions = {}): InferredContract {
  const records_at = options.records_at ?? findRecordsPointer(payloads)
  const steps = parsePointer(records_at)
  const located = payloads.map((payload) => locateRecords({ records_at }, steps, payload) ?? [])
  const records = located.flat()
  const root = new MemberProfile(options.lists ?? [])
  for (const record of records) if (isObject(record)) root.addObject(record, 0)
  const builder = new ContractBuilder()
  const record = builder.buildObject(root, [])
  const example = records_at === '' ? builder.buildExample(root) : nest(steps, [builder.buildExample(root)])
  return {
    contract: {
      record: { type: 'object', ...record },
      records_at,
      max_records: roundUp(Math.max(16, ...located.map(({ length }) => length))),
      unknown_members: 'note',
      facts: builder.facts,
      ...(builder.personal.length > 0 && { personal: builder.personal }),
      examples: [{ payload: example }],
    },
    records: records.length,
    samples: payloads.length,
    samples_without_records: located.filter(({ length }) => length === 0).length,
    open_objects: builder.open_objects,
  }
}

const roundUp = (count: number): number => Math.min(10_000, 2 ** Math.ceil(Math.log2(Math.max(1, count))))

const nest = (steps: readonly string[], value: unknown): unknown =>
  steps.reduceRight<unknown>(
    (inner, step, index) => (index === 0 && step === EACH_PAGE ? [inner] : { [step]: inner }),
    value,
  )

/** What was seen at one pointer. */
class MemberProfile {
  /** Objects seen here, which could have had each member. */
  objects = 0
  arrays = 0
  longest_array = 0
  readonly values: ValueProfile
  readonly members = new Map<string, MemberProfile>()
  items: MemberProfile | null = null
  occurrences = 0
  is_open = false
  readonly #lists: readonly InferenceList[]

  constructor(lists: readonly InferenceList[]) {
    this.#lists = lists
    this.values = new ValueProfile(lists)
  }

  add(value: unknown, depth: number): void {
    this.occurrences++
    if (typeof value !== 'object' || value === null) this.values.add(value)
    else if (Array.isArray(value)) this.#addArray(value, depth)
    else this.addObject(value as Record<string, unknown>, depth)
  }

  addObject(value: Readonly<Record<string, unknown>>, depth: number): void {
    this.objects++
    if (this.is_open || depth >= MAX_DEPTH) return
    for (const name in value) {
      let member = this.members.get(name)
      if (member === undefined) {
        member = new MemberProfile(this.#lists)
        this.members.set(name, member)
        // Names that are data, such as identifiers, are not members.
        if (this.members.size > MAX_MEMBERS) {
          this.is_open = true
          this.members.clear()
          return
        }
      }
      member.add(value[name], depth + 1)
    }
  }

  #addArray(value: readonly unknown[], depth: number): void {
    this.arrays++
    this.longest_array = Math.max(this.longest_array, value.length)
    if (depth >= MAX_DEPTH) return
    this.items ??= new MemberProfile(this.#lists)
    for (const item of value) this.items.add(item, depth + 1)
  }
}

const PERSONAL_NAME =
  /(?:^|_)(?:(?:first|last|given|family|middle|full|maiden)_?names?|surnames?|person|birth|born|dob|e_?mail|phone|mobile|fax|street|passport|national_id|personal_id|ssn|tax_id|iban|gender|nationality|signature)(?:_|$)/
/** Names of people stand below members such as these. */
const PERSON_LIST =
  /^(?:officers?|directors?|persons?|people|owners?|shareholders?|beneficiar(?:y|ies)|contacts?|employees?|individuals?)$/

function isPersonalName(steps: readonly string[], profile: MemberProfile): boolean {
  const names = steps.filter((step) => step !== '*').map(toSnakeCase)
  const last = names.at(-1) ?? ''
  if (PERSONAL_NAME.test(last) || profile.values.hasFormat('email')) return true
  return last === 'name' && names.slice(0, -1).some((name) => PERSON_LIST.test(name))
}

/** Builds the schema, the facts and the marks of one inferred contract. */
class ContractBuilder {
  readonly facts: Fact[] = []
  readonly personal: PersonalMember[] = []
  readonly open_objects: string[] = []
  readonly #names = new Set<string>()

  /** Keywords of an object; names sorted, so that the order of samples does not matter. */
  buildObject(profile: MemberProfile, steps: readonly string[]): Record<string, unknown> {
    if (profile.is_open || profile.members.size === 0) {
      if (profile.is_open) this.open_objects.push(formatPointer(steps))
      return {}
    }
    const names = [...profile.members.keys()].sort()
    const required = names.filter((name) => {
      const { occurrences } = profile.members.get(name) as MemberProfile
      return profile.objects >= MIN_REQUIRED && occurrences === profile.objects
    })
    const properties: Record<string, unknown> = {}
    for (const name of names) {
      Object.defineProperty(properties, name, {
        value: this.buildMember(profile.members.get(name) as MemberProfile, [...steps, name]),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    }
    return { ...(required.length > 0 && { required }), properties }
  }

  buildMember(profile: MemberProfile, steps: readonly string[]): Record<string, unknown> {
    const { values } = profile
    const scalar = values.toSchema()
    const types = [...scalar.types]
    if (profile.objects > 0) types.push('object')
    if (profile.arrays > 0) types.push('array')
    types.sort()
    const isPersonal = this.#isPersonal(profile, steps)
    if (isPersonal) this.personal.push({ at: formatPointer(steps), guessed: true })
    const items =
      profile.items && profile.items.occurrences > 0 ? { items: this.buildMember(profile.items, [...steps, '*']) } : {}
    // Values of a person are never listed.
    const { enum: values_seen, ...keywords } = scalar.keywords
    const schema = {
      ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
      ...keywords,
      ...(values_seen !== undefined && !isPersonal && types.length === 1 && { enum: values_seen }),
      ...(profile.objects > 0 && this.buildObject(profile, steps)),
      ...(profile.arrays > 0 && { maxItems: roundUp(Math.max(1, profile.longest_array)), ...items }),
    }
    if (types.length === 1 && profile.objects === 0 && profile.arrays === 0) this.#addFact(profile, steps, isPersonal)
    return schema
  }

  #isPersonal(profile: MemberProfile, steps: readonly string[]): boolean {
    return profile.objects === 0 && profile.values.hasTexts && isPersonalName(steps, profile)
  }

  /** Facts for values with a form that matrices can use; free texts are left to the author. */
  #addFact(profile: MemberProfile, steps: readonly string[], isPersonal: boolean): void {
    if (steps.includes('*') || this.facts.length >= MAX_FACTS || isPersonal) return
    const fact = profile.values.toFact()
    if (!fact) return
    const name = this.#findFreeName(steps)
    if (name !== null) this.facts.push({ name, at: formatPointer(steps), ...fact })
  }

  #findFreeName(steps: readonly string[]): string | null {
    const words = steps
      .map(toSnakeCase)
      .join('_')
      .replace(/^[^a-z]+/, '')
    const base = words.slice(0, 50).replace(/_+$/, '')
    if (base === '' || base === 'score') return null
    let name = base
    for (let number = 2; this.#names.has(name); number++) name = `${base}_${number}`
    this.#names.add(name)
    return name
  }

  /** A record with every member, made up: no value of a sample but those of enumerations. */
  buildExample(profile: MemberProfile): Record<string, unknown> {
    const example: Record<string, unknown> = {}
    for (const name of [...profile.members.keys()].sort()) {
      Object.defineProperty(example, name, {
        value: this.#exampleOf(profile.members.get(name) as MemberProfile),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    }
    return example
  }

  #exampleOf(profile: MemberProfile): unknown {
    if (profile.objects > 0) return this.buildExample(profile)
    if (profile.arrays > 0) {
      return profile.items && profile.items.occurrences > 0 ? [this.#exampleOf(profile.items)] : []
    }
    return profile.values.toExample()
  }
}
