/**
 * The part of a streamed text that a parser has not finished, addressed by offsets into the whole text. It converts an offset to
 * line and column, so that a fault is reported at its own position and not where the parser noticed it.
 */

/** A position as editors show it, both from 1. A line ends with a line feed; a column is a UTF-16 code unit. */
export interface TextPosition {
  readonly line: number
  readonly column: number
}

interface Cursor {
  readonly offset: number
  readonly line: number
  /** Offset at which that line begins. */
  readonly line_start: number
  /** The line continues at least to here, so that each line end is searched once. */
  readonly line_end: number
}

export class TextWindow {
  #text = ''
  /** Offset of the first character in the window. */
  #start: Cursor = { offset: 0, line: 1, line_start: 0, line_end: 0 }
  /** The last computed position: positions are mostly requested in ascending order. */
  #last: Cursor = this.#start

  get start(): number {
    return this.#start.offset
  }

  /** Offset after the last character. */
  get end(): number {
    return this.#start.offset + this.#text.length
  }

  push(piece: string): void {
    this.#text += piece
  }

  dropBefore(offset: number): void {
    if (offset <= this.start) return
    const from = this.#cursorAt(offset)
    this.#text = this.#text.slice(from.offset - this.start)
    this.#start = from
    this.#last = from
  }

  slice(from: number, to = this.end): string {
    return this.#text.slice(Math.max(0, from - this.start), Math.max(0, to - this.start))
  }

  /** Offset of `what` at or after `from`, or -1. */
  indexOf(what: string, from: number): number {
    const at = this.#text.indexOf(what, Math.max(0, from - this.start))
    return at < 0 ? -1 : at + this.start
  }

  lastIndexOf(what: string, from: number): number {
    const at = this.#text.lastIndexOf(what, Math.max(0, from - this.start))
    return at < 0 ? -1 : at + this.start
  }

  positionAt(offset: number): TextPosition {
    const { line, line_start } = this.#cursorAt(offset)
    return { line, column: offset - line_start + 1 }
  }

  #cursorAt(given: number): Cursor {
    const offset = Math.min(Math.max(given, this.start), this.end)
    const from = this.#last.offset <= offset ? this.#last : this.#start
    let { line, line_start, line_end } = from
    while (line_end < offset) {
      const at = this.#text.indexOf('\n', line_end - this.start)
      line_end = at < 0 ? this.end : at + this.start
      if (line_end >= offset) break
      line++
      line_start = ++line_end
    }
    this.#last = { offset, line, line_start, line_end }
    return this.#last
  }
}
