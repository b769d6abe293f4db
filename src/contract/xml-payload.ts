/**
 * Converts an XML payload to JSON before its contract is applied. Each element becomes a member: a text, or an object with its
 * attributes (`@name`), its children and its own text (`#text`). A repeated child, or one that the contract declares as a list, is
 * an array.
 */
import type { SaxesTagPlain } from 'saxes'
import { escapeStep, setMember } from '#registry/content/json-pointer.ts'
import { readText } from '#registry/formats/decode.ts'
import { onLine, refuseSource } from '#registry/formats/fault.ts'
import { type XmlFault, XmlParser } from '#registry/formats/xml-parser.ts'

const MAX_DEPTH = 64
const MAX_ELEMENTS = 100_000

interface OpenElement {
  readonly name: string
  readonly members: Record<string, unknown>
  /** Pointer with `*` for elements of lists. */
  readonly pointer: string
  has_members: boolean
  text: string
}

/** Says whether the contract declares a list at a pointer. */
export type IsList = (pointer: string) => boolean

export const isXmlMediaType = (media_type: string): boolean =>
  /^(?:application|text)\/(?:[\w.+-]*\+)?xml(?:\s*;|$)/i.test(media_type.trim())

/** Throws SourceFault when the text is not well-formed, declares a document type or exceeds a limit. */
export async function readXmlPayload(bytes: Buffer, isList: IsList): Promise<unknown> {
  const builder = new TreeBuilder(isList)
  const source = (async function* () {
    yield bytes
  })()
  for await (const piece of readText(source, { encoding: 'xml', max_expanded_bytes: bytes.length * 4 })) {
    builder.parser.write(piece)
  }
  builder.parser.close()
  return builder.root.members
}

class TreeBuilder {
  readonly root: OpenElement = { name: '', members: {}, pointer: '', has_members: false, text: '' }
  readonly parser: XmlParser
  readonly #open: OpenElement[] = [this.root]
  readonly #isList: IsList
  #elements = 0

  constructor(isList: IsList) {
    this.#isList = isList
    this.parser = new XmlParser({
      open: (tag) => this.#opened(tag),
      close: () => this.#closed(),
      text: (text) => {
        const element = this.#open.at(-1)
        if (element) element.text += text
      },
      fault: refuseXml,
    })
  }

  #opened(tag: SaxesTagPlain): void {
    const { line } = this.parser.place
    if (this.#open.length > MAX_DEPTH) {
      refuseSource('not_well_formed', `The XML is nested deeper than ${MAX_DEPTH} levels.`, onLine(line))
    }
    if (++this.#elements > MAX_ELEMENTS) {
      refuseSource('source_too_large', `The XML has more than ${MAX_ELEMENTS} elements.`, onLine(line))
    }
    const parent = this.#open.at(-1) as OpenElement
    const name = toLocalName(tag.name)
    const at = `${parent.pointer}/${escapeStep(name)}`
    const element: OpenElement = {
      name,
      members: {},
      pointer: this.#isList(at) ? `${at}/*` : at,
      has_members: false,
      text: '',
    }
    for (const [attribute, value] of Object.entries(tag.attributes)) {
      if (attribute === 'xmlns' || attribute.startsWith('xmlns:')) continue
      setMember(element.members, `@${toLocalName(attribute)}`, value.trim())
      element.has_members = true
    }
    this.#open.push(element)
  }

  #closed(): void {
    const element = this.#open.pop() as OpenElement
    const parent = this.#open.at(-1) as OpenElement
    const text = element.text.trim()
    if (element.has_members && text !== '') setMember(element.members, '#text', text)
    const value = element.has_members ? element.members : text
    parent.has_members = true
    const known = Object.hasOwn(parent.members, element.name) ? parent.members[element.name] : undefined
    if (Array.isArray(known)) known.push(value)
    else if (known !== undefined) setMember(parent.members, element.name, [known, value])
    else setMember(parent.members, element.name, element.pointer.endsWith('/*') ? [value] : value)
  }
}

const toLocalName = (name: string): string => name.slice(name.indexOf(':') + 1)

function refuseXml({ kind, line }: XmlFault): never {
  if (kind === 'doctype') refuseSource('doctype_refused', 'The XML declares a document type.', onLine(line))
  if (kind === 'truncated') refuseSource('truncated', 'The XML ends too early.', onLine(line))
  refuseSource('not_well_formed', 'The XML is not well-formed.', onLine(line))
}

/** Lists that the contract declares: its records, and the arrays of a record. */
export function createListTest(records_at: string, isArray: (record_pointer: string) => boolean): IsList {
  return (pointer) => {
    if (records_at === '') return isArray(pointer)
    if (pointer === records_at) return true
    const inside = `${records_at}/*`
    return pointer.startsWith(`${inside}/`) && isArray(pointer.slice(inside.length))
  }
}
