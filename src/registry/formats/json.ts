/**
 * Streams a large JSON document: yields the elements of the array, or the members of the object, at a pointer, each parsed
 * separately. The rest is checked and skipped token by token; only one record is in memory.
 */
import { MAX_JSON_DEPTH } from '#kernel/strict-json.ts'
import { MAX_RECORD_CHARS, onLine, recordTooLong, refuseSource } from './fault.ts'
import { findJsonFault, parseRecord, RecordFault } from './json-record.ts'

export interface JsonItem {
  /** Index in the array, or the name of the member. */
  readonly name: number | string
  readonly line: number
  readonly text: string
  /** The value, or why there is none. */
  readonly value: unknown
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const GROUP = 500

/** `pointer` is a JSON pointer (RFC 6901) to the array or object that holds the records; '' is the document itself. */
export async function* readJsonItems(
  text: AsyncIterable<string>,
  pointer = '',
): AsyncGenerator<JsonItem[], void, undefined> {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const iterator = text[Symbol.asyncIterator]()
  try {
    const reader = new JsonReader(iterator)
    yield* reader.items(steps, 0)
    if (!reader.found) {
      refuseSource(
        'layout_unknown',
        `The document has no array or object at "${pointer}", where its records should be.`,
      )
    }
    await reader.finish()
  } finally {
    await iterator.return?.()
  }
}

class JsonReader {
  found = false
  private readonly source: AsyncIterator<string>
  private text = ''
  private at = 0
  private ended = false
  private line = 1
  /** End of the current line in `text`; beyond the text when it is not known yet. */
  private lineEnd = 0
  private depth = 0

  constructor(source: AsyncIterator<string>) {
    this.source = source
  }

  /** Finds the container at `steps`, yields its records, and skips the rest. */
  async *items(steps: readonly string[], level: number): AsyncGenerator<JsonItem[], void, undefined> {
    const opening = await this.nextCode()
    if (opening !== OPEN_ARRAY && opening !== OPEN_OBJECT) {
      if (Number.isNaN(opening)) this.failTruncated()
      return this.skip()
    }
    if (level === steps.length) {
      this.found = true
      return yield* this.records()
    }
    this.open()
    const closing = opening === OPEN_ARRAY ? CLOSE_ARRAY : CLOSE_OBJECT
    const names = new Set<string>()
    if ((await this.nextCode()) !== closing) {
      for (let index = 0; ; index++) {
        const name = opening === OPEN_OBJECT ? await this.name(names) : String(index)
        if (name === steps[level] && !this.found) yield* this.items(steps, level + 1)
        else await this.skip()
        if (!(await this.hasMore(closing))) break
      }
    }
    await this.close(closing)
  }

  private async *records(): AsyncGenerator<JsonItem[], void, undefined> {
    const isArray = (await this.nextCode()) === OPEN_ARRAY
    const closing = isArray ? CLOSE_ARRAY : CLOSE_OBJECT
    this.open()
    let group: JsonItem[] = []
    const names = new Set<string>()
    if ((await this.nextCode()) !== closing) {
      for (let index = 0; ; index++) {
        const name = isArray ? index : await this.name(names)
        // Awaiting text that has already arrived would cost more than parsing it.
        if (Number.isNaN(this.skipSpace())) await this.nextCode()
        group.push(this.tryReadRecord(name) ?? (await this.record(name)))
        if (group.length === GROUP) {
          yield group
          group = []
        }
        if (this.skipSpace() === COMMA) this.at++
        else if (!(await this.hasMore(closing))) break
      }
    }
    await this.close(closing)
    if (group.length > 0) yield group
  }

  async finish(): Promise<void> {
    if (!Number.isNaN(await this.nextCode())) this.failUnexpected('Only one JSON value is read')
  }

  private async record(name: number | string): Promise<JsonItem> {
    for (;;) {
      const ready = this.tryReadRecord(name)
      if (ready) return ready
      if (this.text.length - this.at > MAX_RECORD_CHARS) {
        this.refuseFault()
        recordTooLong(this.location())
      }
      await this.fill()
      if (this.ended && this.findValueEnd() < 0) {
        this.refuseFault()
        this.failTruncated()
      }
    }
  }

  /** The value that begins here, if the text of it is complete. */
  private tryReadRecord(name: number | string): JsonItem | undefined {
    const end = this.findValueEnd()
    if (end < 0) return undefined
    const line = this.currentLine()
    const text = this.text.slice(this.at, end)
    this.at = end
    try {
      return { name, line, text, value: parseRecord(text) }
    } catch (fault) {
      if (!(fault instanceof RecordFault)) throw fault
      // After unbalanced brackets the start of the next record is unknown.
      if (fault.code === 'not_well_formed') {
        if (this.ended && end === this.text.length && findJsonFault(text)?.cut) this.failTruncated()
        refuseSource('not_well_formed', fault.messageAt(line), onLine(fault.lineIn(line)))
      }
      return { name, line, text, value: fault }
    }
  }

