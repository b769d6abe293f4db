/** A part of a draft as JSON text. Valid JSON is applied while typing; errors show their line. */
import { Anchor, List, Textarea } from '@mantine/core'
import { memo, useRef, useState } from 'react'
import type { Finding } from '#console/ui/decision/definition-kind.ts'
import { findPosition, isJson } from '#console/ui/json-position.ts'
import { toAnchorId } from './anchor.ts'

interface JsonPartProps {
  readonly label: string
  readonly description?: string
  readonly value: unknown
  readonly pointer: string
  readonly findings: readonly Finding[]
  readonly onChange: (value: unknown) => void
}

const toJsonText = (value: unknown): string => JSON.stringify(value, null, 2) ?? ''

const isSame = (a: JsonPartProps, b: JsonPartProps): boolean =>
  a.findings === b.findings && a.pointer === b.pointer && a.value === b.value

export const JsonPart = memo(function JsonPart({
  label,
  description,
  value,
  pointer,
  findings,
  onChange,
}: JsonPartProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(() => toJsonText(value))
  const [known, setKnown] = useState(value)
  // Another part may have moved to this position; text being edited is not replaced.
  if (toJsonText(known) !== toJsonText(value)) {
    setKnown(value)
    setText(toJsonText(value))
  }
  const own = findings.filter((finding) => finding.pointer === pointer || finding.pointer.startsWith(`${pointer}/`))
  const within = (finding: Finding) => finding.pointer.slice(pointer.length)
  function show(inside: string) {
    const place = findPosition(text, inside)
    if (!place || !field.current) return
    field.current.focus()
    field.current.setSelectionRange(place.from, place.to)
  }
  function take(typed: string) {
    setText(typed)
    if (!isJson(typed)) return
    const value = JSON.parse(typed)
    setKnown(value)
    onChange(value)
  }
  return (
    <div id={toAnchorId(pointer)} tabIndex={-1}>
      <Textarea
        ref={field}
        label={label}
        {...(description !== undefined && { description })}
        autosize
        minRows={3}
        maxRows={20}
        spellCheck={false}
        classNames={{ input: 'mono' }}
        value={text}
        error={isJson(text) ? own.length > 0 : 'This is not valid JSON; changes are applied once it is.'}
        onChange={(event) => take(event.currentTarget.value)}
      />
      {own.length > 0 && (
        <List size="sm" mt={4} aria-label={`Errors in ${label}`} role="list">
          {own.map((finding, place) => (
            <List.Item key={`${finding.code} ${finding.pointer} ${place}`}>
              <Anchor component="button" type="button" size="sm" onClick={() => show(within(finding))}>
                Line {findPosition(text, within(finding))?.line ?? '?'}
              </Anchor>{' '}
              {finding.message}
            </List.Item>
          ))}
        </List>
      )}
    </div>
  )
}, isSame)
