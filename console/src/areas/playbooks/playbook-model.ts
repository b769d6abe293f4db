/** A playbook as its page shows it. Drafts may hold any JSON, so every member is read with care. Pure. */
import { findObjectFault } from '#console/ui/json-fault.ts'

type Json = Readonly<Record<string, unknown>>

export interface StepView {
  readonly key: string
  readonly title: string
  readonly kind: string
  /** What it does, from its settings. */
  readonly about: string
  /** What a person confirms. */
  readonly checklist: readonly string[]
  readonly needs: readonly string[]
  readonly required: boolean
  readonly conditions: readonly string[]
  readonly reuse_days: number | null
  readonly max_cost: string | null
}

export interface PlaybookView {
  readonly about: string | null
  readonly subject_types: readonly string[]
  readonly typologies: readonly string[]
  readonly clocks: readonly (readonly [name: string, limit: string])[]
  readonly steps: readonly StepView[]
  readonly outcomes: readonly {
    readonly code: string
    readonly needs: readonly string[]
    readonly conditions: readonly string[]
  }[]
}

const toObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const toTexts = (value: unknown): readonly string[] => toList(value).map(String)
const toText = (value: unknown): string => (typeof value === 'string' ? value : '')

const toConditions = (when: unknown): readonly string[] =>
  Object.entries(toObject(when)).map(([fact, test]) => `${fact.replaceAll('_', ' ')}: ${String(test)}`)

function formatClock(clock: Json): string {
  const { hours, days, day_kind, calendar } = clock
  if (hours !== undefined) return `${String(hours)} hours`
  return `${String(days)} ${toText(day_kind)} days${calendar === undefined ? '' : `, calendar ${String(calendar)}`}`
}

function describeSettings(kind: string, settings: Json): string {
  const { capability, provider, matrix, rule, title, role } = settings
  switch (kind) {
    case 'provider':
      return `Asks ${provider === undefined ? 'a provider' : String(provider)} for ${toText(capability)}`
    case 'evaluation':
      return matrix === undefined ? `Runs the rule ${toText(rule)}` : `Runs the matrix ${toText(matrix)}`
    case 'task':
      return `${toText(title)} (${toText(role).replaceAll('_', ' ')})`
    default:
      return Object.entries(settings)
        .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', ')
  }
}

function toStep(value: unknown): StepView {
  const step = toObject(value)
  const settings = toObject(step['with'])
  const { amount, currency } = toObject(step['max_cost'])
  const key = toText(step['key'])
  const kind = toText(step['kind'])
  return {
    key,
    title: toText(step['title']) || key,
    kind,
    about: describeSettings(kind, settings),
    checklist: toTexts(settings['checklist']),
    needs: toTexts(step['needs']),
    required: step['required'] === true,
    conditions: toConditions(step['when']),
    reuse_days: typeof step['reuse_days'] === 'number' ? step['reuse_days'] : null,
    max_cost: amount === undefined ? null : `${String(amount)} ${String(currency)}`,
  }
}

export function parsePlaybook(definition: Json): PlaybookView {
  return {
    about: toText(definition['description']) || null,
    subject_types: toTexts(definition['subject_types']),
    typologies: toTexts(definition['typologies']),
    clocks: toList(definition['clocks']).map((value) => {
      const clock = toObject(value)
      return [toText(clock['title']) || toText(clock['key']), formatClock(clock)] as const
    }),
    steps: toList(definition['steps']).map(toStep),
    outcomes: toList(definition['outcomes']).map((value) => {
      const outcome = typeof value === 'string' ? { code: value } : toObject(value)
      const { code, needs, when } = outcome as Json
      return { code: toText(code), needs: toTexts(needs), conditions: toConditions(when) }
    }),
  }
}

export const findPlaybookFault = (text: string): string | null => findObjectFault(text, 'A playbook')

/** Null while the text is not a JSON object. */
export const parsePlaybookText = (text: string): Json | null =>
  findPlaybookFault(text) === null ? (JSON.parse(text) as Json) : null

export const formatPlaybook = (definition: Json): string => JSON.stringify(definition, null, 2)
