/** Fills the sentences of a definition from a run. */
import { formatForSentence, type InputValue } from './inputs.ts'
import type { Subject, UnboundLayout } from './layout.ts'
import type { Run } from './run.ts'
import { compileSentence, type Sentence } from './sentence-template.ts'

export function compileRunSentence(
  text: string,
  layout: UnboundLayout,
  subjects: readonly Subject[],
  list_key = '',
): Sentence<Run> {
  const shownValue =
    ({ slot, column }: Subject): Sentence<Run> =>
    (run) =>
      formatForSentence(run.values[slot] as InputValue, column)
  return compileSentence<Run>(text, (name) => {
    switch (name) {
      case 'input': {
        const titles = subjects.map(({ title }) => title).join(', ')
        return () => titles
      }
      case 'value': {
        const values = subjects.map(shownValue)
        return (run) => values.map((value) => value(run)).join(', ')
      }
      case 'score_bps':
        return (run) => String(run.score_bps)
      case 'list_key':
        return () => list_key
      default:
        return shownValue(layout.subject(name))
    }
  })
}
