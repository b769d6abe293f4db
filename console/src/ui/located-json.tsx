/** JSON with its lines numbered, and the lines that violations refer to marked. */
import { type ReactNode, useMemo } from 'react'
import { findPosition } from './json-position.ts'
import { LocatedText } from './located-text.tsx'

export interface Mark {
  readonly pointer: string
  readonly text: string
}

interface LocatedJsonProps {
  readonly name: string
  readonly value: unknown
  readonly marks: readonly Mark[]
  /** Receives a function that scrolls to the line of a pointer. */
  readonly children?: (show: (pointer: string) => void) => ReactNode
}

export function LocatedJson({ name, value, marks, children }: LocatedJsonProps) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? '', [value])
  const findLine = (pointer: string): number => findPosition(text, pointer)?.line ?? 1
  const lineMarks = useMemo(
    () =>
      marks.flatMap((mark) => {
        const line = findPosition(text, mark.pointer)?.line
        return line === undefined ? [] : [{ line, text: mark.text }]
      }),
    [marks, text],
  )
  return (
    <LocatedText name={name} text={text} marks={lineMarks}>
      {(show) => children?.((pointer) => show(findLine(pointer)))}
    </LocatedText>
  )
}
