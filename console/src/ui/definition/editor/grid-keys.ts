/** Keyboard navigation of a grid: up and down move between rows, with Alt they reorder the row. */
import type { KeyboardEvent } from 'react'

const steps: Readonly<Record<string, -1 | 1>> = { ArrowUp: -1, ArrowDown: 1, Enter: 1 }

interface GridMoves {
  readonly onMove: (row: number, by: -1 | 1) => void
  /** Enter in the last row. */
  readonly onAdd: () => void
}

export function onGridKey(event: KeyboardEvent<HTMLTableElement>, { onMove, onAdd }: GridMoves): void {
  const field = event.target as HTMLElement
  const by = steps[event.key]
  const line = field.closest<HTMLElement>('tr[data-row]')
  // React events also bubble from portals, such as option lists, which are not part of the grid.
  if (by === undefined || field.tagName !== 'INPUT' || !line || !event.currentTarget.contains(field)) return
  event.preventDefault()
  const table = event.currentTarget
  const row = Number(line.dataset['row'])
  const column = field.closest('td')?.cellIndex ?? 0
  const isMove = event.altKey && event.key !== 'Enter'
  const next = table.querySelector<HTMLTableRowElement>(`tr[data-row="${row + by}"]`)
  if (isMove && next) onMove(row, by)
  else if (!next && event.key === 'Enter') onAdd()
  // The row may exist only after the next render.
  requestAnimationFrame(() =>
    table
      .querySelector<HTMLTableRowElement>(`tr[data-row="${row + by}"]`)
      ?.cells[column]?.querySelector('input')
      ?.focus(),
  )
}
