/** The facts and tables of a report as CSV (RFC 4180), section after section. */
import type { ReportBlock, ReportDocument } from '#kernel/report-template.ts'

/** Spreadsheets run such cells as formulas: an apostrophe in front makes them text. Some read full width signs as ordinary ones. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
/** Some take a semicolon or a tab as the end of a cell, where their language writes a comma in numbers. */
const QUOTED = /[",;\t\r\n']/

export function toCell(value: string): string {
  const safe = FORMULA.test(value) ? `'${value}` : value
  return QUOTED.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe
}

function toRows(block: ReportBlock): string[][] {
  switch (block.kind) {
    case 'facts':
      return block.items.map(({ label, value }) => [label, value])
    case 'callout':
      return [[block.title, block.text]]
    case 'text':
    case 'note':
    case 'heading':
      return [[block.text]]
    case 'list':
      return block.items.map((item) => [item])
    case 'table':
      return [
        ...(block.title === undefined ? [] : [[block.title]]),
        ...(block.rows.length === 0 ? [[block.empty]] : [block.columns.map(({ title }) => title)]),
        ...block.rows.map((row) => [...row]),
      ]
    case 'chart':
      return [
        [block.title],
        ['', ...block.series.map(({ title }) => title)],
        ...block.labels.map((label, at) => [
          label,
          ...block.series.map(({ values, texts }) => texts?.[at] ?? String(values[at] ?? 0)),
        ]),
      ]
  }
}

/** A byte order mark tells spreadsheets that it is UTF-8. */
export function renderCsv({ title, subtitle, blocks, sections }: ReportDocument): string {
  const rows = [
    [title],
    [subtitle],
    ...blocks.flatMap((block) => [[], ...toRows(block)]),
    ...sections.flatMap((section) => [
      [],
      [section.title],
      ...section.blocks.flatMap((block) => [...toRows(block), []]),
    ]),
  ]
  return `\ufeff${rows.map((row) => row.map(toCell).join(',')).join('\r\n')}\r\n`
}