  /** A value without an end may have an earlier fault: an unbalanced bracket or quote. */
  private refuseFault(): void {
    const found = findJsonFault(this.text.slice(this.at))
    if (!found || found.cut) return
    const line = this.currentLine()
    refuseSource('not_well_formed', found.fault.messageAt(line), onLine(found.fault.lineIn(line)))
  }

  /** End of the value that begins here, found by brackets and quotes only; -1 when it has not arrived. */
  private findValueEnd(): number {
    const code = this.text.charCodeAt(this.at)
    if (code === QUOTE) return this.findStringEnd(this.at)
    return code === OPEN_ARRAY || code === OPEN_OBJECT ? this.findContainerEnd(this.at) : this.findScalarEnd(this.at)
  }

  private findContainerEnd(start: number): number {
    const { text } = this
    const end = text.length
    let depth = 0
    for (let at = start; at < end; at++) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) {
        const close = this.findStringEnd(at)
        if (close < 0) return -1
        at = close - 1
      } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++
      else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && --depth === 0) return at + 1
    }
    return -1
  }

  private findStringEnd(start: number): number {
    const { text } = this
    const end = text.length
    for (let at = start + 1; at < end; at++) {
      const code = text.charCodeAt(at)
      if (code === QUOTE) return at + 1
      if (code === BACKSLASH) at++
    }
    return -1
  }

  private findScalarEnd(start: number): number {
    for (let at = start; at < this.text.length; at++) {
      const code = this.text.charCodeAt(at)
      if (code <= 0x20 || code === COMMA || code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
        if (at === start) this.failUnexpected('A value is missing')
        return at
      }
    }
    if (this.ended && start >= this.text.length) this.failTruncated()
    return this.ended ? this.text.length : -1
  }

  private async skip(): Promise<void> {
    const code = await this.nextCode()
    if (Number.isNaN(code)) this.failTruncated()
    if (code !== OPEN_ARRAY && code !== OPEN_OBJECT) {
      await this.record('')
      return
    }
    const closing = code === OPEN_ARRAY ? CLOSE_ARRAY : CLOSE_OBJECT
    this.open()
    const names = new Set<string>()
    if ((await this.nextCode()) !== closing) {
      do {
        if (closing === CLOSE_OBJECT) await this.name(names)
        await this.skip()
      } while (await this.hasMore(closing))
    }
    await this.close(closing)
  }

  private async name(seen: Set<string>): Promise<string> {
    if ((await this.nextCode()) !== QUOTE) this.failUnexpected('A name in double quotes is missing')
    const name = String((await this.record('')).value)
    if (seen.has(name)) this.failUnexpected('The same name appears twice in one object')
    seen.add(name)
    if ((await this.nextCode()) !== COLON) this.failUnexpected('A colon is missing after the name')
    this.at++
    return name
  }

  private open(): void {
    if (++this.depth > MAX_JSON_DEPTH) {
      refuseSource('not_well_formed', `The document is nested deeper than ${MAX_JSON_DEPTH} levels.`, this.location())
    }
    this.at++
  }

  private async close(closing: number): Promise<void> {
    if ((await this.nextCode()) !== closing)
      this.failUnexpected(`A comma or "${String.fromCharCode(closing)}" is missing`)
    this.at++
    this.depth--
  }

  /** Whether a comma, and so another element, follows. */
  private async hasMore(closing: number): Promise<boolean> {
    const code = await this.nextCode()
    if (code === COMMA) {
      this.at++
      return true
    }
    if (code === closing) return false
    return this.failUnexpected(`A comma or "${String.fromCharCode(closing)}" is missing`)
  }

  /** Skips white space; the code of the next character, NaN at the end. */
  private async nextCode(): Promise<number> {
    for (;;) {
      const code = this.skipSpace()
      if (!Number.isNaN(code) || this.ended) return code
      await this.fill()
    }
  }

  /** The same within the text that has arrived. */
  private skipSpace(): number {
    const { text } = this
    for (; this.at < text.length; this.at++) {
      const code = text.charCodeAt(this.at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code
    }
    return Number.NaN
  }

  private async fill(): Promise<void> {
    const next = await this.source.next()
    if (next.done) {
      this.ended = true
      return
    }
    this.currentLine()
    this.text = this.text.slice(this.at) + next.value
    this.at = 0
    this.lineEnd = indexOrEnd(this.text, 0)
  }

  /** Searches each line end once: a document without line ends must not be searched again for every record. */
  private currentLine(): number {
    while (this.lineEnd < this.at) {
      this.line++
      this.lineEnd = indexOrEnd(this.text, this.lineEnd + 1)
    }
    return this.line
  }

  private location() {
    return onLine(this.currentLine())
  }

  private failUnexpected(what: string): never {
    if (this.ended && this.at >= this.text.length) this.failTruncated()
    refuseSource(
      'not_well_formed',
      `The JSON is not well-formed at line ${this.currentLine()}: ${what}.`,
      this.location(),
    )
  }

  /** Only at the end of the source. */
  private failTruncated(): never {
    this.at = this.text.length
    refuseSource(
      'truncated',
      `The JSON ends too early, at line ${this.currentLine()}: the file was cut off.`,
      this.location(),
    )
  }
}

function indexOrEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from)
  return at < 0 ? text.length : at
}
