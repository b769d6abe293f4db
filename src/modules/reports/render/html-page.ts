/** A report as one HTML page: no script, nothing loaded, every text escaped. The page states its own content security policy. */
import { hash } from 'node:crypto'
import type { ReportBlock, ReportColumn, ReportDocument, ReportTable } from '#kernel/report-template.ts'
import { renderChart } from './chart-svg.ts'
import { mapTexts, printable } from './printable-text.ts'

export interface PageHead {
  readonly lang: string
  readonly issuer: string
  readonly kind: string
  readonly footer: string
}

const escapeHtml = (text: string): string =>
  printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

/** Texts of other people, whose direction may differ from that of the page. */
const toText = (text: string): string => `<bdi>${escapeHtml(text)}</bdi>`

const toClass = ({ align, style }: Pick<ReportColumn, 'align' | 'style'>): string => {
  const names = [...(align === 'right' ? ['right'] : []), ...(style ? [style] : [])]
  return names.length === 0 ? '' : ` class="${names.join(' ')}"`
}

function renderTable({ title, columns, rows, empty }: ReportTable): string {
  const heading = title === undefined ? '' : `<h3>${escapeHtml(title)}</h3>`
  if (rows.length === 0) return `${heading}<p class="empty">${escapeHtml(empty)}</p>`
  const head = columns.map(
    (column) =>
      `<th scope="col"${toClass({ ...(column.align && { align: column.align }) })}>${escapeHtml(column.title)}</th>`,
  )
  const body = rows.map(
    (row) =>
      `<tr>${row.map((value, at) => `<td${toClass(columns[at] as ReportColumn)}>${toText(value)}</td>`).join('')}</tr>`,
  )
  return `${heading}<div class="table"><table><thead><tr>${head.join('')}</tr></thead><tbody>\n${body.join('\n')}\n</tbody></table></div>`
}

function renderBlock(block: ReportBlock): string {
  switch (block.kind) {
    case 'text':
      return `<p>${toText(block.text)}</p>`
    case 'note':
      return `<p class="note">${toText(block.text)}</p>`
    case 'heading':
      return `<h3>${escapeHtml(block.text)}</h3>`
    case 'list':
      return `<ol>${block.items.map((item) => `<li>${toText(item)}</li>`).join('')}</ol>`
    case 'facts': {
      const items = block.items.map(
        ({ label, value, style }) =>
          `<dt>${escapeHtml(label)}</dt><dd${toClass({ ...(style && { style }) })}>${toText(value)}</dd>`,
      )
      return `<dl>${items.join('')}</dl>`
    }
    case 'callout': {
      const text = block.text === '' ? '' : `<p>${toText(block.text)}</p>`
      return `<div class="callout ${block.tone}"><p class="title">${toText(block.title)}</p>${text}</div>`
    }
    case 'table':
      return renderTable(block)
    case 'chart':
      return `<h3>${escapeHtml(block.title)}</h3><figure>${renderChart(mapTexts(block, printable)).svg}</figure>`
  }
}

const renderBlocks = (blocks: readonly ReportBlock[]): string => blocks.map(renderBlock).join('\n')

export const toPagePolicy = (stylesheet: string): string =>
  `default-src 'none'; style-src 'sha256-${hash('sha256', stylesheet, 'base64')}'; base-uri 'none'; form-action 'none'`

/** For the title of a window or file: which one of its kind it is. */
export const nameDocument = ({ title, reference }: ReportDocument): string =>
  reference === undefined ? title : `${title} ${reference}`

export function renderHtml(document: ReportDocument, head: PageHead, stylesheet: string): string {
  const sections = document.sections.map(
    ({ title, blocks }) => `<section>\n<h2>${escapeHtml(title)}</h2>\n${renderBlocks(blocks)}\n</section>`,
  )
  return `<!doctype html>
<html lang="${escapeHtml(head.lang)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(toPagePolicy(stylesheet))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(nameDocument(document))}</title>
<style>${stylesheet}</style>
</head>
<body>
<header><div class="issuer"><span>${toText(head.issuer)}</span><span>${escapeHtml(head.kind)}</span></div>
<h1>${toText(document.title)}</h1>
<p class="subtitle">${toText(document.subtitle)}</p></header>
<main>
${renderBlocks(document.blocks)}
${sections.join('\n')}
</main>
<footer>${toText(head.footer)}</footer>
</body>
</html>
`
}
