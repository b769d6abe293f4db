/** Changed values of a document before and after, by path. */
import '../registry.css'
import { formatEntryValue } from '../type-texts.ts'
import { formatPolicyValue, isListValue } from './definition-model.ts'

interface Change {
  readonly pointer: string
  readonly before?: unknown
  readonly after?: unknown
}

interface ChangesProps {
  readonly changes: readonly Change[]
  readonly label: string
  readonly sides?: readonly [before: string, after: string]
}

const DEFAULT_SIDES = ['Before', 'After'] as const
const DEFAULT_WORDS = ['was', 'becomes'] as const

export function Changes({ changes, label, sides = DEFAULT_SIDES }: ChangesProps) {
  const [before, after] = sides === DEFAULT_SIDES ? DEFAULT_WORDS : sides.map((name) => name.toLowerCase())
  return (
    <table className="changes" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">{sides[0]}</th>
          <th scope="col">{sides[1]}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <tr key={change.pointer}>
            <th scope="row" title={change.pointer}>
              {formatPlace(change.pointer)}
            </th>
            <Side change={change} side="before" word={before} />
            <Side change={change} side="after" word={after} />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface SideProps {
  readonly change: Change
  readonly side: 'before' | 'after'
  /** What a value of this side is called where the heading of the column is not in sight. */
  readonly word: string | undefined
}

function Side({ change, side, word }: SideProps) {
  if (!(side in change)) {
    const isRemoved = side === 'after' && word === DEFAULT_WORDS[1]
    return <td className="nothing">{isRemoved ? 'removed' : 'not present'}</td>
  }
  return (
    <td className={side}>
      <span className="side-word">{word}</span>
      <span className="lines">{formatSide(change[side])}</span>
    </td>
  )
}

/** Sentences and list values are rendered as blocks. */
const formatSide = (value: unknown): string => {
  if (isListValue(value))
    return 'value' in value ? `${formatPolicyValue(value)}: ${String(value.value)}` : formatPolicyValue(value)
  if (Array.isArray(value) && value.every((item) => isListValue(item) || isSentence(item)))
    return value.map(formatSide).join('\n')
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return formatEntryValue(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : formatEntryValue(value)
}
const isSentence = (value: unknown): boolean => typeof value === 'string' && value.endsWith('.')

/** `/table/rows/2/when/0` → `table, row 3, test 1`. */
export function formatPlace(pointer: string): string {
  const steps = pointer.split('/').slice(1)
  const names: string[] = []
  for (const step of steps) {
    const last = names.at(-1)
    if (/^\d+$/.test(step) && last !== undefined) names.splice(-1, 1, `${toSingular[last] ?? last} ${Number(step) + 1}`)
    else names.push(step.replaceAll('~1', '/').replaceAll('~0', '~').replaceAll('_', ' '))
  }
  return names.join(', ')
}
const toSingular: Readonly<Record<string, string>> = {
  rows: 'row',
  when: 'test',
  then: 'output',
  columns: 'column',
  inputs: 'input',
  values: 'value',
  enum: 'value',
  factors: 'factor',
  triggers: 'trigger',
}
