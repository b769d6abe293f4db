/** How the sentences of a definition are filled from a decision in progress. */
import { sentenceText } from './inputs.ts'
import type { Subject, WrittenLayout } from './layout.ts'
import { compileSentence, type Sentence } from './reasons.ts'
import type { Run } from './run.ts'

export function sentenceOf(
  text: string,
  layout: WrittenLayout,
  subjects: readonly Subject[],
  list_key = '',
): Sentence<Run> {
  const shownValue =
    ({ slot, column }: Subject): Sentence<Run> =>
    (run) =>
      sentenceText(run.held[slot] as never, column)
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
