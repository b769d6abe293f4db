/** Statistics of the scalar values of one member, in constant memory, for inference. */
import { stringFormats } from '#registry/types/string-formats.ts'
import type { Fact } from './model.ts'

/** Keys of a list that may be proposed as allowed values. */
export interface InferenceList {
  readonly list_key: string
  readonly keys: ReadonlySet<string>
}

/** Tried in this order; the first that all values have is proposed. */
export const INFERRED_FORMATS = ['date', 'date-time', 'uuid', 'email', 'uri'] as const
type InferredFormat = (typeof INFERRED_FORMATS)[number]

const MAX_ENUM_VALUES = 12
/** Every value of an enumeration occurs so often, in at least so many. */
const MIN_ENUM_COUNT = 3
const MIN_ENUM_VALUES = 100
/** Fewer values fit a list by chance. */
const MIN_LIST_VALUES = 20
const MAX_ENUM_CHARS = 100
const MAX_DECIMALS = 10
const DECIMAL = /^-?(?:0|[1-9]\d{0,15})(?:\.(\d{1,10}))?$/

const EXAMPLES: Readonly<Record<InferredFormat, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T09:30:00Z',
  uuid: '00000000-0000-4000-8000-000000000000',
  email: 'name@example.com',
  uri: 'https://example.com/',
}

type FactForm = Omit<Fact, 'name' | 'at'>

export class ValueProfile {
  #nulls = 0
  #booleans = 0
  #integers = 0
  #fractions = 0
  #texts = 0
  #longest = 0
  #decimals = 0
  #areDecimals = true
  /** Null once there are too many. */
  #distinct: Map<string, number> | null = new Map()
  #formats: readonly InferredFormat[] = INFERRED_FORMATS
  #lists: readonly InferenceList[]
  /** The least text, for an example with the key of a list. */
  #least: string | null = null

  constructor(lists: readonly InferenceList[]) {
    this.#lists = lists
  }

  get hasTexts(): boolean {
    return this.#texts > 0
  }

  hasFormat(format: InferredFormat): boolean {
    return this.#texts > 0 && this.#formats[0] === format
  }

  add(value: unknown): void {
    if (typeof value === 'string') this.#addText(value)
    else if (typeof value === 'number') this.#addNumber(value)
    else if (value === null) this.#nulls++
    else if (typeof value === 'boolean') this.#booleans++
  }

  #addNumber(value: number): void {
    if (Number.isSafeInteger(value)) {
      this.#integers++
      return
    }
    this.#fractions++
    if (!this.#areDecimals) return
    const parts = DECIMAL.exec(String(value))
    if (parts) this.#decimals = Math.max(this.#decimals, parts[1]?.length ?? 0)
    else this.#areDecimals = false
  }

  #addText(value: string): void {
    this.#texts++
    if (value.length > this.#longest) this.#longest = value.length
    if (this.#formats.length > 0) this.#formats = this.#formats.filter((format) => hasFormat(format, value))
    if (this.#lists.length > 0) {
      this.#lists = this.#lists.filter(({ keys }) => keys.has(value))
      if (this.#lists.length > 0 && (this.#least === null || value < this.#least)) this.#least = value
    }
    if (this.#distinct === null) return
    const count = this.#distinct.get(value)
    if (count !== undefined) this.#distinct.set(value, count + 1)
    else if (this.#distinct.size >= MAX_ENUM_VALUES || value.length > MAX_ENUM_CHARS) this.#distinct = null
    else this.#distinct.set(value, 1)
  }

  /** The values of an enumeration, or null. */
  #findEnum(): string[] | null {
    if (this.#distinct === null || this.#texts < MIN_ENUM_VALUES) return null
    const values = [...this.#distinct]
    return values.every(([value, count]) => value !== '' && count >= MIN_ENUM_COUNT)
      ? values.map(([value]) => value).sort()
      : null
  }

  #findFormat(): InferredFormat | null {
    return this.#texts > 0 ? (this.#formats[0] ?? null) : null
  }

  #findList(): InferenceList | null {
    if (this.#texts < MIN_LIST_VALUES) return null
    return this.#lists.toSorted((a, b) => (a.list_key < b.list_key ? -1 : 1))[0] ?? null
  }

  toSchema(): { readonly types: readonly string[]; readonly keywords: Record<string, unknown> } {
    const types: string[] = []
    if (this.#texts > 0) types.push('string')
    if (this.#fractions > 0) types.push('number')
    else if (this.#integers > 0) types.push('integer')
    if (this.#booleans > 0) types.push('boolean')
    if (this.#nulls > 0) types.push('null')
    const format = this.#findFormat()
    const values = format === null ? this.#findEnum() : null
    const keywords: Record<string, unknown> = {}
    if (format !== null) keywords['format'] = format
    // JSON Schema counts characters, which are never more than UTF-16 units.
    if (this.#texts > 0 && values === null)
      keywords['maxLength'] = 2 ** Math.ceil(Math.log2(Math.max(1, this.#longest)))
    if (values !== null) keywords['enum'] = values
    return { types, keywords }
  }

  /** The fact that the values could be, or null for free texts and mixed values. */
  toFact(): FactForm | null {
    const texts = this.#texts
    if (texts > 0 && this.#integers + this.#fractions + this.#booleans === 0) return this.#toTextFact()
    if (texts > 0) return null
    if (this.#booleans > 0) return this.#integers + this.#fractions === 0 ? { type: 'boolean' } : null
    if (this.#fractions > 0) {
      return this.#areDecimals ? { type: 'decimal', scale: Math.min(MAX_DECIMALS, Math.max(2, this.#decimals)) } : null
    }
    return this.#integers > 0 ? { type: 'integer' } : null
  }

  #toTextFact(): FactForm | null {
    if (this.#findFormat() === 'date') return { type: 'date' }
    const list = this.#findList()
    if (list) return { type: 'enum', one_of: { list_key: list.list_key } }
    const values = this.#findFormat() === null ? this.#findEnum() : null
    return values ? { type: 'enum', values } : null
  }

  toExample(): unknown {
    if (this.#texts > 0) {
      const format = this.#findFormat()
      if (format) return EXAMPLES[format]
      return this.#findEnum()?.[0] ?? (this.#findList() ? this.#least : 'example'.slice(0, Math.max(1, this.#longest)))
    }
    if (this.#fractions > 0) return 0.5
    if (this.#integers > 0) return 1
    if (this.#booleans > 0) return true
    return null
  }
}

const SHAPES: Readonly<Record<InferredFormat, RegExp>> = {
  date: /^\d{4}-/,
  'date-time': /^\d{4}-\d{2}-\d{2}T/,
  uuid: /^[0-9a-fA-F]{8}-/,
  email: /@/,
  uri: /^[A-Za-z][A-Za-z0-9+.-]*:/,
}

/** The quick test first: most texts have no format at all. */
const hasFormat = (format: InferredFormat, value: string): boolean =>
  SHAPES[format].test(value) && (stringFormats[format] as (text: string) => boolean)(value)
