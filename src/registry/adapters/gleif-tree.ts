/**
 * GLEIF publishes the same records as XML and as CSV whose headers are paths into it (Entity.LegalName.xmllang,
 * Entity.OtherAddresses.OtherAddress.1.City). Both are read into the same tree without empty values.
 */
import { integer, Type } from '#kernel/schema.ts'
import type { Source, SourceLocation } from '../adapter.ts'
import { MAX_EXPANDED_BYTES, peek, unwrap } from '../formats/decode.ts'
import { refuseSource } from '../formats/fault.ts'
import { DETECTION_BYTES, detectFormat } from '../formats/format-detection.ts'
import { getChildText, readXml, type XmlElement } from '../formats/xml.ts'
import type { BatchBuilder } from './batch-builder.ts'
import { detectedEncodingOption, noteEncoding, readDetected } from './source-text.ts'
import { readTable } from './table.ts'

/** The golden copy of level 1 has several gigabytes, unpacked. */
const MAX_BYTES = 4 * MAX_EXPANDED_BYTES

export const gleifOptions = {
  ...detectedEncodingOption,
  max_expanded_bytes: Type.Optional(
    integer(1, 16 * 1024 ** 3, { default: MAX_BYTES, description: 'Most bytes the source may have, unpacked.' }),
  ),
}
export interface GleifOptions {
  readonly encoding?: Parameters<typeof readDetected>[1]['encoding']
  readonly max_expanded_bytes?: number | undefined
}

export const gleifMedia = ['text/csv', 'application/xml', 'text/xml', 'application/zip', 'application/gzip']

export interface Node {
  text: string | undefined
  readonly members: Map<string, Node[]>
}

/** The records of a file, and the paths they may have. */
export interface GleifLayout {
  /** Elements from the root to a record, and the header that states their number. */
  readonly record_path: string
  readonly header_path: string
  readonly needed: readonly string[]
  /** Names from the record down, separated by dots, without numbers. */
  readonly known: ReadonlySet<string>
}

export interface GleifRecord {
  readonly node: Node
  readonly at: SourceLocation
}

const createNode = (): Node => ({ text: undefined, members: new Map() })

/** Yields records in groups, and holds one group at a time. */
export async function* readGleif(
  source: Source,
  layout: GleifLayout,
  options: GleifOptions,
  out: BatchBuilder,
): AsyncGenerator<GleifRecord[], void, undefined> {
  const { head, bytes, close } = await peek(unwrap(source, options.max_expanded_bytes ?? MAX_BYTES), DETECTION_BYTES)
  try {
    const isXml = detectFormat(head.subarray(0, DETECTION_BYTES))?.family === 'xml'
    yield* isXml ? readXmlRecords(bytes, layout, options, out) : readCsvRecords(bytes, layout, options, out)
  } finally {
    await close()
  }
}

interface Step {
  readonly name: string
  readonly index: number
}

function toSteps(column: string): Step[] {
  const steps: Step[] = []
  for (const part of column.split('.')) {
    const last = steps.at(-1)
    if (/^\d{1,3}$/.test(part) && last) steps[steps.length - 1] = { ...last, index: Number(part) - 1 }
    else steps.push({ name: part, index: 0 })
  }
  return steps
}

function putText(root: Node, steps: readonly Step[], text: string): void {
  let node = root
  for (const { name, index } of steps) {
    let list = node.members.get(name)
    if (list === undefined) {
      list = []
      node.members.set(name, list)
    }
    // The numbers of blank ones are skipped.
    while (list.length <= index) list.push(createNode())
    node = list[index] as Node
  }
  node.text = text
}

async function* readCsvRecords(source: Source, layout: GleifLayout, options: GleifOptions, out: BatchBuilder) {
  let columns: readonly (readonly Step[])[] = []
  const begin = (header: readonly string[]) => {
    const missing = layout.needed.filter((name) => !header.includes(name))
    if (missing.length > 0) {
      const names = missing.map((name) => `"${name}"`).join(', ')
      refuseSource('layout_unknown', `The columns ${names} are missing: this is another file, or another layout of it.`)
    }
    columns = header.map(toSteps)
    const unread = new UnreadPaths(layout.known)
    for (const steps of columns) unread.check(steps.map(({ name }) => name).join('.'))
    unread.report('columns', out)
  }
  const settings = { encoding: options.encoding, max_expanded_bytes: options.max_expanded_bytes ?? MAX_BYTES }
  for await (const rows of readTable(readDetected(source, settings, out), { header: true }, out, begin)) {
    yield rows.map(({ fields, at }) => {
      const node = createNode()
      for (let index = 0; index < fields.length; index++) {
        const cell = fields[index] as string
        const text = cell === '' ? cell : cell.trim()
        if (text !== '') putText(node, columns[index] as readonly Step[], text)
      }
      return { node, at }
    })
  }
}

