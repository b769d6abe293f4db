/** Differences between two texts by line, with the lines around them. Pure. */
import { diffLists, type TextPiece } from './value-diff.ts'

export interface DiffLine {
  readonly kind: TextPiece['kind']
  readonly text: string
  /** The number of the line in the text that has it; of the later one where both do. Counted from 1. */
  readonly line: number
}

/** A block of lines, or the number of unchanged lines that are left out. */
export type DiffBlock = { readonly lines: readonly DiffLine[] } | { readonly left_out: number }

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [old, young] = [before.split('\n'), after.split('\n')]
  const shortest = Math.min(old.length, young.length)
  let head = 0
  while (head < shortest && old[head] === young[head]) head++
  let tail = 0
  while (tail < shortest - head && old[old.length - 1 - tail] === young[young.length - 1 - tail]) tail++
  // Only what lies between the common ends is compared, so that long texts with small changes stay cheap.
  const between = diffLists(old.slice(head, old.length - tail), young.slice(head, young.length - tail))
  const steps = [
    ...young.slice(0, head).map((value) => ({ kind: 'same' as const, value })),
    ...between,
    ...young.slice(young.length - tail).map((value) => ({ kind: 'same' as const, value })),
  ]
  let [oldLine, youngLine] = [0, 0]
  return steps.map(({ kind, value }) => {
    if (kind !== 'added') oldLine++
    if (kind !== 'removed') youngLine++
    return { kind, text: String(value), line: kind === 'removed' ? oldLine : youngLine }
  })
}

/** Leaves out unchanged lines that are further than `context` from a change. */
export function foldLines(lines: readonly DiffLine[], context = 3): readonly DiffBlock[] {
  const isNear = lines.map((_, place) =>
    lines.slice(Math.max(0, place - context), place + context + 1).some(({ kind }) => kind !== 'same'),
  )
  const blocks: DiffBlock[] = []
  for (const [place, line] of lines.entries()) {
    const last = blocks.at(-1)
    if (isNear[place]) {
      if (last && 'lines' in last) blocks[blocks.length - 1] = { lines: [...last.lines, line] }
      else blocks.push({ lines: [line] })
    } else if (last && 'left_out' in last) blocks[blocks.length - 1] = { left_out: last.left_out + 1 }
    else blocks.push({ left_out: 1 })
  }
  return blocks
}
