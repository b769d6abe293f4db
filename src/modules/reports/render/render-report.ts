/** Makes the files of a report from its snapshot and manifest. Nothing is queried: the same two give the same bytes. */
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { ReportBlock, ReportDocument } from '#kernel/report-template.ts'
import type { Printing } from '#kernel/typesetting/printing.ts'
import type { ReportFormatName } from '../model.ts'
import type { Snapshot } from '../snapshot.ts'
import { renderChart } from './chart-svg.ts'
import { renderCsv } from './csv-text.ts'
import { nameDocument, renderHtml } from './html-page.ts'
import { hasMarks, mapTexts, toPrinted } from './printable-text.ts'
import { describeVerification, formatCreated, type RenderInput } from './verification-section.ts'

export type { RenderInput } from './verification-section.ts'

const toWhole = (input: RenderInput): ReportDocument => ({
  ...input.snapshot.document,
  sections: [...input.snapshot.document.sections, describeVerification(input)],
})

const toFooter = ({ report_id, created_at, is_restricted }: Snapshot): string =>
  `${is_restricted ? 'RESTRICTED · ' : ''}Report ${report_id} · ${formatCreated(created_at)}`

/** The language of labels is English; the locale decides how numbers and dates are written. */
const LANGUAGE = 'en'

const toHead = ({ snapshot }: RenderInput) => ({
  lang: LANGUAGE,
  issuer: snapshot.issuer,
  kind: snapshot.is_restricted ? 'Restricted report' : 'Report',
  footer: toFooter(snapshot),
})

const toPrintable = (block: ReportBlock): object => {
  if (block.kind !== 'chart') return block
  const { svg, alt } = renderChart(block)
  return { kind: 'chart', title: block.title, svg, alt }
}

const SUBSTITUTED: ReportBlock = {
  kind: 'note',
  text:
    'Characters that no installed font has are printed as their code points, such as [U+738B]. The JSON file of this report has the original ' +
    'text; fonts for more scripts belong into the font folder of the operator.',
}

const MARKS_NOTE =
  'This document contains texts with vowel signs, points or joiners. They are printed as stored; applications that copy text from this file may give them in another order or leave them out. The JSON, HTML and CSV files of the report have the exact text.'

/** What a reader of the paper cannot know: which texts a program reads differently from it. */
function addMarksNote(document: ReportDocument): ReportDocument {
  if (!hasMarks(JSON.stringify(document))) return document
  const note: ReportBlock = { kind: 'note', text: MARKS_NOTE }
  return {
    ...document,
    sections: document.sections.map((section, at, { length }) =>
      at === length - 1 ? { ...section, blocks: [note, ...section.blocks] } : section,
    ),
  }
}

/** What the layout reads. */
function toLayoutData(input: RenderInput, pdf: Printing['pdf']): string {
  let isSubstituted = false
  const substitute = (text: string): string => {
    const printed = pdf.substituteMissing(toPrinted(text))
    isSubstituted ||= printed.has_code_points
    return printed.text
  }
  const { title, subtitle, blocks, sections } = addMarksNote(toWhole(input))
  const content = {
    ...toHead(input),
    title,
    name: nameDocument(input.snapshot.document),
    subtitle,
    blocks: blocks.map(toPrintable),
    sections: sections.map((section) => ({ title: section.title, blocks: section.blocks.map(toPrintable) })),
  }
  const printed = mapTexts<typeof content>(content, substitute)
  const created = input.snapshot.created_at.slice(0, 19).split(/[-T:]/)
  return JSON.stringify({
    ...printed,
    blocks: isSubstituted ? [...printed.blocks, SUBSTITUTED] : printed.blocks,
    report_id: input.snapshot.report_id,
    fonts: pdf.families,
    created,
  })
}

const renderJson = ({ snapshot: { document: _, ...snapshot }, manifest }: RenderInput): string =>
  `${canonicalJson(JSON.parse(JSON.stringify({ ...snapshot, manifest })) as Record<string, unknown>)}\n`

export interface RenderOptions {
  readonly caller: string
  readonly signal?: AbortSignal
}

export async function renderFormat(
  printing: Printing,
  format: ReportFormatName,
  input: RenderInput,
  options: RenderOptions,
): Promise<Buffer> {
  if (format === 'json') return Buffer.from(renderJson(input))
  if (format === 'csv') return Buffer.from(renderCsv(toWhole(input)))
  if (format === 'html') return Buffer.from(renderHtml(toWhole(input), toHead(input), printing.stylesheet))
  const report = toLayoutData(input, printing.pdf)
  const { created_at } = input.snapshot
  return printing.pdf.compile({ source: printing.layout, inputs: { report }, created_at }, options)
}
