/** A text with its lines numbered, and the lines that something is said about marked. */
import './registry.css'
import './located-text.css'
import { Box } from '@mantine/core'
import { type ReactNode, useEffect, useId, useMemo, useRef } from 'react'

export interface LineMark {
  /** Counted from 1. */
  readonly line: number
  readonly text: string
}

/** A line to scroll to: another object, also of the same line, scrolls again. */
export interface ShownLine {
  readonly line: number
}

interface LocatedTextProps {
  readonly name: string
  readonly text: string
  readonly marks: readonly LineMark[]
  readonly shown?: ShownLine | null
  /** Receives a function that scrolls to a line. */
  readonly children?: (show: (line: number) => void) => ReactNode
}

export function LocatedText({ name, text, marks, shown = null, children }: LocatedTextProps) {
  const id = useId()
  const block = useRef<HTMLPreElement>(null)
  const byLine = useMemo(() => {
    const lines = new Map<number, string[]>()
    for (const { line, text: said } of marks) lines.set(line, [...(lines.get(line) ?? []), said])
    return lines
  }, [marks])
  function show(line: number) {
    document.getElementById(`${id}-${line}`)?.scrollIntoView({ block: 'center' })
    block.current?.focus({ preventScroll: true })
  }
  useEffect(() => {
    if (shown !== null) show(shown.line)
  }, [shown])
  return (
    <>
      {children?.(show)}
      {/* A region that scrolls must be reachable by keyboard. */}
      <Box component="pre" className="located" ref={block} tabIndex={0} role="region" aria-label={name}>
        {text.split('\n').map((line, index) => {
          const said = byLine.get(index + 1)
          return (
            <span
              // Lines have no identity beside their number.
              key={index}
              id={`${id}-${index + 1}`}
              className="located-line"
              {...(said && { 'data-marked': true, title: said.join('\n') })}
            >
              {line}
              {said && <span className="located-note"> {said.join(' ')}</span>}
              {'\n'}
            </span>
          )
        })}
      </Box>
    </>
  )
}
