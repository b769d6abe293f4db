/** Two texts compared line by line; unchanged lines far from a change are left out. */
import './registry.css'
import './located-text.css'
import { Box } from '@mantine/core'
import { formatCount } from './format.ts'
import { type DiffLine, diffLines, foldLines } from './line-diff.ts'

interface LineDiffProps {
  readonly name: string
  readonly before: string
  readonly after: string
}

const signs = { same: ' ', removed: '−', added: '+' } as const

export function LineDiff({ name, before, after }: LineDiffProps) {
  return (
    // A region that scrolls must be reachable by keyboard.
    <Box component="pre" className="located" tabIndex={0} role="region" aria-label={name}>
      {foldLines(diffLines(before, after)).map((block, place) =>
        'left_out' in block ? (
          <span key={place} className="line-gap">
            {formatCount(block.left_out, 'unchanged line')}
            {'\n'}
          </span>
        ) : (
          block.lines.map((line) => <Line key={`${place} ${line.kind} ${line.line}`} of={line} />)
        ),
      )}
    </Box>
  )
}

function Line({ of: { kind, line, text } }: { readonly of: DiffLine }) {
  return (
    <span className="line-diff" data-kind={kind}>
      <span className="line-number">{line}</span>
      <span aria-hidden="true">{signs[kind]} </span>
      {kind !== 'same' && <span className="sr-only">{kind}: </span>}
      {text}
      {'\n'}
    </span>
  )
}
