/** JSON as text: typed, pasted or dropped as a file, with the place of a fault. */
import { Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core'
import { type DragEvent, type ReactNode, useRef, useState } from 'react'
import { findPosition } from './json-position.ts'

const MAX_BYTES = 1_000_000

interface JsonEditorProps {
  readonly label: string
  readonly description: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** Why the text cannot be used as it is. */
  readonly fault: string | null
  readonly isReadOnly?: boolean
  readonly isRequired?: boolean
  readonly minRows?: number
  /** Offers to choose a file as well as to drop one. */
  readonly hasFileButton?: boolean
  /** What is said about the text. Receives a function that selects the place of a pointer. */
  readonly children?: (show: (pointer: string) => void) => ReactNode
}

export function JsonEditor({
  label,
  description,
  value,
  onChange,
  fault,
  isReadOnly = false,
  isRequired = true,
  minRows = 12,
  hasFileButton = true,
  children,
}: JsonEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const [isOver, setOver] = useState(false)
  const [note, setNote] = useState<string | null>(null)
  async function read(file: File | null | undefined) {
    if (!file) return
    if (file.size > MAX_BYTES) setNote(`${file.name} is larger than 1 MB.`)
    else {
      setNote(null)
      onChange(await file.text())
    }
  }
  function drop(event: DragEvent) {
    event.preventDefault()
    setOver(false)
    if (!isReadOnly) read(event.dataTransfer.files[0])
  }
  function show(pointer: string) {
    const place = findPosition(value, pointer)
    if (!place || !field.current) return
    field.current.focus()
    field.current.setSelectionRange(place.from, place.to)
    const line_px = field.current.scrollHeight / Math.max(1, value.split('\n').length)
    field.current.scrollTop = Math.max(0, (place.line - 4) * line_px)
  }
  return (
    <Stack gap="sm">
      {fault === null && children?.(show)}
      <Textarea
        ref={field}
        label={label}
        description={description}
        required={isRequired && !isReadOnly}
        readOnly={isReadOnly}
        autosize
        minRows={minRows}
        maxRows={30}
        spellCheck={false}
        classNames={{ input: 'mono' }}
        {...(isOver && { variant: 'filled' })}
        value={value}
        error={fault}
        onChange={(event) => onChange(event.currentTarget.value)}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      />
      {!isReadOnly && (
        <Group gap="sm">
          {hasFileButton && (
            <FileButton onChange={read} accept=".json,application/json">
              {(props) => (
                <Button size="xs" variant="default" {...props}>
                  Choose file
                </Button>
              )}
            </FileButton>
          )}
          {fault === null && value.trim() !== '' && (
            <Button size="xs" variant="subtle" onClick={() => onChange(JSON.stringify(JSON.parse(value), null, 2))}>
              Format
            </Button>
          )}
          {note !== null && (
            <Text size="sm" c="red" role="alert">
              {note}
            </Text>
          )}
        </Group>
      )}
    </Stack>
  )
}
