/**
 * Values from a JSON Schema of the API document: ones that fit it, and ones that were spoiled in one place. It only
 * proposes; whether a value really fits is decided by a validator, never here.
 */
import fc from 'fast-check'
import type { SeededRandom } from './seeded-random.ts'

export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly minProperties?: number
  readonly additionalProperties?: boolean | JsonSchema
}

/** Identifiers and cursors seen in answers, by the name they were seen under. */
export type RecallValue = (name: string) => string | undefined

const COMPONENT = '#/components/schemas/'

/** What breaks careless code, and is still a string like any other. */
export const oddTexts: readonly string[] = [
  'Ada Lovelace',
  "Robert'); drop table app.user_account;--",
  '<script>alert(1)</script>',
  '{{7*7}}#{7*7}<%= 7*7 %>',
  '../../../../etc/passwd',
  '__proto__',
  'constructor',
  'null',
  '\u202eright to left',
  '\ufeffmark',
  'zero\u200bwidth',
  '😀👩‍👩‍👧‍👦',
  'Z̸̛͎a̶̡͝l̴g̵o̷',
  '\u0001\u0008\u001f\u007f',
  'line\r\nSet-Cookie: a=b',
  'ﷺ',
  ' ',
  '%00%0a%s%n',
  '=cmd|"/c calc"!A1',
  '\u{10ffff}',
]
const alphabet = [...'abcXYZ019 _-./@:;,\'"<>&%+?#|\\äßéЖ漢字😀\u00a0\u2028\t\n']

/** A schema may refer to itself: whoever asked tries again. */
export class SchemaTooDeep extends Error {}
const MAX_DEPTH = 12

export class SchemaValues {
  readonly #random: SeededRandom
  readonly #components: Readonly<Record<string, JsonSchema>>
  readonly #recall: RecallValue
  readonly #matching = new Map<string, readonly string[]>()

  constructor(
    random: SeededRandom,
    components: Readonly<Record<string, JsonSchema>>,
    seen: RecallValue = () => undefined,
  ) {
    this.#random = random
    this.#components = components
    this.#recall = seen
  }

  resolve(schema: JsonSchema): JsonSchema {
    if (schema.$ref === undefined) return schema
    const target = schema.$ref.startsWith(COMPONENT) && this.#components[schema.$ref.slice(COMPONENT.length)]
    if (!target) throw new Error(`the document refers to ${schema.$ref}, which it does not hold`)
    return this.resolve(target)
  }

  /** A value that should fit; `name` is what its owner calls it. */
  validValue(given: JsonSchema, name = '', depth = 0): unknown {
    const schema = this.resolve(given)
    const random = this.#random
    if (depth > MAX_DEPTH) throw new SchemaTooDeep('the value became too deep')
    if ('const' in schema) return schema.const
    if (schema.enum) return random.pick(schema.enum)
    const choices = schema.anyOf ?? schema.oneOf
    if (choices && schema.properties) return this.#object(this.#pickAlternative(schema, choices), depth)
    if (choices) return this.validValue(random.pick(choices), name, depth + 1)
    if (schema.allOf) throw new Error('the generator was not taught allOf')
    const type = typeof schema.type === 'object' ? random.pick(schema.type) : schema.type
    if (type === 'object') return this.#object(schema, depth)
    if (type === 'array') return this.#array(schema, name, depth)
    if (type === 'string') return this.#string(schema, name)
    if (type === 'integer' || type === 'number') return this.#number(schema)
    if (type === 'boolean') return random.chance(0.5)
    if (type === 'null') return null
    return random.pick([null, true, 0, 'any', [], {}, { any: [1] }])
  }

  /** The value with one place spoiled; it may happen to fit still. */
  invalidValue(given: JsonSchema, value: unknown): unknown {
    const schema = this.resolve(given)
    const random = this.#random
    if (Array.isArray(value) && value.length > 0 && schema.items && random.chance(0.6)) {
      const at = random.below(value.length)
      return value.map((item, index) => (index === at ? this.invalidValue(schema.items as JsonSchema, item) : item))
    }
    if (Array.isArray(value)) return random.pick([[...value, ...value], Array(300).fill(0), { 0: value }, null, 'list'])
    if (typeof value === 'object' && value !== null)
      return this.#invalidObject(schema, value as Record<string, unknown>)
    return this.#invalidScalar(schema)
  }

