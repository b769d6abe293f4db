/**
 * Shortens the first bytes of a file to a complete, smaller file of the same format, so that every adapter can read it to its end:
 * whole rows of a table, whole lines, XML and JSON whose open elements are closed after the last complete record.
 */
import { SaxesParser } from 'saxes'
import { END_MARK } from '../formats/end-mark.ts'

/** A cut before this share of the text would lose most of the sample. */
const MIN_KEPT_SHARE = 0.5
/** Documents are not cut inside deeper levels; the readers refuse them soon after. */
const MAX_CUT_DEPTH = 64

/** Whole rows. Rows of a quoted cell with line breaks stay together. The mark at the end satisfies layouts that require it. */
export function shortenTable(text: string): string {
  const end = findLastRowEnd(text)
  return end <= 0 ? text : text.slice(0, end) + END_MARK
}

function findLastRowEnd(text: string): number {
  let isQuoted = false
  let end = -1
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '"') isQuoted = !isQuoted
    else if (char === '\n' && !isQuoted) end = at + 1
  }
  // A stray quote makes the rest look quoted; then any line end is better than half a row.
  return end > text.length * MIN_KEPT_SHARE ? end : text.lastIndexOf('\n') + 1
}

export function shortenLines(text: string): string {
  const end = text.lastIndexOf('\n') + 1
  return end === 0 ? text : text.slice(0, end)
}

/** A place where a document can be cut, and what closes it there. */
interface CutPlace {
  readonly at: number
  readonly closing: string
}

/** The cut that closes the fewest levels and keeps most of the text; otherwise the one that keeps most. */
function chooseCut(places: ReadonlyMap<number, CutPlace>, length: number): CutPlace | undefined {
  const byDepth = [...places].sort(([a], [b]) => a - b).map(([, place]) => place)
  const longest = byDepth.reduce<CutPlace | undefined>(
    (best, one) => (best && best.at >= one.at ? best : one),
    undefined,
  )
  return byDepth.find(({ at }) => at >= length * MIN_KEPT_SHARE) ?? longest
}

export interface XmlOutline {
  /** Name of the document element without its prefix; null when the text has none. */
  readonly root: string | null
  /** The complete document, or the text as it is when it cannot be cut. */
  readonly text: string
}

interface ScannedXml {
  readonly root: string | null
  readonly places: ReadonlyMap<number, CutPlace>
  readonly is_well_formed: boolean
}

function scanXml(text: string): ScannedXml {
  const open: string[] = []
  const places = new Map<number, CutPlace>()
  let root: string | null = null
  const parser = new SaxesParser()
  parser.on('opentag', ({ name }) => {
    root ??= name.slice(name.indexOf(':') + 1)
    open.push(name)
  })
  parser.on('closetag', () => {
    open.pop()
    const depth = open.length
    if (depth > 0 && depth <= MAX_CUT_DEPTH) places.set(depth, { at: parser.position, closing: closeTags(open) })
  })
  parser.on('error', (error) => {
    throw error
  })
  try {
    parser.write(text)
  } catch {
    return { root, places, is_well_formed: false }
  }
  return { root, places, is_well_formed: true }
}

export function outlineXml(text: string, is_whole: boolean): XmlOutline {
  const { root, places, is_well_formed } = scanXml(text)
  // The adapters name a fault and its place.
  const cut = is_whole || !is_well_formed ? undefined : chooseCut(places, text.length)
  return { root, text: cut ? text.slice(0, cut.at) + cut.closing : text }
}

/** The document up to the last complete record before it ends or is not well-formed. */
export function shortenXml(text: string): string {
  const cut = chooseCut(scanXml(text).places, 0)
  return cut ? text.slice(0, cut.at) + cut.closing : text
}

const closeTags = (open: readonly string[]): string =>
  open
    .map((name) => `</${name}>`)
    .reverse()
    .join('')

/** Ends the document after the last complete element of an array or member of an object. */
export function shortenJson(text: string): string {
  const open: string[] = []
  const places = new Map<number, CutPlace>()
  let isString = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string
    if (isString) {
      if (char === '\\') at++
      else if (char === '"') isString = false
    } else if (char === '"') isString = true
    else if (char === '{' || char === '[') open.push(char)
    else if (char === '}' || char === ']') open.pop()
    else if (char === ',' && open.length > 0 && open.length <= MAX_CUT_DEPTH) {
      places.set(open.length, { at, closing: closeBrackets(open) })
    }
  }
  const cut = open.length === 0 ? undefined : chooseCut(places, text.length)
  return cut ? text.slice(0, cut.at) + cut.closing : text
}

const closeBrackets = (open: readonly string[]): string =>
  open
    .map((bracket) => (bracket === '{' ? '}' : ']'))
    .reverse()
    .join('')
