/** For tests: matrices, lists and inputs made by chance, each test with its meaning for the naive reading. */
import fc, { type GeneratorValue } from 'fast-check'
import type {
  BoundLists,
  CollectOperator,
  DecisionTable,
  Definition,
  Factor,
  Inputs,
  PolicyValue,
  Trigger,
} from '#decision/model.ts'
import { buildList, buildLists } from './bound-lists.ts'
import type { ReferenceCell, ReferenceMatrix } from './reference-engine.ts'

const letters = ['x', 'y', 'z']
const dates = ['2023-12-31', '2024-01-01', '2024-02-29', '2024-03-01']
const decimals = ['-1', '-0.5', '0', '0.5', '1.5']
const inputs = [
  { name: 'letter', title: 'Letter', type: 'enum', values: letters, default: 'y' },
  { name: 'whole', title: 'Whole', type: 'integer', minimum: -4, maximum: 4 },
  { name: 'part', title: 'Part', type: 'decimal', scale: 1 },
  { name: 'day', title: 'Day', type: 'date' },
  { name: 'flag', title: 'Flag', type: 'boolean', default: false },
  { name: 'many', title: 'Many', type: 'list', values: letters },
] as const

/** Makes everything from one source of chance, so that fast-check can repeat and shrink it. */
export class DefinitionGenerator {
  readonly cells = new Map<string, ReferenceCell>()
  private readonly g: GeneratorValue
  constructor(g: GeneratorValue) {
    this.g = g
  }

  nat = (max: number): number => this.g(fc.nat, max)
  chance = (of = 2): boolean => this.nat(of - 1) === 0
  pick = <T>(values: readonly T[]): T => values[this.nat(values.length - 1)] as T
  times = <T>(min: number, max: number, make: (n: number) => T): T[] =>
    Array.from({ length: min + this.nat(max - min) }, (_, n) => make(n))

  /** Small ones often, so that rows meet. */
  score = (): number => (this.chance() ? this.nat(3) * 2000 : this.nat(10_000))
  value = (): PolicyValue =>
    this.chance(3) ? { list_key: 'values', key: this.pick(['a', 'b']), field: 's' } : this.score()

  given(): Inputs {
    return {
      ...(this.chance() && { letter: this.pick(letters) }),
      whole: this.nat(8) - 4,
      part: this.pick(decimals),
      day: this.pick(dates),
      ...(this.chance() && { flag: this.chance() }),
      many: this.times(0, 3, () => this.pick(letters)),
    }
  }

  /** A test on what `name` holds, recorded under its pointer. */
  test(name: string, pointer: string): string {
    const cell = this.chance(3) ? { text: '-', holds: () => true } : this.cell(name)
    this.cells.set(pointer, cell)
    return cell.text
  }

  private cell(name: string): ReferenceCell {
    const parts = this.times(1, 2, () => this.term(name))
    const text = parts.map((part) => part.text).join(this.pick([',', ' , ']))
    const holds = (item: unknown) => parts.some((part) => part.holds(item))
    return this.chance(4) ? { text: `not( ${text})`, holds: (item) => !holds(item) } : { text, holds }
  }

  private term(name: string): ReferenceCell {
    if (name === 'flag') {
      const wanted = this.chance()
      return { text: String(wanted), holds: (item) => item === wanted }
    }
    if (name === 'letter' || name === 'many') {
      if (this.chance(4)) return { text: 'in list(some)', holds: (item) => item === 'x' || item === 'z' }
      const wanted = this.pick(letters)
      return { text: `"${wanted}"`, holds: (item) => item === wanted }
    }
    if (name === 'day') return this.ordered(dates, (text) => this.pick([`"${text}"`, `date("${text}")`]), String)
    if (name === 'part') return this.ordered(decimals, String, Number)
    const scores = ['0', '2000', '2001', '4000', '5999', '6000', '10000']
    return this.ordered(name === 'whole' ? ['-3', '-1', '0', '2', '3'] : scores, String, Number)
  }

  /** Comparisons and ranges over values in ascending order. */
  private ordered(
    values: readonly string[],
    print: (text: string) => string,
    read: (value: never) => number | string,
  ): ReferenceCell {
    const number = (value: unknown) => read(value as never)
    const low = this.nat(values.length - 2)
    const high = low + 1 + this.nat(values.length - 2 - low)
    const [from, to] = [values[low] as string, values[high] as string]
    const [a, b] = [number(from), number(to)]
    const form = this.nat(6)
    if (form === 0) return { text: print(from), holds: (item) => number(item) === a }
    if (form === 1) return { text: `< ${print(to)}`, holds: (item) => number(item) < b }
    if (form === 2) return { text: `<=${print(to)}`, holds: (item) => number(item) <= b }
    if (form === 3) return { text: `> ${print(from)}`, holds: (item) => number(item) > a }
    if (form === 4) return { text: `>=${print(from)}`, holds: (item) => number(item) >= a }
    const closed = `[${print(from)}..${print(to)}]`
    if (form === 5) return { text: closed, holds: (item) => number(item) >= a && number(item) <= b }
    return { text: `]${print(from)}..${print(to)}]`, holds: (item) => number(item) > a && number(item) <= b }
  }

