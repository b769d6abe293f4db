/** Reads PDF files as another program does: the text of each page, its structure, and the metadata. */
import { getDocumentProxy, getResolvedPDFJS } from 'unpdf'

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

interface Glyph {
  readonly unicode: string
}

/** Glyphs are drawn from left to right: those of a right-to-left run are read in the other order, each with its whole text. */
function readRun(glyphs: readonly Glyph[]): string {
  const texts = glyphs.map(({ unicode }) => unicode)
  return (texts.some((text) => RIGHT_TO_LEFT.test(text)) ? texts.reverse() : texts).join('')
}

/** Words of a right-to-left line are drawn from left to right too: joined by spaces, they are read in the other order. */
function joinRuns(runs: readonly string[]): string[] {
  const lines: string[] = []
  let words: string[] = []
  const endLine = (): void => {
    if (words.length > 0) lines.push(words.reverse().join(' '))
    words = []
  }
  for (const [at, run] of runs.entries()) {
    const isSpace = run.trim() === ''
    const continues = isSpace && words.length > 0 && RIGHT_TO_LEFT.test(runs[at + 1] ?? '')
    if (continues) continue
    if (!RIGHT_TO_LEFT.test(run)) {
      endLine()
      lines.push(run)
      continue
    }
    if (runs[at - 1]?.trim() !== '') endLine()
    words.push(run)
  }
  endLine()
  return lines
}

export interface ReadPdf {
  /** Of each page, run after run, separated by line breaks. */
  readonly pages: readonly string[]
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
  const { OPS } = await getResolvedPDFJS()
  const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 })
  const pages: string[] = []
  const roles = new Set<string>()
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const { fnArray, argsArray } = (await page.getOperatorList()) as { fnArray: number[]; argsArray: unknown[] }
    const runs = fnArray.flatMap((operation, at) => {
      if (operation !== OPS.showText) return []
      const glyphs = (argsArray[at] as [(Glyph | number)[]])[0].filter((one): one is Glyph => typeof one === 'object')
      return [readRun(glyphs)]
    })
    pages.push(joinRuns(runs).join('\n'))
    collectRoles((await page.getStructTree()) as StructNode | null, roles)
  }
  return { pages, roles, metadata: bytes.toString('latin1') }
}
