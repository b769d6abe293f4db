/**
 * Statistics of payloads in constant memory: for each pointer how often it occurs, with which kinds of value, in which range, and
 * its most frequent texts. Values are kept only for declared members that are not personal. Sketches of parts can be merged.
 */
import type { MemberNode } from './member-tree.ts'

export const SKETCH_KINDS = ['null', 'boolean', 'number', 'string', 'object', 'array'] as const
export type SketchKind = (typeof SKETCH_KINDS)[number]

/** Most frequent values kept of one pointer (Space-Saving). */
export const TOP_VALUES = 32
/** A member whose values replace each other this often has no frequent values: only their number is estimated from then on. */
const MAX_REPLACED = 500
/** Longer texts are not counted as values. */
const MAX_VALUE_CHARS = 64
/** Registers of HyperLogLog: 2^8, an error of about 6.5 %. */
const REGISTER_BITS = 8
const REGISTERS = 1 << REGISTER_BITS

export interface TopValue {
  readonly value: string
  readonly count: number
  /** By how much the count may be too high. */
  readonly error: number
  readonly first: string
}

/** One pointer, as it is stored. `first…` and `…_at` are ids of payloads. */
export interface PointerSketch {
  readonly pointer: string
  readonly declared: boolean
  readonly personal: boolean
  /** Records that have it at least once. */
  readonly records: number
  readonly kinds: Readonly<Partial<Record<SketchKind, { readonly count: number; readonly first: string }>>>
  readonly minimum: number | null
  readonly minimum_at: string | null
  readonly maximum: number | null
  readonly maximum_at: string | null
  readonly min_length: number | null
  readonly max_length: number | null
  readonly max_length_at: string | null
  /** Null where values are not kept. */
  readonly top: readonly TopValue[] | null
  /** The top values are all values there were. */
  readonly is_complete: boolean
  readonly registers: string | null
}

export interface SketchSummary {
  readonly payloads: number
  readonly records: number
  readonly pointers: readonly PointerSketch[]
}

interface Counter {
  count: number
  error: number
  first: string
}

/** The statistics of one pointer while they are collected. */
class PointerCounter {
  readonly pointer: string
  readonly declared: boolean
  readonly personal: boolean
  records = 0
  last_record = -1
  readonly counts = new Array<number>(SKETCH_KINDS.length).fill(0)
  readonly firsts = new Array<string>(SKETCH_KINDS.length).fill('')
  minimum = Number.POSITIVE_INFINITY
  minimum_at = ''
  maximum = Number.NEGATIVE_INFINITY
  maximum_at = ''
  min_length = Number.POSITIVE_INFINITY
  max_length = -1
  max_length_at = ''
  readonly top: Map<string, Counter> | null
  is_complete = true
  /** How often a value gave way to another one. */
  #replaced = 0
  readonly registers: Uint8Array | null

  constructor({ pointer, declared, personal }: Pick<MemberNode, 'pointer' | 'declared' | 'personal'>) {
    this.pointer = pointer
    this.declared = declared
    this.personal = personal
    const keepsValues = declared && !personal
    this.top = keepsValues ? new Map() : null
    this.registers = keepsValues ? new Uint8Array(REGISTERS) : null
  }

  addKind(kind: number, count: number, payload_id: string): void {
    if (this.counts[kind] === 0) this.firsts[kind] = payload_id
    this.counts[kind] = (this.counts[kind] as number) + count
  }

  addNumber(value: number, payload_id: string): void {
    if (this.personal || !this.declared) return
    if (value < this.minimum) {
      this.minimum = value
      this.minimum_at = payload_id
    }
    if (value > this.maximum) {
      this.maximum = value
      this.maximum_at = payload_id
    }
  }

  addText(value: string, payload_id: string): void {
    const { length } = value
    if (length < this.min_length) this.min_length = length
    if (length > this.max_length) {
      this.max_length = length
      this.max_length_at = payload_id
    }
    if (this.top === null) return
    if (length > MAX_VALUE_CHARS) {
      this.is_complete = false
      return
    }
    const known = this.top.get(value)
    if (known) {
      known.count++
      return
    }
    addToRegisters(this.registers as Uint8Array, hashText(value))
    if (this.#replaced < MAX_REPLACED) this.addValue(value, { count: 1, error: 0, first: payload_id })
  }

  addValue(value: string, counter: Counter): void {
    const top = this.top as Map<string, Counter>
    const known = top.get(value)
    if (known) {
      known.count += counter.count
      known.error += counter.error
      return
    }
    if (top.size < TOP_VALUES) {
      top.set(value, { ...counter })
      return
    }
    this.is_complete = false
    this.#replaced++
    let smallest = ''
    let least = Number.POSITIVE_INFINITY
    for (const [text, { count }] of top) {
      if (count >= least) continue
      smallest = text
      least = count
    }
    top.delete(smallest)
    top.set(value, { count: least + counter.count, error: least + counter.error, first: counter.first })
  }

  toSketch(): PointerSketch {
    const { pointer, declared, personal, records, is_complete } = this
    const kinds: Partial<Record<SketchKind, { count: number; first: string }>> = {}
    SKETCH_KINDS.forEach((kind, index) => {
      const count = this.counts[index] as number
      if (count > 0) kinds[kind] = { count, first: this.firsts[index] as string }
    })
    const hasNumbers = this.maximum !== Number.NEGATIVE_INFINITY
    const hasTexts = this.max_length >= 0
    const top = this.top && [...this.top].map(([value, counter]) => ({ value, ...counter }))
    return {
      ...{ pointer, declared, personal, records, kinds },
      minimum: hasNumbers ? this.minimum : null,
      minimum_at: hasNumbers ? this.minimum_at : null,
      maximum: hasNumbers ? this.maximum : null,
      maximum_at: hasNumbers ? this.maximum_at : null,
      min_length: hasTexts ? this.min_length : null,
      max_length: hasTexts ? this.max_length : null,
      max_length_at: hasTexts ? this.max_length_at : null,
      top: top?.toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1)) ?? null,
      is_complete,
      registers: this.registers && Buffer.from(this.registers).toString('base64'),
    }
  }
}

