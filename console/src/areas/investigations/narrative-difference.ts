/** What changed from one version of a narrative to the next, paragraph by paragraph. Pure. */
import { diffLists, diffTexts, type TextPiece } from '#console/ui/value-diff.ts'
import type { Paragraph } from './investigation-queries.ts'

export interface ParagraphDifference {
  readonly kind: 'same' | 'added' | 'removed' | 'changed'
  /** The paragraph as it is after; of a removed one as it was. */
  readonly paragraph: Paragraph
  readonly pieces: readonly TextPiece[]
}

const toWhole = (kind: 'same' | 'added' | 'removed', paragraph: Paragraph): ParagraphDifference => ({
  kind,
  paragraph,
  pieces: [{ kind, text: paragraph.text }],
})

/** A removed paragraph and the added one after it that share words are one that was changed. */
export function diffParagraphs(before: readonly Paragraph[], after: readonly Paragraph[]): ParagraphDifference[] {
  const found: ParagraphDifference[] = []
  for (const { kind, value } of diffLists(before, after)) {
    const paragraph = value as Paragraph
    const replaced =
      kind === 'added' ? found.findIndex((one) => one.kind === 'removed' && hasCommonWords(one, paragraph)) : -1
    const earlier = found[replaced]
    if (earlier === undefined) found.push(toWhole(kind, paragraph))
    else {
      found.splice(replaced, 1)
      found.push({ kind: 'changed', paragraph, pieces: diffTexts(earlier.paragraph.text, paragraph.text) ?? [] })
    }
  }
  return found
}

const hasCommonWords = ({ paragraph }: ParagraphDifference, { text }: Paragraph): boolean =>
  diffTexts(paragraph.text, text) !== null
