/** Values of an entry as people read them: words, lists, small groups of named facts. Personal data is shown to whoever may read the list. */
import './registry.css'
import type { Entry } from './registry-queries.ts'
import { fieldOf, filledMembers, inWords, type TypeWords, titleOf } from './type-words.ts'
import { sentence } from './words.ts'

const isRecord = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function EntryValue({ value }: { readonly value: unknown }) {
  if (Array.isArray(value)) {
    if (value.length === 0) return <span className="quiet">none</span>
    if (value.every((item) => !isRecord(item))) return <span>{value.map(inWords).join(', ')}</span>
    return (
      <ul className="value-list">
        {value.map((item, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: stored content does not move.
          <li key={place}>
            <EntryValue value={item} />
          </li>
        ))}
      </ul>
    )
  }
  if (!isRecord(value)) {
    return value === null || value === undefined || value === '' ? (
      <span className="quiet">none</span>
    ) : (
      <span className={typeof value === 'number' ? 'number' : undefined}>{inWords(value)}</span>
    )
  }
  return (
    <span className="value-parts">
      {Object.entries(value)
        .filter(([, part]) => part !== null && part !== '')
        .map(([name, part]) => (
          <span key={name}>
            <span className="quiet">{sentence(name)}</span> <EntryValue value={part} />
          </span>
        ))}
    </span>
  )
}

interface EntryFactsProps {
  readonly type: TypeWords
  readonly entry: Entry
}

/** All that an entry says, by the titles of its type. */
export function EntryFacts({ type, entry }: EntryFactsProps) {
  return (
    <dl className="facts entry-facts">
      {filledMembers(type, entry).map((name) => {
        const pointer = `/${name}`
        const unit = fieldOf(type, pointer)?.unit
        return (
          <div key={name}>
            <dt>{titleOf(type, pointer)}</dt>
            <dd>
              <EntryValue value={entry[name]} /> {unit && <span className="quiet">{unit}</span>}
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