  /** An object whose alternatives say only which members there must be: with those of one of them, and of no other. */
  #pickAlternative(schema: JsonSchema, choices: readonly JsonSchema[]): JsonSchema {
    const required = choices.map((choice) => this.resolve(choice).required ?? [])
    const chosen = this.#random.pick(required)
    const others = new Set(required.flat().filter((name) => !chosen.includes(name)))
    const members = Object.entries(schema.properties ?? {}).filter(([name]) => !others.has(name))
    return { ...schema, properties: Object.fromEntries(members), required: [...(schema.required ?? []), ...chosen] }
  }

  #object(schema: JsonSchema, depth: number): Record<string, unknown> {
    const random = this.#random
    const names = Object.keys(schema.properties ?? {})
    const optional = names.filter((name) => !schema.required?.includes(name))
    const wanted = new Set([...(schema.required ?? []), ...optional.filter(() => random.chance(0.5))])
    while (wanted.size < (schema.minProperties ?? 0) && wanted.size < names.length) wanted.add(random.pick(optional))
    const entries = [...wanted].map((name) => [name, this.validValue(schema.properties?.[name] ?? {}, name, depth + 1)])
    if (schema.additionalProperties && random.chance(0.5)) {
      const extra = schema.additionalProperties === true ? {} : schema.additionalProperties
      entries.push([`x${random.hex(4)}`, depth > 4 ? 0 : this.validValue(extra, '', depth + 1)])
    }
    return Object.fromEntries(entries)
  }

  #array(schema: JsonSchema, name: string, depth: number): unknown[] {
    const { minItems = 0, maxItems = 10, items = {} } = schema
    const count = depth > 4 ? minItems : this.#random.between(minItems, Math.min(maxItems, minItems + 3))
    const made = Array.from({ length: count }, () => this.validValue(items, name, depth + 1))
    if (!schema.uniqueItems) return made
    return [...new Map(made.map((item) => [JSON.stringify(item), item])).values()]
  }

  #number({ type, minimum = -1000, maximum = 1000 }: JsonSchema): number {
    const random = this.#random
    if (random.chance(0.2)) return minimum
    if (random.chance(0.2)) return maximum
    const value = minimum + random.share() * (maximum - minimum)
    return type === 'number' ? value : Math.floor(value)
  }

  #string(schema: JsonSchema, name: string): string {
    const random = this.#random
    const seen = random.chance(0.6) ? this.#recall(name) : undefined
    if (seen !== undefined) return seen
    if (schema.format === 'uuid') return random.uuid()
    if (schema.format === 'date-time') return `${this.#day()}T${this.#time()}Z`
    if (schema.format === 'date') return this.#day()
    if (schema.pattern === undefined) return this.#text(schema)
    const free = this.#text(schema)
    if (new RegExp(schema.pattern, 'u').test(free)) return free
    return random.pick(this.#matches(schema))
  }

  #text({ minLength = 0, maxLength = 50 }: JsonSchema): string {
    const random = this.#random
    if (random.chance(0.3)) {
      const odd = [...random.pick(oddTexts)]
      if (odd.length >= minLength && odd.length <= maxLength) return odd.join('')
    }
    const most = random.chance(0.02) ? maxLength : Math.min(maxLength, minLength + 20)
    return Array.from({ length: random.between(minLength, most) }, () => random.pick(alphabet)).join('')
  }

  /** Found once for each pattern: looking for strings that match is slow. */
  #matches({ pattern = '', minLength = 0, maxLength = 1000 }: JsonSchema): readonly string[] {
    const key = `${pattern} ${minLength} ${maxLength}`
    let found = this.#matching.get(key)
    if (!found) {
      const size = Math.min(maxLength, minLength + 40)
      const wanted = new RegExp(pattern, 'u')
      const strings = fc.stringMatching(new RegExp(stripLookarounds(pattern), 'u'), { size: '-1' })
      const matching = fc
        .sample(strings, { seed: this.#random.below(2 ** 31), numRuns: 200 })
        .filter((text) => wanted.test(text) && [...text].length >= minLength && [...text].length <= maxLength)
      const short = matching.filter((text) => [...text].length <= size)
      // A pattern may ask for more characters than minLength does.
      found = short.length > 0 ? short : matching
      if (found.length === 0) throw new Error(`no string was found for the pattern ${pattern}`)
      this.#matching.set(key, found)
    }
    return found
  }

  #day(): string {
    const random = this.#random
    const year = random.chance(0.8) ? random.between(2020, 2030) : random.between(1000, 9999)
    return `${year}-${pad(random.between(1, 12))}-${pad(random.between(1, 28))}`
  }

  #time(): string {
    const random = this.#random
    const fraction = random.chance(0.5) ? `.${random.between(1, 999_999)}` : ''
    return `${pad(random.below(24))}:${pad(random.below(60))}:${pad(random.below(60))}${fraction}`
  }

  #invalidObject(schema: JsonSchema, value: Record<string, unknown>): unknown {
    const random = this.#random
    const names = Object.keys(value)
    const ways: (() => unknown)[] = [
      () => ({ ...value, [random.pick(['tenant_id', 'x', 'id', 'is_admin', '$where', ''])]: 1 }),
      () => random.pick<unknown>([null, [], [value], 'object', 0, true]),
    ]
    if (names.length > 0) {
      const name = random.pick(names)
      const { [name]: old, ...rest } = value
      ways.push(
        () => rest,
        () => ({ ...value, [name.toUpperCase()]: old }),
      )
      const spoil = () => ({ ...value, [name]: this.invalidValue(schema.properties?.[name] ?? {}, old) })
      ways.push(spoil, spoil, spoil)
    }
    return random.pick(ways)()
  }

  #invalidScalar(schema: JsonSchema): unknown {
    const random = this.#random
    const { maximum, minimum, maxLength, pattern } = schema
    const ways: unknown[] = [null, true, 3.5, -1, 'no such value', '', [], {}, [null], { a: 1 }]
    if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER)
      ways.push(maximum + 1, String(maximum), maximum - 0.5)
    if (minimum !== undefined) ways.push(minimum - 1)
    if (maxLength !== undefined) ways.push('x'.repeat(maxLength + 1), 'é'.repeat(maxLength + 1))
    if (pattern !== undefined) ways.push('\u0000', 'a\u0000b', `${random.hex(8)} \n`, `${'a'.repeat(200)}!`)
    return random.pick(ways)
  }
}

/** The pattern without what looks ahead or behind, which cannot be generated from; what it meant is checked afterwards. */
function stripLookarounds(pattern: string): string {
  const start = /\(\?<?[=!]/.exec(pattern)?.index
  if (start === undefined) return pattern
  let open = 0
  let inClass = false
  for (let at = start; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === '\\') at++
    else if (inClass) inClass = char !== ']'
    else if (char === '[') inClass = true
    else if (char === '(') open++
    else if (char === ')' && --open === 0) return stripLookarounds(pattern.slice(0, start) + pattern.slice(at + 1))
  }
  throw new Error(`the pattern ${pattern} has no end`)
}

const pad = (number: number): string => String(number).padStart(2, '0')
