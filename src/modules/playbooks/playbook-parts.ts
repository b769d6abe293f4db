/** Converts a playbook to entries of a registry version, one for each part, and back, so that differences are shown step by step. */
import type { documentStore } from '#modules/definitions/index.ts'
import type { Playbook, PlaybookClock, PlaybookOutcome, PlaybookStep } from './model.ts'

type Part = 'settings' | 'fact' | 'clock' | 'step' | 'outcome'

interface PartEntry extends documentStore.DocumentEntry {
  readonly part: Part
  readonly name: string
  readonly position: number
  readonly value: unknown
}
type Json = Readonly<Record<string, unknown>>

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const toObject = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

/** The short form of an outcome is its code alone. */
const toOutcome = (value: unknown): Json => (typeof value === 'string' ? { code: value } : toObject(value))

const toEntries = (part: Part, values: readonly Json[], name: string): PartEntry[] =>
  values.map((value, position) => ({ part, name: String(value[name]), position, value }))

export function toPlaybookEntries(text: documentStore.DefinitionText): PartEntry[] {
  const { facts, clocks, steps, outcomes, ...settings } = text
  return [
    { part: 'settings', name: 'playbook', position: 0, value: settings },
    ...toEntries('fact', toList(facts).map(toObject), 'name'),
    ...toEntries('clock', toList(clocks).map(toObject), 'key'),
    ...toEntries('step', toList(steps).map(toObject), 'key'),
    ...toEntries('outcome', toList(outcomes).map(toOutcome), 'code'),
  ]
}

export function fromPlaybookEntries(entries: readonly documentStore.DocumentEntry[]): documentStore.DefinitionText {
  const listValues = (part: Part) =>
    (entries as readonly PartEntry[])
      .filter((entry) => entry.part === part)
      .toSorted((a, b) => a.position - b.position)
      .map(({ value }) => value)
  const [settings] = listValues('settings')
  const [facts, clocks] = [listValues('fact'), listValues('clock')]
  return {
    ...toObject(settings),
    ...(facts.length > 0 && { facts }),
    ...(clocks.length > 0 && { clocks }),
    steps: listValues('step'),
    outcomes: listValues('outcome').map(shortenOutcome),
  }
}

/** As it was most likely written: a code without conditions is the code alone. */
function shortenOutcome(value: unknown): unknown {
  const { code, ...conditions } = toObject(value)
  return Object.keys(conditions).length === 0 ? code : value
}

/** Fills in every optional member. The text has passed `validatePlaybook`. */
export function toPlaybook(text: documentStore.DefinitionText): Playbook {
  const { title, description = null, subject_types, typologies = [], facts = [], clocks = [], steps, outcomes } = text
  return {
    title: title as string,
    description: description as string | null,
    subject_types: subject_types as Playbook['subject_types'],
    typologies: typologies as readonly string[],
    facts: facts as Playbook['facts'],
    clocks: clocks as readonly PlaybookClock[],
    steps: toList(steps).map((step) => toStep(toObject(step))),
    outcomes: toList(outcomes).map((outcome) => {
      const { code, needs = [], when = null } = toOutcome(outcome)
      return { code, needs, when } as PlaybookOutcome
    }),
  }
}

function toStep(step: Json): PlaybookStep {
  const { key, kind, title = null, with: settings = {}, needs = [], when = null } = step
  const { required = false, reuse_days = null, max_cost = null } = step
  return { key, kind, title, with: settings, needs, required, when, reuse_days, max_cost } as unknown as PlaybookStep
}
