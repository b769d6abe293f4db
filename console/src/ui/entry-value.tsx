/** Values of an entry as readable text: words, lists and groups of fields. */
import './registry.css'
import { toSentence } from './format.ts'
import { formatUnit, formatValueInPoints } from './points.ts'
import type { Entry } from './registry-queries.ts'
import { findField, formatEntryValue, getFieldTitle, listFilledMembers, type TypeText } from './type-texts.ts'

const isRecord = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Members that name a part. */
const NAME_MEMBERS = ['name', 'title', 'text', 'value', 'number']

interface EntryValueProps {
  readonly value: unknown
  /** Titles of its parts; by default their names. */
  readonly titleFor?: (name: string) => string
}

export function EntryValue({ value, titleFor = toSentence }: EntryValueProps) {
  if (Array.isArray(value)) {
    if (value.length === 0) return <span className="quiet">none</span>
    if (value.length === 1) return <EntryValue value={value[0]} titleFor={titleFor} />
    if (value.every((item) => !isRecord(item))) return <span>{value.map(formatEntryValue).join(', ')}</span>
    return (
      <ul className="value-list">
        {value.map((item, place) => (
          <li key={place}>
            <EntryValue value={item} titleFor={titleFor} />
          </li>
        ))}
      </ul>
    )
  }
  if (isRecord(value)) return <Parts of={value} titleFor={titleFor} />
  return value === null || value === undefined || value === '' ? (
    <span className="quiet">none</span>
  ) : (
    <span className={typeof value === 'number' ? 'number' : undefined}>{formatEntryValue(value)}</span>
  )
}

/** A part of an entry: its name with the other members, or all members by name. */
function Parts({ of, titleFor }: { readonly of: Entry; readonly titleFor: (name: string) => string }) {
  const parts = Object.entries(of).filter(([, part]) => part !== null && part !== '')
  const [main] = NAME_MEMBERS.filter((name) => typeof of[name] === 'string' && of[name] !== '')
  if (main !== undefined) {
    const others = parts.filter(([name, part]) => name !== main && part !== of[main])
    return (
      <span title={parts.map(([name, part]) => `${titleFor(name)}: ${formatEntryValue(part)}`).join('\n')}>
        {formatEntryValue(of[main])}
        {others.length > 0 && (
          <span className="quiet"> ({others.map(([, part]) => formatEntryValue(part)).join(', ')})</span>
        )}
      </span>
    )
  }
  return (
    <span className="value-parts">
      {parts.map(([name, part]) => (
        <span key={name}>
          <span className="quiet">{titleFor(name)}</span> <EntryValue value={part} />
        </span>
      ))}
    </span>
  )
}

/** Titles of the members directly below a group or list of groups. */
export const getPartTitles =
  (type: TypeText, pointer: string) =>
  (name: string): string =>
    (findField(type, `${pointer}/${name}`) ?? findField(type, `${pointer}/*/${name}`))?.title ?? toSentence(name)

interface EntryFactsProps {
  readonly type: TypeText
  readonly entry: Entry
  /** Members that are shown elsewhere. */
  readonly without?: readonly string[]
}

/** All fields of an entry by the titles of its type. */
export function EntryFacts({ type, entry, without = [] }: EntryFactsProps) {
  const members = listFilledMembers(type, entry).filter((name) => !without.includes(name))
  return (
    <dl className="facts entry-facts">
      {members.map((name) => {
        const pointer = `/${name}`
        const unit = findField(type, pointer)?.unit
        return (
          <div key={name}>
            <dt>{getFieldTitle(type, pointer)}</dt>
            <dd>
              {formatValueInPoints(entry[name], unit) ?? (
                <EntryValue value={entry[name]} titleFor={getPartTitles(type, pointer)} />
              )}{' '}
              {unit && <span className="quiet">{formatUnit(unit)}</span>}
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
