/** Counts which parts of a definition past decisions used, without I/O; unused parts have zero. */
import type { Definition, Explanation, Factor } from '#decision/model.ts'

/** A factor counts as used when it scored above zero; a row, a value or a trigger when it fired. */
export interface PartCount {
  readonly part: 'factor' | 'row' | 'value' | 'trigger'
  /** The factor a row or value belongs to. */
  readonly factor: string | null
  readonly key: string
  readonly title: string | null
  fired: number
}
export interface DefaultCount {
  readonly of: 'input' | 'factor'
  readonly key: string
  /** How often the default was used. */
  defaulted: number
}

const toPartId = (part: PartCount['part'], factor: string | null, key: string): string =>
  `${part} ${factor ?? ''} ${key}`

export class Coverage {
  decisions = 0
  readonly #parts = new Map<string, PartCount>()
  readonly #defaults = new Map<string, DefaultCount>()
  readonly #scoreMapInputs = new Map<string, string>()

  constructor(definition: Definition) {
    for (const { name, default: given } of definition.inputs) {
      if (given !== undefined) this.#defaults.set(`input ${name}`, { of: 'input', key: name, defaulted: 0 })
    }
    if (definition.family === 'rule') {
      for (const { key } of definition.table.rows) this.#addPart('row', null, key)
      return
    }
    for (const factor of definition.factors) this.#addFactor(factor)
    for (const { key, title } of definition.triggers) this.#addPart('trigger', null, key, title)
  }

  get parts(): PartCount[] {
    return [...this.#parts.values()]
  }

  get defaults(): DefaultCount[] {
    return [...this.#defaults.values()]
  }

  add({ inputs, factors, triggers, rows }: Explanation): void {
    this.decisions++
    for (const { name, defaulted } of inputs) if (defaulted) this.#countDefault('input', name)
    for (const { key, score_bps, rows: fired = [], read, defaulted } of factors) {
      if (score_bps > 0) this.#countPart('factor', null, key)
      for (const row of fired) this.#countPart('row', key, row)
      const input = this.#scoreMapInputs.get(key)
      if (input !== undefined && read[input] !== undefined) this.#countPart('value', key, String(read[input]))
      if (defaulted) this.#countDefault('factor', key)
    }
    for (const { key } of triggers) this.#countPart('trigger', null, key)
    for (const { key } of rows) this.#countPart('row', null, key)
  }

  #addFactor(factor: Factor): void {
    const { key, title } = factor
    this.#addPart('factor', null, key, title)
    if (factor.form === 'table') for (const row of factor.table.rows) this.#addPart('row', key, row.key)
    if (factor.form === 'score_map') {
      this.#scoreMapInputs.set(key, factor.input)
      for (const value of Object.keys(factor.scores)) this.#addPart('value', key, value)
    }
    if ('on_missing' in factor && factor.on_missing !== 'fail') {
      this.#defaults.set(`factor ${key}`, { of: 'factor', key, defaulted: 0 })
    }
  }

  #addPart(part: PartCount['part'], factor: string | null, key: string, title: string | null = null): void {
    this.#parts.set(toPartId(part, factor, key), { part, factor, key, title, fired: 0 })
  }

  /** Parts that the definition does not name, such as the default row of a table, are not counted. */
  #countPart(part: PartCount['part'], factor: string | null, key: string): void {
    const count = this.#parts.get(toPartId(part, factor, key))
    if (count) count.fired++
  }

  #countDefault(of: DefaultCount['of'], key: string): void {
    const count = this.#defaults.get(`${of} ${key}`)
    if (count) count.defaulted++
  }
}
