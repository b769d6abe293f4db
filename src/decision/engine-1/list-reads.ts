/** Collects every place where a definition reads a list, and what a decision needs of each list. */
import { escapeStep } from '#registry/content/json-pointer.ts'
import type { CompiledDefinition, Factor, Inputs, ListNeeds, PolicyValue } from '../model.ts'
import { joinKeyParts } from './entry-key.ts'
import { formatValue, type InputValue } from './inputs.ts'
import { readKnownInputs, type Subject, type UnboundLayout } from './layout.ts'
import { findListKeys, findOperands, type UnboundTest } from './unary.ts'

export type Reference = CompiledDefinition['references'][number]

/** The place with the requested keys. */
interface ListRead extends Reference {
  readonly asks: 'all' | ((held: readonly (InputValue | undefined)[]) => readonly string[])
}

/** In the order of the definition. */
export function collectListReads(layout: UnboundLayout): ListRead[] {
  const { definition } = layout
  const asking = new ListReadCollector(layout)
  definition.inputs.forEach(({ name, one_of }, index) => {
    if (!one_of) return
    const { list_key, field = null } = one_of
    const pointer = `/inputs/${index}/one_of`
    if (field === null) asking.keys(list_key, pointer, null, [layout.subject(name)])
    else asking.whole(list_key, pointer, field)
  })
  if (definition.family === 'rule') {
    asking.table('/table')
    return asking.asked
  }
  definition.factors.forEach((factor, index) => {
    asking.factor(factor, `/factors/${index}`)
  })
  const { list_key, ...fields } = definition.bands
  for (const [member, field] of Object.entries(fields)) asking.whole(list_key, `/bands/${member}`, field)
  layout.conditions.forEach((conditions, index) => {
    conditions.forEach(({ subject, test }, n) => {
      asking.test(test, subject, `/triggers/${index}/when/${n}/test`)
    })
  })
  return asking.asked
}

class ListReadCollector {
  readonly asked: ListRead[] = []
  private readonly layout: UnboundLayout

  constructor(layout: UnboundLayout) {
    this.layout = layout
  }

  whole(list_key: string, pointer: string, field: string): void {
    this.asked.push({ list_key, pointer, key: null, field, asks: 'all' })
  }

  keys(list_key: string, pointer: string, field: string | null, subjects: readonly Subject[]): void {
    this.asked.push({ list_key, pointer, key: null, field, asks: (held) => resolveKeys(subjects, held) })
  }

  value(given: PolicyValue | undefined, pointer: string): void {
    if (typeof given !== 'object') return
    const { list_key, key, field } = given
    this.asked.push({ list_key, pointer, key, field, asks: () => [key] })
  }

  values(given: readonly PolicyValue[] | undefined, pointer: string): void {
    given?.forEach((value, index) => {
      this.value(value, `${pointer}/${index}`)
    })
  }

  test(test: UnboundTest, subject: Subject, pointer: string): void {
    for (const list_key of findListKeys(test)) this.keys(list_key, pointer, null, [subject])
    const { title, column } = subject
    for (const { list_key, key, field, minor = false } of findOperands(test)) {
      const compares = { title, type: column.kind, minor }
      this.asked.push({ list_key, pointer, key, field, compares, asks: () => [key] })
    }
  }

  table(pointer: string): void {
    const parsed = this.layout.tables.get(pointer)
    if (!parsed) return
    this.values(parsed.table.priorities, `${pointer}/priorities`)
    parsed.rows.forEach(({ row, tests }, index) => {
      const at = `${pointer}/rows/${index}`
      tests.forEach((test, n) => {
        this.test(test, parsed.subjects[n] as Subject, `${at}/when/${n}`)
      })
      this.values(row.then, `${at}/then`)
    })
    this.values(parsed.table.otherwise?.then, `${pointer}/otherwise/then`)
  }

  factor(factor: Factor, pointer: string): void {
    const { subject } = this.layout
    this.value(factor.weight_bps, `${pointer}/weight_bps`)
    switch (factor.form) {
      case 'lookup':
        this.keys(factor.list_key, pointer, factor.field, factor.inputs.map(subject))
        break
      case 'table':
        this.table(`${pointer}/table`)
        break
      case 'presence':
        this.keys(factor.list_key, pointer, null, [subject(factor.input)])
        for (const member of ['present', 'absent', 'at_most'] as const)
          this.value(factor[member], `${pointer}/${member}`)
        break
      case 'plugin':
        // The manifest of the version in force says which lists it may read.
        break
      case 'score_map':
        for (const [name, score] of Object.entries(factor.scores)) {
          this.value(score, `${pointer}/scores/${escapeStep(name)}`)
        }
    }
    if ('on_missing' in factor && factor.on_missing !== 'fail') {
      this.value(factor.on_missing.default, `${pointer}/on_missing/default`)
    }
  }
}

/** The keys for these inputs: one, or one per item of a list. */
function resolveKeys(subjects: readonly Subject[], held: readonly (InputValue | undefined)[]): readonly string[] {
  const values = subjects.map(({ slot }) => held[slot])
  const [only] = values
  if (values.length === 1 && typeof only === 'object') return only
  const parts = values.map((value, index) =>
    value === undefined || typeof value === 'object'
      ? undefined
      : formatValue(value, (subjects[index] as Subject).column),
  )
  return parts.every((part) => part !== undefined) ? [joinKeyParts(parts)] : []
}

export function resolveListNeeds(layout: UnboundLayout, asked: readonly ListRead[], inputs: Inputs): ListNeeds {
  const held = readKnownInputs(layout.readers, inputs)
  const needs = new Map<string, 'all' | Set<string>>()
  for (const { list_key, asks } of asked) {
    const sofar = needs.get(list_key) ?? new Set<string>()
    if (asks === 'all') needs.set(list_key, 'all')
    else if (sofar === 'all') continue
    else {
      for (const key of asks(held)) sofar.add(key)
      needs.set(list_key, sofar)
    }
  }
  return new Map([...needs].map(([list_key, keys]) => [list_key, keys === 'all' ? keys : [...keys]]))
}