async function* readXmlRecords(source: Source, layout: GleifLayout, options: GleifOptions, out: BatchBuilder) {
  const unread = new UnreadPaths(layout.known)
  let announced: string | undefined
  let row = 0
  const settings = { max_expanded_bytes: options.max_expanded_bytes ?? MAX_BYTES, onEncoding: noteEncoding(out) }
  for await (const found of readXml(source, [layout.record_path, layout.header_path], settings)) {
    const records: GleifRecord[] = []
    for (const { path, element, line } of found) {
      if (path === layout.record_path) {
        records.push({ node: toNode(element, '', unread), at: { row: ++row, line, path } })
        continue
      }
      announced = getChildText(element, 'RecordCount')
      const content = getChildText(element, 'FileContent') ?? ''
      if (content.includes('DELTA')) out.warn('changes_only', `The file says that it holds changes only (${content}).`)
    }
    yield records
  }
  unread.report('elements', out)
  if (announced !== undefined && Number(announced) !== row) {
    const message = `The file announces ${announced} records and has ${row}.`
    out.warnIncomplete('count_differs', message, Math.abs(Number(announced) - row) || 1)
  }
}

function toNode(element: XmlElement, path: string, unread: UnreadPaths): Node {
  const node = createNode()
  if (element.text !== '') node.text = element.text
  const into = (name: string, make: (path: string) => Node) => {
    const inner = path === '' ? name : `${path}.${name}`
    if (!unread.check(inner)) return
    const list = node.members.get(name) ?? []
    node.members.set(name, [...list, make(inner)])
  }
  for (const [name, value] of Object.entries(element.attributes)) {
    if (name.startsWith('xmlns') || value === '') continue
    into(name === 'lang' || name === 'xml:lang' ? 'xmllang' : name, () => ({ text: value, members: new Map() }))
  }
  for (const child of element.children) into(child.name, (inner) => toNode(child, inner, unread))
  return node
}

/** Collects unknown paths, each once. */
class UnreadPaths {
  private readonly known: ReadonlySet<string>
  private readonly found = new Set<string>()

  constructor(known: ReadonlySet<string>) {
    this.known = known
  }

  check(path: string): boolean {
    if (this.known.has(path)) return true
    if (path !== '' && this.found.size < 100) this.found.add(path)
    return false
  }

  report(what: string, out: BatchBuilder): void {
    if (this.found.size === 0) return
    const names = [...this.found].slice(0, 20).map((name) => `"${name}"`)
    const more = this.found.size > names.length ? ', …' : ''
    const message = `${this.found.size} kinds of ${what} are not read, since this adapter does not know them: ${names.join(', ')}${more}.`
    out.warn(`${what}_unread`, message)
  }
}

/** The given paths and every path above them. */
export function expandPaths(paths: readonly string[]): Set<string> {
  const known = new Set<string>()
  for (const path of paths) {
    const steps = path.split('.')
    for (let count = 1; count <= steps.length; count++) known.add(steps.slice(0, count).join('.'))
  }
  return known
}

const split_paths = new Map<string, readonly string[]>()

/** Splits a path once: paths are constants of the code, so there are few. */
function splitPath(path: string): readonly string[] {
  let steps = split_paths.get(path)
  if (steps === undefined) {
    steps = path.split('.')
    split_paths.set(path, steps)
  }
  return steps
}

/** Nodes at a path, including every repeated element. */
export function findNodes(node: Node, path: string): Node[] {
  const found: Node[] = []
  collect(node, splitPath(path), 0, found)
  return found
}

function collect(node: Node, steps: readonly string[], at: number, found: Node[]): void {
  if (at === steps.length) {
    if (node.text !== undefined || node.members.size > 0) found.push(node)
    return
  }
  const inner = node.members.get(steps[at] as string)
  if (inner) for (const one of inner) collect(one, steps, at + 1, found)
}

/** The first text at the first path that has one. */
export function getText(node: Node, ...paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const text = getFirstText(node, splitPath(path), 0)
    if (text !== undefined) return text
  }
  return undefined
}

function getFirstText(node: Node, steps: readonly string[], at: number): string | undefined {
  if (at === steps.length) return node.text
  const inner = node.members.get(steps[at] as string)
  if (inner === undefined) return undefined
  for (const one of inner) {
    const text = getFirstText(one, steps, at + 1)
    if (text !== undefined) return text
  }
  return undefined
}

type Paths = Readonly<Record<string, string | readonly string[]>>
const listed_paths = new WeakMap<Paths, readonly (readonly [member: string, paths: readonly string[]])[]>()

/** The texts at the paths, by member; without those that are empty. */
export function getTexts(node: Node, paths: Paths): Record<string, string> {
  let listed = listed_paths.get(paths)
  if (listed === undefined) {
    listed = Object.entries(paths).map(([member, path]) => [member, [path].flat()] as const)
    listed_paths.set(paths, listed)
  }
  const texts: Record<string, string> = {}
  for (const [member, some] of listed) {
    const text = getText(node, ...some)
    if (text !== undefined) texts[member] = text
  }
  return texts
}
