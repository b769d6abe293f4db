/** A JSON text field that lists errors with their lines and links to them. */
import { Anchor, List, Textarea } from '@mantine/core'
import { useRef } from 'react'
import { findPosition, isJson } from '#console/ui/json-position.ts'
import type { PartFault } from './definition.ts'

interface JsonEditorProps {
  readonly label: string
  readonly description: string
  readonly value: string
  readonly faults: readonly PartFault[]
  readonly onChange: (value: string) => void
}

export function JsonEditor({ label, description, value, faults, onChange }: JsonEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  function show(pointer: string) {
    const place = findPosition(value, pointer)
    if (!place || !field.current) return
    field.current.focus()
    field.current.setSelectionRange(place.from, place.to)
  }
  const isReadable = isJson(value)
  return (
    <div>
      <Textarea
        ref={field}
        label={label}
        description={description}
        required
        autosize
        minRows={3}
        maxRows={24}
        spellCheck={false}
        classNames={{ input: 'mono' }}
        value={value}
        error={isReadable ? faults.length > 0 : 'This is not valid JSON.'}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {isReadable && faults.length > 0 && (
        <List size="sm" mt={4} aria-label={`Errors in ${label}`} role="list">
          {faults.map(({ pointer, detail }) => (
            <List.Item key={`${pointer} ${detail}`}>
              <Anchor component="button" type="button" size="sm" onClick={() => show(pointer)}>
                Line {findPosition(value, pointer)?.line ?? '?'}
              </Anchor>{' '}
              <span className="mono">{pointer}</span> {detail}
            </List.Item>
          ))}
        </List>
      )}
    </div>
  )
}