  table(columns: readonly string[], at: string): DecisionTable {
    const hit_policy = this.pick(['unique', 'any', 'first', 'priority', 'collect'] as const)
    const rows = this.times(1, 5, (r) => ({
      key: `r${r}`,
      when: columns.map((name, c) => this.test(name, `${at}/rows/${r}/when/${c}`)),
      then: [this.value()],
    }))
    return {
      hit_policy,
      columns,
      outputs: [{ name: 's' }],
      rows,
      ...(hit_policy === 'collect' && { collect: this.pick<CollectOperator>(['sum', 'min', 'max', 'count']) }),
      ...(hit_policy === 'priority' && { priorities: this.shuffled(rows.map(({ then }) => then[0] as PolicyValue)) }),
      ...(this.chance() && { otherwise: { then: [this.value()], reason: 'Otherwise.' } }),
    }
  }

  private shuffled<T>(values: readonly T[]): T[] {
    return values
      .map((value) => ({ value, at: this.nat(1000) }))
      .sort((a, b) => a.at - b.at)
      .map(({ value }) => value)
  }

  factor(index: number, earlier: readonly string[]): Factor {
    const base = { key: `f${index}`, title: `F${index}`, ...(this.chance() && { reason_code: this.pick(['P', 'Q']) }) }
    const on_missing = this.chance() ? 'fail' : { default: this.value(), reason: 'Missing.' }
    switch (this.nat(3)) {
      case 0: {
        const names = this.shuffled([...inputs.map(({ name }) => name), ...earlier]).slice(0, 1 + this.nat(2))
        return { ...base, form: 'table', table: this.table(names, `/factors/${index}/table`) }
      }
      case 1:
        return {
          ...base,
          form: 'lookup',
          list_key: 'some',
          field: 's',
          inputs: [this.pick(['letter', 'many'])],
          on_missing,
        }
      case 2: {
        const count = this.chance()
        const at_most = count && this.chance() ? { at_most: this.value() } : {}
        const input = this.pick(['letter', 'many'])
        return {
          ...base,
          form: 'presence',
          list_key: 'some',
          input,
          count,
          present: this.value(),
          absent: this.value(),
          ...at_most,
        }
      }
      default: {
        const of = this.pick(['letter', 'flag'])
        const known = (of === 'flag' ? ['true', 'false'] : letters).filter((_, n) => n === 0 || this.chance())
        const scores = Object.fromEntries(known.map((value) => [value, this.value()]))
        return { ...base, form: 'score_map', input: of, scores, on_missing }
      }
    }
  }

  trigger(index: number, factors: readonly string[]): Trigger {
    const names = [...inputs.map(({ name }) => name), ...factors, 'score']
    return {
      key: `t${index}`,
      title: `T${index}`,
      when: this.times(1, 2, (c) => {
        const of = this.pick(names)
        return { of, test: this.test(of, `/triggers/${index}/when/${c}/test`) }
      }),
      ...(this.chance() && { floor_band: this.pick(['low', 'middle', 'high']) }),
      reason_code: this.pick(['Q', 'R']),
      reason: 'Fired.',
    }
  }

  matrix(): ReferenceMatrix {
    const aggregation = this.pick(['weighted_sum', 'sum', 'max'] as const)
    const keys: string[] = []
    const plain = this.times(1, 4, (f) => {
      const factor = this.factor(f, keys)
      keys.push(`factor.${factor.key}`)
      return factor
    })
    let left = 10_000
    const factors = plain.map((factor, f): Factor => {
      if (aggregation !== 'weighted_sum') return factor
      const weight_bps = f === plain.length - 1 ? left : this.nat(left)
      left -= weight_bps
      return { ...factor, weight_bps }
    })
    const bands = { list_key: 'bands', band_field: 'band', from_field: 'from', to_field: 'to' }
    const triggers = this.times(0, 3, (t) => this.trigger(t, keys))
    return { definition: { family: 'matrix', inputs, factors, aggregation, bands, triggers }, cells: this.cells }
  }

  rule(): Extract<Definition, { family: 'rule' }> {
    const columns = this.shuffled(inputs.map(({ name }) => name)).slice(0, 1 + this.nat(2))
    const table = this.table(columns, '/table')
    const actions = this.chance() ? { required_actions: ['review'] } : {}
    return { family: 'rule', inputs, table, reason_code: 'R', reason: 'Hit by {value}.', ...actions }
  }

  lists(): BoundLists {
    const first = 1 + this.nat(5000)
    const second = first + 1 + this.nat(3000)
    return buildLists(
      buildList('values', { a: { s: this.score() }, b: { s: this.score() } }),
      buildList('some', { x: { s: this.score() }, z: { s: this.score() } }),
      buildList('bands', {
        high: { band: 'high', from: second, to: 10_000 },
        low: { band: 'low', from: 0, to: first - 1 },
        middle: { band: 'middle', from: first, to: second - 1 },
      }),
    )
  }
}
