/** Paragraphs of a narrative as reports print them: a reader sees which are assessments, whatever label they begin with. */

/** Labels that a paragraph has of its own, as the first version of a narrative begins them. */
const LABEL = /^(Who|Why|Where and how|Conclusion): /

export function writeParagraph({ kind, text }: { readonly kind: string; readonly text: string }): string {
  if (kind !== 'assessment') return text
  return LABEL.test(text) ? text.replace(LABEL, '$1 (assessment): ') : `Assessment: ${text}`
}
