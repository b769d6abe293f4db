/** A playbook as plain sentences. Drafts are described too, so any JSON is accepted. */
import type { documentStore } from '#modules/definitions/index.ts'
import type { Playbook, PlaybookClock, PlaybookCondition, PlaybookStep } from './model.ts'
import { toPlaybook } from './playbook-parts.ts'

const describeCondition = (when: PlaybookCondition | null): string =>
  when === null ? '' : ` where ${Object.entries(when).map(describeTest).join(' and ')}`

function describeTest([fact, test]: readonly [string, unknown]): string {
  const text = String(test).trim()
  return /^(not|in|[<>=[(\]])/.test(text) ? `${fact} ${text}` : `${fact} is ${text}`
}

function describeClock(clock: PlaybookClock): string {
  const name = clock.title ?? clock.key
  if ('hours' in clock) return `${name}: within ${clock.hours} hours.`
  const calendar = clock.calendar ? ` by the calendar ${clock.calendar}` : ''
  return `${name}: within ${clock.days} ${clock.day_kind} days${calendar}.`
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** What the step does, from its settings; further kinds are described by their members. */
function describeSettings({ kind, with: settings }: PlaybookStep): string {
  const { provider, capability, matrix, rule, title } = settings as Readonly<Record<string, unknown>>
  if (kind === 'provider')
    return `ask ${provider === undefined ? 'a provider' : toText(provider)} for ${toText(capability)}`
  if (kind === 'evaluation')
    return matrix === undefined ? `run the rule ${toText(rule)}` : `run the matrix ${toText(matrix)}`
  if (kind === 'task') return `a person does: ${toText(title)}`
  const members = Object.entries(settings).map(([name, value]) => `${name} ${toText(value)}`)
  return [kind, ...members].join(', ')
}

function describeStep(step: PlaybookStep): string {
  const after = step.needs.length > 0 ? `, after ${step.needs.join(', ')}` : ''
  const reuse = step.reuse_days === null ? '' : `, an answer of the last ${step.reuse_days} days is used again`
  const cost = step.max_cost === null ? '' : `, for at most ${step.max_cost.amount} ${step.max_cost.currency}`
  const word = step.required ? 'Required step' : 'Step'
  return `${word} ${step.key}: ${describeSettings(step)}${after}${describeCondition(step.when)}${reuse}${cost}.`
}

export function describePlaybook(text: documentStore.DefinitionText): string[] {
  try {
    return describeParts(toPlaybook(text))
  } catch (error) {
    // A draft may hold anything; what is wrong with it is said by its findings.
    if (error instanceof TypeError) return []
    throw error
  }
}

function describeParts({ subject_types, clocks, steps, outcomes }: Playbook): string[] {
  return [
    `For subjects of the type ${subject_types.join(', ')}.`,
    ...clocks.map(describeClock),
    ...steps.map(describeStep),
    ...outcomes.map(({ code, needs, when }) => {
      const after = needs.length > 0 ? ` once ${needs.join(', ')} ${needs.length === 1 ? 'is' : 'are'} done` : ''
      return `May end with ${code}${after}${describeCondition(when)}.`
    }),
  ]
}
