/** The parts of a source contract. A draft may be any JSON, so every part may be missing. Pure. */
import type { Input } from '#console/ui/decision/definition-model.ts'

/** A fact has the members of the input that it can give. */
export interface Fact extends Omit<Input, 'title' | 'default' | 'from'> {
  readonly title?: string
  /** JSON Pointer into a record. */
  readonly at: string
  readonly required?: boolean
  readonly personal?: boolean
}

export interface ContractCheck {
  readonly key: string
  readonly title?: string
  readonly when: readonly { readonly of: string; readonly test: string }[]
  readonly else: 'quarantine' | 'note'
}

export interface Example {
  readonly payload: unknown
  readonly received_at?: string
}
export interface CounterExample extends Example {
  readonly violates: readonly string[]
}

export interface Provenance {
  readonly source?: string
  readonly as_of?: string
  readonly required?: readonly ('source' | 'as_of')[]
}

export interface Contract {
  readonly capability?: string
  readonly record?: Readonly<Record<string, unknown>>
  readonly records_at?: string
  readonly max_records?: number
  readonly max_bytes?: number
  readonly unknown_members?: 'note' | 'refuse' | 'drop'
  readonly partial?: 'record'
  readonly facts?: readonly Fact[]
  readonly personal?: readonly { readonly at: string; readonly guessed?: boolean }[]
  readonly provenance?: Provenance
  readonly freshness?: { readonly max_age_s: number; readonly measured_from: 'as_of' }
  readonly checks?: readonly ContractCheck[]
  readonly examples?: readonly Example[]
  readonly counter_examples?: readonly CounterExample[]
}

const arrays = ['facts', 'personal', 'checks', 'examples', 'counter_examples']

/** Reads a JSON object as a contract and drops parts of the wrong type. */
export function parseContract(text: Readonly<Record<string, unknown>>): Contract {
  return Object.fromEntries(
    Object.entries(text).filter(([name, value]) => !arrays.includes(name) || Array.isArray(value)),
  )
}

const DAY_S = 86_400
const HOUR_S = 3600

/** `2592000` → `30 days`. */
export function formatAge(seconds: number): string {
  const [size, word] =
    seconds % DAY_S === 0 ? [DAY_S, 'day'] : seconds % HOUR_S === 0 ? [HOUR_S, 'hour'] : [1, 'second']
  const count = seconds / Number(size)
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`
}

export const unknownMemberTexts = {
  note: 'Noted and reported once as drift; nothing reads them',
  refuse: 'The payload goes into quarantine',
  drop: 'Ignored',
} as const

/** Facts that a check tests, on either side of a comparison. */
export const listCheckedFacts = ({ checks = [] }: Contract): ReadonlySet<string> =>
  new Set(
    checks.flatMap(({ when }) =>
      when.flatMap(({ of, test }) => [of, ...(/^\s*(?:[<>]=?|!?=)\s*([A-Za-z]\w*)\s*$/.exec(test)?.slice(1) ?? [])]),
    ),
  )
