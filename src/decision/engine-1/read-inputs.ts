/** First step of a decision: parses the inputs into a run and checks them against lists of allowed values. */
import { escapeStep } from '#registry/content/json-pointer.ts'
import type { BoundLists, Explanation, Finding, Input, Inputs, UsedEntry } from '../model.ts'
import { type Binder, createFieldReader } from './binder.ts'
import { findInputFaults, formatForSentence, formatValue, type InputReader, type InputValue } from './inputs.ts'
import type { UnboundLayout } from './layout.ts'
import { Run } from './run.ts'
import { formatForMessage, MAX_FINDINGS } from './shape.ts'

/** A run with the inputs or their faults. */
export type ReadInputs = (inputs: Inputs, lists: BoundLists | undefined) => Run | readonly Finding[]

export function bindInputs(layout: UnboundLayout, binder: Binder): ReadInputs {
  const { readers, slots } = layout
  const checks = readers.flatMap(({ input }, index) => {
    const check = bindOneOf(input, index, layout, binder)
    return check ? [check] : []
  })
  return (inputs, lists) => {
    const run = new Run(slots, lists)
    let given = 0
    let isFaulty = false
    for (let slot = 0; slot < readers.length; slot++) {
      const { input, read, fallback, getRaw: own } = readers[slot] as InputReader
      const value = own(inputs)
      const is_given = value !== undefined
      const held = is_given ? read(value) : fallback
      if (held === undefined) {
        isFaulty = true
        continue
      }
      if (is_given) given++
      run.values[slot] = held
      run.raw_values[slot] = is_given ? value : input.default
      run.defaulted[slot] = !is_given
    }
    const faults = isFaulty || Object.keys(inputs).length > given ? findInputFaults(readers, inputs) : []
    // Continues after a fault, so that all are reported together.
    for (const check of checks) check(run)
    if (faults.length > 0) return [...faults, ...run.findings].slice(0, MAX_FINDINGS)
    return run.findings.length > 0 ? run.findings : run
  }
}

/** Allowed values that are keys of a list, or values of one of its fields. */
function bindOneOf(input: Input, index: number, layout: UnboundLayout, binder: Binder): ((run: Run) => void) | null {
  if (!input.one_of) return null
  const { list_key, field } = input.one_of
  const { slot, column } = layout.subject(input.name)
  const at = `/inputs/${index}/one_of`
  const list = binder.bindList(list_key, at)
  const allows = field === undefined ? (value: string, run: Run) => run.isListed(list, value) : fieldValues(field)
  return (run) => {
    const held = run.values[slot]
    const refuse = (value: string, pointer: string) => {
      const message = `${input.title}: ${formatForMessage(value)} is not one of the allowed values of the list "${list_key}".`
      run.fail('input_not_allowed', pointer, message)
    }
    const pointer = `/${escapeStep(input.name)}`
    if (typeof held === 'object') {
      held.forEach((item, n) => {
        if (!allows(item, run)) refuse(item, `${pointer}/${n}`)
      })
    } else if (held !== undefined) {
      const value = formatValue(held, column)
      if (!allows(value, run)) refuse(value, pointer)
    }
  }

  function fieldValues(name: string): (value: string, run: Run) => boolean {
    if (!list.all) {
      const message = `The list "${list_key}" is too large for its fields to be allowed values.`
      binder.findings.error('list_too_large', at, message)
    }
    const read = createFieldReader(name)
    const first = new Map<unknown, UsedEntry>()
    for (const { key, entry, hash } of list.all ?? []) {
      const value = read(entry)
      if (!first.has(value)) first.set(value, { list_key, key, field: name, value, hash })
    }
    return (value, run) => {
      const used = first.get(value)
      if (used) run.used.push(used)
      return used !== undefined
    }
  }
}

export function explainInputs({ readers }: UnboundLayout, run: Run): Explanation['inputs'] {
  const explained: Explanation['inputs'][number][] = []
  for (let slot = 0; slot < readers.length; slot++) {
    const { name } = (readers[slot] as InputReader).input
    explained.push({ name, value: run.raw_values[slot], defaulted: run.defaulted[slot] as boolean })
  }
  return explained
}

/** Sentences about inputs that used their default. */
export function describeDefaults({ readers }: UnboundLayout, run: Run): string[] {
  const sentences: string[] = []
  for (let slot = 0; slot < readers.length; slot++) {
    if (!run.defaulted[slot]) continue
    const { input, column } = readers[slot] as InputReader
    sentences.push(
      `${input.title} was not given; ${formatForSentence(run.values[slot] as InputValue, column)} was taken instead.`,
    )
  }
  return sentences
}
