/** What an entry of the history of an alert says. Pure. */
import type { Schemas } from '@probity/client'
import { toSentence } from '#console/ui/format.ts'

/** Where the word of the model is not that of the console. */
const eventTexts: Readonly<Record<string, string>> = { woken: 'Snooze ended', released: 'Returned to queue' }

/** Priorities are words that people know; other members have values of their own. */
export function describeEntry({ event, changes }: Pick<Schemas['AlertHistoryEntry'], 'event' | 'changes'>): string {
  const text = eventTexts[event] ?? toSentence(event)
  const priority = changes.find(({ member }) => member === 'priority')
  if (!priority?.before || !priority.after || priority.before === priority.after) return text
  return `${event === 'priority_changed' ? text : `${text}, priority`} from ${priority.before} to ${priority.after}`
}