/** FNV-1a. */
function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  // The low bits of FNV are weak for short texts.
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  return (hash ^ (hash >>> 12)) >>> 0
}

function addToRegisters(registers: Uint8Array, hash: number): void {
  const register = hash & (REGISTERS - 1)
  const rank = Math.clz32(hash >>> REGISTER_BITS) - REGISTER_BITS + 1
  if (rank > (registers[register] as number)) registers[register] = rank
}

/** About how many distinct values there were; null where values are not kept. */
export function estimateDistinct({ registers, top, is_complete }: PointerSketch): number | null {
  if (registers === null || top === null) return null
  if (is_complete) return top.length
  const ranks = Buffer.from(registers, 'base64')
  let sum = 0
  let zeros = 0
  for (const rank of ranks) {
    sum += 2 ** -rank
    if (rank === 0) zeros++
  }
  const raw = ((0.7213 / (1 + 1.079 / REGISTERS)) * REGISTERS * REGISTERS) / sum
  return Math.round(raw <= 2.5 * REGISTERS && zeros > 0 ? REGISTERS * Math.log(REGISTERS / zeros) : raw)
}

/** Collects the statistics of payloads of one contract. */
export class PayloadSketch {
  payloads = 0
  records = 0
  #payload_id = ''
  readonly #bySlot: (PointerCounter | undefined)[] = []
  readonly #byPointer = new Map<string, PointerCounter>()

  constructor(earlier?: SketchSummary) {
    if (!earlier) return
    this.payloads = earlier.payloads
    this.records = earlier.records
    for (const sketch of earlier.pointers) this.#byPointer.set(sketch.pointer, restoreCounter(sketch))
  }

  startPayload(payload_id: string): void {
    this.payloads++
    this.#payload_id = payload_id
  }

  startRecord(): void {
    this.records++
  }

  add(node: MemberNode, value: unknown): void {
    const counter = this.#bySlot[node.slot] ?? this.#createCounter(node)
    const payload_id = this.#payload_id
    if (counter.last_record !== this.records) {
      counter.last_record = this.records
      counter.records++
    }
    if (typeof value === 'string') {
      counter.addKind(3, 1, payload_id)
      counter.addText(value, payload_id)
    } else if (typeof value === 'number') {
      counter.addKind(2, 1, payload_id)
      counter.addNumber(value, payload_id)
    } else if (value === null) counter.addKind(0, 1, payload_id)
    else if (typeof value === 'boolean') counter.addKind(1, 1, payload_id)
    else counter.addKind(Array.isArray(value) ? 5 : 4, 1, payload_id)
  }

  #createCounter(node: MemberNode): PointerCounter {
    const counter = this.#byPointer.get(node.pointer) ?? new PointerCounter(node)
    this.#byPointer.set(node.pointer, counter)
    this.#bySlot[node.slot] = counter
    return counter
  }

  toSummary(): SketchSummary {
    const pointers = [...this.#byPointer.values()].map((counter) => counter.toSketch())
    return {
      payloads: this.payloads,
      records: this.records,
      pointers: pointers.toSorted((a, b) => (a.pointer < b.pointer ? -1 : 1)),
    }
  }
}

function restoreCounter(sketch: PointerSketch): PointerCounter {
  const counter = new PointerCounter(sketch)
  counter.records = sketch.records
  SKETCH_KINDS.forEach((kind, index) => {
    const known = sketch.kinds[kind]
    if (known) counter.addKind(index, known.count, known.first)
  })
  counter.minimum = sketch.minimum ?? counter.minimum
  counter.minimum_at = sketch.minimum_at ?? ''
  counter.maximum = sketch.maximum ?? counter.maximum
  counter.maximum_at = sketch.maximum_at ?? ''
  counter.min_length = sketch.min_length ?? counter.min_length
  counter.max_length = sketch.max_length ?? counter.max_length
  counter.max_length_at = sketch.max_length_at ?? ''
  for (const { value, ...rest } of sketch.top ?? []) counter.addValue(value, rest)
  counter.is_complete = sketch.is_complete
  if (sketch.registers !== null) counter.registers?.set(Buffer.from(sketch.registers, 'base64'))
  return counter
}
