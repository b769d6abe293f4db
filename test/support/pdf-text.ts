/** Reads PDF files with pdf.js, as a viewer does for search and copy: the text of each page, its structure, and the metadata. */
import { getDocumentProxy } from 'unpdf'

interface TextItem {
  readonly str: string
  readonly dir: string
  readonly width: number
  readonly transform: readonly number[]
}

interface Line {
  readonly y: number
  readonly items: TextItem[]
}

/** Wider than the space between words: the next cell of a table. */
const CELL_GAP_PT = 5

/** pdf.js guesses a space of 0.00001 pt after a mark without width, by the rounding of its place. */
const isGuessed = ({ str, width }: TextItem): boolean => str === ' ' && width < 0.001

function groupLines(items: readonly TextItem[]): Line[] {
  const lines: Line[] = []
  for (const item of items) {
    const y = item.transform[5] as number
    const line = lines.find((one) => Math.abs(one.y - y) < 0.5)
    if (line) line.items.push(item)
    else lines.push({ y, items: [item] })
  }
  return lines
}

const getLeft = ({ transform }: TextItem): number => transform[4] as number

/**
 * Items have their text in the order of reading. Where pdf.js calls some of a line right-to-left, the places decide: of these, the one on
 * the right is read first.
 */
function readLine({ items }: Line): string {
  const isMixed = items.some(({ dir }) => dir === 'rtl')
  const sorted = isMixed ? [...items].sort((one, two) => getLeft(one) - getLeft(two)) : items
  const texts: string[] = []
  let right: string[] = []
  const endRun = (): void => {
    const blanks = right.findLastIndex((text) => text.trim() !== '') + 1
    texts.push(...right.slice(0, blanks).reverse(), ...right.slice(blanks))
    right = []
  }
  let end = Number.NEGATIVE_INFINITY
  for (const item of sorted) {
    const isApart = getLeft(item) - end > CELL_GAP_PT
    if (isApart) endRun()
    if (isApart && texts.length > 0) texts.push(' ')
    const continues = item.str.trim() === '' && right.length > 0
    if (item.dir === 'rtl' || continues) right.push(item.str)
    else {
      endRun()
      texts.push(item.str)
    }
    end = getLeft(item) + item.width
  }
  endRun()
  return texts.join('')
}

export interface ReadPdf {
  /** Of each page, line after line. */
  readonly pages: readonly string[]
  /** In the order in which it is drawn, cell after cell, without blanks. */
  readonly drawn: string
  /** Roles of the structure tree, all pages together. */
  readonly roles: ReadonlySet<string>
  readonly metadata: string
}

interface StructNode {
  readonly role?: string
  readonly children?: readonly StructNode[]
}

function collectRoles(node: StructNode | null, into: Set<string>): void {
  if (node?.role) into.add(node.role)
  for (const child of node?.children ?? []) collectRoles(child, into)
}

export async function readPdf(bytes: Buffer): Promise<ReadPdf> {
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
  const pages: string[] = []
  let drawn = ''
  const roles = new Set<string>()
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const { items } = (await page.getTextContent()) as { items: TextItem[] }
    drawn += items.map(({ str }) => str.replaceAll(/\s/g, '')).join('')
    pages.push(
      groupLines(items.filter((item) => !isGuessed(item)))
        .map(readLine)
        .join('\n'),
    )
    collectRoles((await page.getStructTree()) as StructNode | null, roles)
  }
  return { pages, drawn, roles, metadata: bytes.toString('latin1') }
}
