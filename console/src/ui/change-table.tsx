/** Changed fields before and after, marked by words and style as well as colour. */

import { EntryValue, getPartTitles } from './entry-value.tsx'
import { formatUnit, formatValueInPoints } from './points.ts'
import { findField, getFieldTitle, type TypeText } from './type-texts.ts'
import { diffLists, diffTexts, type FieldChange, type ItemChange } from './value-diff.ts'

interface ChangeTableProps {
  readonly type: TypeText
  readonly changes: readonly FieldChange[]
  readonly label: string
  readonly sides?: readonly [before: string, after: string]
}

export function ChangeTable({ type, changes, label, sides = ['Before', 'After'] }: ChangeTableProps) {
  return (
    <table className="changes" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">Field</th>
          {sides.map((side) => (
            <th scope="col" key={side}>
              {side}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <tr key={change.pointer}>
            <th scope="row" title={change.pointer}>
              {getFieldTitle(type, change.pointer)}
              <Unit of={findField(type, change.pointer)?.unit} />
            </th>
            <Side type={type} change={change} side="before" />
            <Side type={type} change={change} side="after" />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Unit({ of }: { readonly of: string | undefined }) {
  return of === undefined ? null : <span className="quiet"> in {formatUnit(of)}</span>
}

type SideName = 'before' | 'after'
const missingTexts = { before: 'removed', after: 'added' } as const
const sideWords = { before: 'was', after: 'becomes' } as const

function Side({
  type,
  change,
  side,
}: {
  readonly type: TypeText
  readonly change: FieldChange
  readonly side: SideName
}) {
  const value = change[side]
  if (!(side in change) || isEmpty(value)) {
    return <td className="nothing">{side in change ? 'none' : side === 'before' ? 'not present' : 'removed'}</td>
  }
  const { before, after } = change
  if (Array.isArray(before) && Array.isArray(after)) {
    const items = diffLists(before, after).filter(({ kind }) => kind === 'same' || kind === missingTexts[side])
    const differs = items.some(({ kind }) => kind !== 'same')
    return (
      <td className={differs ? side : undefined}>
        <Items items={items} titleFor={getPartTitles(type, change.pointer)} />
      </td>
    )
  }
  return (
    <td className={side}>
      <span className="side-word">{sideWords[side]}</span>
      {formatValueInPoints(value, findField(type, change.pointer)?.unit) ?? (
        <SideText change={change} side={side} titleFor={getPartTitles(type, change.pointer)} />
      )}
    </td>
  )
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)

interface SideTextProps {
  readonly change: FieldChange
  readonly side: SideName
  readonly titleFor: (name: string) => string
}

function SideText({ change, side, titleFor }: SideTextProps) {
  const { before, after } = change
  const pieces = typeof before === 'string' && typeof after === 'string' ? diffTexts(before, after) : null
  if (pieces === null) return <EntryValue value={change[side]} titleFor={titleFor} />
  const Piece = side === 'before' ? 'del' : 'ins'
  return (
    <span>
      {pieces
        .filter(({ kind }) => kind === 'same' || kind === missingTexts[side])
        .map(({ kind, text }, place) =>
          kind === 'same' ? (
            text
          ) : (
            <Piece key={place} className="piece">
              {text}
            </Piece>
          ),
        )}
    </span>
  )
}

interface ItemsProps {
  readonly items: readonly ItemChange[]
  readonly titleFor: (name: string) => string
}

function Items({ items, titleFor }: ItemsProps) {
  return (
    <ul>
      {items.map(({ kind, value }, place) => (
        <li key={place} className={kind}>
          <span aria-hidden="true">{kind === 'same' ? '' : kind === 'removed' ? '−' : '+'}</span>
          {kind === 'same' ? (
            <EntryValue value={value} titleFor={titleFor} />
          ) : kind === 'removed' ? (
            <del className="piece">
              <EntryValue value={value} titleFor={titleFor} />
            </del>
          ) : (
            <ins className="piece">
              <EntryValue value={value} titleFor={titleFor} />
            </ins>
          )}
        </li>
      ))}
    </ul>
  )
}
