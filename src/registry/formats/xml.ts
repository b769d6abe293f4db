/**
 * Reads XML as a sequence of records: every element at one of the given paths becomes a plain tree, and nothing else is kept.
 * Document types and entity declarations are refused, since they are used to attack XML parsers.
 */
import type { SaxesTagPlain } from 'saxes'
import type { Source } from '../adapter.ts'
import { readText, type TextOptions } from './decode.ts'
import { MAX_RECORD_CHARS, onLine, recordTooLong, refuseSource } from './fault.ts'
import type { TextPosition } from './text-window.ts'
import { type XmlFault, XmlParser } from './xml-parser.ts'

export interface XmlElement {
  /** Without a namespace prefix. */
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly XmlElement[]
  /** Its own text, trimmed, without that of its children. */
  readonly text: string
}

export interface XmlRecord {
  /** The requested path it was found at. */
  readonly path: string
  readonly element: XmlElement
  readonly line: number
}

export interface XmlOptions extends Pick<TextOptions, 'max_expanded_bytes' | 'onEncoding'> {
  /**
   * Called for each element outside records: the ones that lead to a path, and those that lead to none. Of the latter only the
   * outermost is reported.
   */
  readonly onElement?: (path: string, line: number, leads_to_records: boolean) => void
}

const MAX_DEPTH = 64

interface MutableElement {
  name: string
  attributes: Record<string, string>
  children: MutableElement[]
  text: string
}

/** `paths` are element names from the root, such as `sdnList/sdnEntry`. The root must be the first step of one of them. */
export async function* readXml(
  source: Source,
  paths: readonly string[],
  options: XmlOptions = {},
): AsyncGenerator<XmlRecord[], void, undefined> {
  const { max_expanded_bytes, onEncoding, onElement } = options
  const scan = new XmlScanner(new Set(paths), onElement)
  for await (const piece of readText(source, { encoding: 'xml', max_expanded_bytes, onEncoding })) {
    const records = scan.push(piece)
    if (records.length > 0) yield records
  }
  scan.end()
}

class XmlScanner {
  private readonly parser: XmlParser
  private readonly paths: ReadonlySet<string>
  private readonly roots: ReadonlySet<string>
  private readonly onElement: XmlOptions['onElement']
  /** Paths of elements that contain records. */
  private readonly containers = new Set<string>()
  private readonly trail: string[] = []
  /** The open elements of the record being read, the record first. */
  private readonly open: MutableElement[] = []
  private records: XmlRecord[] = []
  private record_line = 0
  private record_chars = 0

  constructor(paths: ReadonlySet<string>, onElement: XmlOptions['onElement']) {
    this.paths = paths
    this.onElement = onElement
    for (const path of paths) {
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        this.containers.add(path.slice(0, end))
      }
    }
    this.roots = new Set([...paths].map((path) => path.split('/')[0] as string))
    this.parser = new XmlParser({
      open: (tag, place) => this.opened(tag, place),
      close: () => this.closed(),
      text: (text) => this.wrote(text),
      fault: refuseXml,
    })
  }

  push(piece: string): XmlRecord[] {
    this.records = []
    if (this.parser.held_chars + piece.length > MAX_RECORD_CHARS) recordTooLong(onLine(this.parser.place.line))
    this.parser.write(piece)
    return this.records
  }

  end(): void {
    this.parser.close()
  }

  private opened(tag: SaxesTagPlain, place: () => TextPosition): void {
    const name = localName(tag.name)
    if (this.trail.length === 0 && !this.roots.has(name)) {
      const wanted = [...this.roots].join(' or ')
      const message = `The document element is <${name}>, not <${wanted}>: this is another file.`
      refuseSource('layout_unknown', message, onLine(place().line))
    }
    this.trail.push(name)
    if (this.trail.length > MAX_DEPTH) {
      const { line } = place()
      refuseSource(
        'not_well_formed',
        `The XML is nested deeper than ${MAX_DEPTH} levels at line ${line}.`,
        onLine(line),
      )
    }
    const inside = this.open.at(-1)
    if (inside === undefined) {
      const path = this.trail.join('/')
      if (!this.paths.has(path)) {
        this.reportElement(path, place)
        return
      }
    }
    const element: MutableElement = { name, attributes: readAttributes(tag), children: [], text: '' }
    if (inside) inside.children.push(element)
    else {
      this.record_line = place().line
      this.record_chars = 0
    }
    this.open.push(element)
    this.count(name.length)
    for (const value of Object.values(element.attributes)) this.count(value.length)
  }

  private reportElement(path: string, place: () => TextPosition): void {
    if (this.onElement === undefined) return
    const is_container = this.containers.has(path)
    const is_outermost = this.trail.length === 1 || this.containers.has(path.slice(0, path.lastIndexOf('/')))
    if (is_container || is_outermost) this.onElement(path, place().line, is_container)
  }

  private wrote(text: string): void {
    const inside = this.open.at(-1)
    if (inside === undefined) return
    inside.text += text
    this.count(text.length)
  }

  private count(chars: number): void {
    this.record_chars += chars
    if (this.record_chars > MAX_RECORD_CHARS) recordTooLong(onLine(this.record_line))
  }

  private closed(): void {
    const element = this.open.pop()
    if (element) element.text = element.text.trim()
    if (element && this.open.length === 0) {
      this.records.push({ path: this.trail.join('/'), element, line: this.record_line })
    }
    this.trail.pop()
  }
}

function refuseXml({ kind, line, column, what }: XmlFault): never {
  const place = `line ${line}, column ${column}`
  if (kind === 'doctype') {
    refuseSource('doctype_refused', `The XML declares a document type at line ${line}. Remove it.`, onLine(line))
  }
  if (kind === 'ampersand') {
    refuseSource('not_well_formed', `There is a bare "&" at ${place}; XML writes it &amp;.`, onLine(line))
  }
  if (kind === 'truncated') {
    refuseSource('truncated', `The XML ends too early, at line ${line}: the file was cut off.`, onLine(line))
  }
  refuseSource('not_well_formed', `The XML is not well-formed at ${place}: ${what}.`, onLine(line))
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** Without declarations of namespaces. */
function readAttributes(tag: SaxesTagPlain): Record<string, string> {
  const attributes: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(tag.attributes)) {
    if (name !== 'xmlns' && !name.startsWith('xmlns:')) attributes[localName(name)] = value.trim()
  }
  return attributes
}

export const getChildren = (element: XmlElement, name: string): readonly XmlElement[] =>
  element.children.filter((child) => child.name === name)

export const getChild = (element: XmlElement, name: string): XmlElement | undefined =>
  element.children.find((child) => child.name === name)

/** Text of the first child with that name; undefined when there is none or it is empty. */
export const getChildText = (element: XmlElement, name: string): string | undefined =>
  getChild(element, name)?.text || undefined

/** Attributes an element has, without the empty ones. */
export const getAttribute = (element: XmlElement, name: string): string | undefined =>
  element.attributes[name] || undefined
