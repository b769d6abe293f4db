/** Fields side by side, before and after: what went is struck through, what came is underlined, and each side carries its sign. */

import { EntryValue } from '../../ui/entry-value.tsx'
import { type Change, type Item, listItems, textPieces } from '../../ui/text-changes.ts'
import { fieldOf, type TypeWords, titleOf } from '../../ui/type-words.ts'

interface ChangeTableProps {
  readonly type: TypeWords
  readonly changes: readonly Change[]
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
              {titleOf(type, change.pointer)}
              <Unit of={fieldOf(type, change.pointer)?.unit} />
            </th>
            <Side change={change} side="before" />
            <Side change={change} side="after" />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Unit({ of }: { readonly of: string | undefined }) {
  return of === undefined ? null : <span className="quiet"> in {of}</span>
}

function Side({ change, side }: { readonly change: Change; readonly side: 'before' | 'after' }) {
  const isThere = side in change
  return (
    <td className={isThere ? side : 'nothing'}>
      {isThere ? <SideValue change={change} side={side} /> : side === 'before' ? 'was not there' : 'is gone'}
    </td>
  )
}

function SideValue({ change, side }: { readonly change: Change; readonly side: 'before' | 'after' }) {
  const { before, after } = change
  const gone = side === 'before' ? 'removed' : 'added'
  if (Array.isArray(before) && Array.isArray(after)) {
    const items = listItems(before, after).filter(({ kind }) => kind === 'same' || kind === gone)
    return items.length === 0 ? <span className="quiet">none</span> : <Items items={items} />
  }
  if (typeof before === 'string' && typeof after === 'string') {
    const pieces = textPieces(before, after)
    if (pieces !== null) {
      const Piece = side === 'before' ? 'del' : 'ins'
      return (
        <span>
          {pieces
            .filter(({ kind }) => kind === 'same' || kind === gone)
            .map(({ kind, text }, place) =>
              kind === 'same' ? (
                text
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one fixed text.
                <Piece key={place} className="piece">
                  {text}
                </Piece>
              ),
            )}
        </span>
      )
    }
  }
  return <EntryValue value={change[side]} />
}

function Items({ items }: { readonly items: readonly Item[] }) {
  return (
    <ul>
      {items.map(({ kind, value }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items of one fixed list.
        <li key={place} className={kind}>
          <span aria-hidden="true">{kind === 'same' ? '' : kind === 'removed' ? '−' : '+'}</span>
          {kind === 'same' ? (
            <EntryValue value={value} />
          ) : kind === 'removed' ? (
            <del className="piece">
              <EntryValue value={value} />
            </del>
          ) : (
            <ins className="piece">
              <EntryValue value={value} />
            </ins>
          )}
        </li>
      ))}
    </ul>
  )
}
