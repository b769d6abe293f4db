/** An index of changed keys beside a long difference, with a search field. */
import { Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import type { DifferenceItem } from '#console/ui/diff-entry.tsx'
import { toAnchorId } from '#console/ui/diff-fields.ts'
import { signs } from '#console/ui/difference-counts.tsx'
import { useSetFilter } from '#console/ui/filters.tsx'
import { getEntryName } from '#console/ui/type-texts.ts'

/** More rows would make the page slow. */
const MAX_LINKS = 500

export function DiffIndex({ items }: { readonly items: readonly DifferenceItem[] }) {
  const set = useSetFilter()
  const [typed, setTyped] = useState('')
  const wanted = typed.trim().toLowerCase()
  const fitting = items.filter((item) =>
    `${item.key} ${getEntryName(item.after ?? item.before) ?? ''}`.toLowerCase().includes(wanted),
  )
  function submit(event: FormEvent) {
    event.preventDefault()
    const first = fitting[0]
    // Entries that are not loaded are requested by key.
    if (first) jumpTo(first.key)
    else set('key', typed.trim() || null)
  }
  return (
    <nav className="diff-index" aria-label="Changed entries">
      <form onSubmit={submit}>
        <TextInput
          size="xs"
          mb={6}
          type="search"
          aria-label="Go to a key"
          placeholder="Go to a key or name"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </form>
      <ol>
        {fitting.slice(0, MAX_LINKS).map(({ key, op, before, after }) => (
          <li key={key}>
            <a
              href={`#${toAnchorId(key)}`}
              title={key}
              onClick={(event) => {
                event.preventDefault()
                jumpTo(key)
              }}
            >
              <b className={`sign-${op}`} aria-hidden="true">
                {signs[op]}
              </b>
              <span>
                <span className="sr-only">{op}: </span>
                {getEntryName(after ?? before) ?? key}
              </span>
            </a>
          </li>
        ))}
      </ol>
      {fitting.length === 0 && (
        <Text size="xs" c="dimmed">
          {wanted === '' ? 'No changed entries.' : 'Not loaded yet: press Enter to search all changes.'}
        </Text>
      )}
    </nav>
  )
}

function jumpTo(key: string): void {
  const entry = document.getElementById(toAnchorId(key))
  entry?.scrollIntoView({ block: 'start' })
  entry?.focus({ preventScroll: true })
}
