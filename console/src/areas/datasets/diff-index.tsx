/** The way to one entry of a long difference: all keys at hand beside it, found by typing. */
import { Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { signs } from '#console/ui/difference-counts.tsx'
import { useSetFilter } from '#console/ui/filters.tsx'
import { getEntryName } from '#console/ui/type-texts.ts'
import type { DifferenceItem } from './diff-entry.tsx'
import { toAnchorId } from './diff-fields.ts'

/** Beyond this the browser would be busy with the index alone. */
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
    // What is not loaded yet is asked for by its key.
    if (first) jumpTo(first.key)
    else set('key', typed.trim() || null)
  }
  return (
    <nav className="diff-index" aria-label="Entries that differ">
      <form onSubmit={submit}>
        <TextInput
          size="xs"
          mb={6}
          type="search"
          aria-label="Jump to a key"
          placeholder="Jump to a key or name"
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
          {wanted === '' ? 'Nothing here.' : 'Not among those loaded: Enter asks the server.'}
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
