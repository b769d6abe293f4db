/**
 * An XML parser that reports the exact position of a fault. saxes reports how far it has read, which is after the fault whenever it
 * read ahead; this parser keeps the text since the last complete construct and searches it for the fault.
 */
import { SaxesParser, type SaxesTagPlain } from 'saxes'
import { type TextPosition, TextWindow } from './text-window.ts'

export interface XmlFault extends TextPosition {
  readonly kind: 'ampersand' | 'doctype' | 'malformed' | 'truncated'
  /** The message of the parser, without its position. */
  readonly what: string
}

export interface XmlHandlers {
  /** `place` returns the start of the tag; it takes a search. */
  open?(tag: SaxesTagPlain, place: () => TextPosition): void
  close?(name: string): void
  text?(text: string): void
  /** Must throw. */
  fault(fault: XmlFault): never
}

/** An ampersand that does not begin a reference. saxes looks for the semicolon of a reference to the end of the file. */
const BARE_AMPERSAND = /&(?!(?:#\d+|#x[\dA-Fa-f]+|[A-Za-z_:][\w.:-]*);)/
/** A reference truncated by the end of the file. */
const CUT_REFERENCE = /^&(?:#?|#\d+|#x[\dA-Fa-f]*|[A-Za-z_:][\w.:-]*)$/
/** Constructs in which an ampersand is an ordinary character. */
const OPAQUE = /^<[!?]/
const ATTRIBUTE = /([^\s=<>"'/]+)\s*=\s*(?:"[^"]*"|'[^']*')/g

export class XmlParser {
  readonly #parser = new SaxesParser()
  readonly #window = new TextWindow()
  readonly #fault: XmlHandlers['fault']
  /** Offset after the last complete construct. */
  #complete = 0
  /** Offset at which the last text began. */
  #text_start = 0
  #closing = false

  constructor(handlers: XmlHandlers) {
    this.#fault = handlers.fault
    const parser = this.#parser
    const done = (offset: number) => {
      this.#complete = offset
    }
    parser.on('error', (error) => this.#locate(error))
    parser.on('xmldecl', () => done(parser.position))
    parser.on('doctype', () => this.#refuse('doctype', this.#nextVisible(), 'it declares a document type'))
    parser.on('opentag', (tag) => {
      const before = this.#complete
      done(parser.position)
      handlers.open?.(tag as SaxesTagPlain, () => this.#window.positionAt(this.#window.indexOf('<', before)))
    })
    parser.on('closetag', ({ name }) => {
      done(parser.position)
      handlers.close?.(name)
    })
    // A text ends when the `<` after it has been read.
    const text = (content: string) => handlers.text?.(content)
    parser.on('text', (content) => {
      this.#text_start = this.#complete
      done(parser.position - 1)
      text(content)
    })
    parser.on('cdata', (content) => {
      done(parser.position)
      text(content)
    })
    // The last character of a comment has not been read yet.
    parser.on('comment', () => done(parser.position + 1))
    parser.on('processinginstruction', () => done(parser.position))
  }

  /** Size of the text that is kept because its construct is incomplete. */
  get held_chars(): number {
    return this.#window.end - this.#complete
  }

  /** Start of the incomplete construct. */
  get place(): TextPosition {
    return this.#window.positionAt(this.#complete)
  }

  write(piece: string): void {
    this.#window.dropBefore(this.#complete)
    this.#window.push(piece)
    this.#parser.write(piece)
  }

  close(): void {
    this.#closing = true
    this.#parser.close()
  }

  #refuse(kind: XmlFault['kind'], offset: number, what: string): never {
    this.#fault({ kind, what, ...this.#window.positionAt(offset) })
  }

  #locate(error: Error): never {
    const what = error.message.replace(/^[^a-z]*\d+:\d+: /, '').replace(/\.$/, '')
    const { end } = this.#window
    // The parser is one character after the invalid one, and one further at the end of a chunk.
    const behind = this.#closing ? end : Math.min(this.#parser.position, end)
    this.#refuseBareAmpersand(behind)
    if (this.#closing) this.#refuse('truncated', end, what)
    this.#refuse('malformed', this.#offsetOf(what, behind), what)
  }

  #refuseBareAmpersand(behind: number): void {
    const read = this.#window.slice(this.#complete, behind)
    const found = OPAQUE.test(read) ? null : BARE_AMPERSAND.exec(read)
    if (!found || (this.#closing && CUT_REFERENCE.test(read.slice(found.index)))) return
    this.#refuse('ampersand', this.#complete + found.index, 'a bare ampersand')
  }

  /** Faults that are noticed at the end of a construct are reported at their start in it. */
  #offsetOf(what: string, behind: number): number {
    if (what.startsWith('text data outside')) {
      return this.#nextVisible(this.#complete === behind - 1 ? this.#text_start : this.#complete)
    }
    if (/clos(e|ing) tag/.test(what)) return this.#window.lastIndexOf('</', behind - 1)
    if (/only one root/.test(what)) return this.#window.lastIndexOf('<', behind - 1)
    if (/entity/.test(what)) return this.#window.lastIndexOf('&', behind - 1)
    const repeated = /^duplicate attribute: (.*)$/.exec(what)?.[1]
    if (repeated !== undefined) {
      const tag = this.#window.slice(this.#complete, behind)
      const second = [...tag.matchAll(ATTRIBUTE)].filter(([, name]) => name === repeated)[1]
      if (second) return this.#complete + second.index
    }
    return behind - 1
  }

  /** Offset of the first character that is not white space. */
  #nextVisible(from = this.#complete): number {
    return from + Math.max(0, this.#window.slice(from).search(/[^ \t\r\n]/))
  }
}
