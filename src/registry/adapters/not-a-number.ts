/**
 * Replaces NaN in JSON by an empty text of the same length, so that offsets stay correct. NaN is not valid JSON, but statistics
 * software commonly writes it for "no value".
 */

export interface FilteredText {
  readonly text: AsyncGenerator<string, void, undefined>
  /** Number of replacements so far. */
  readonly count: number
}

export function replaceNotANumber(source: AsyncIterable<string>): FilteredText {
  const filter = new Filter()
  async function* text(): AsyncGenerator<string, void, undefined> {
    for await (const piece of source) {
      const ready = filter.push(piece)
      if (ready !== '') yield ready
    }
    const rest = filter.end()
    if (rest !== '') yield rest
  }
  return {
    text: text(),
    get count() {
      return filter.count
    },
  }
}

const IN_STRING = /["\\]/g
const OUTSIDE = /["N]/g

class Filter {
  count = 0
  private held = ''
  private in_string = false
  /** The next character belongs to an escape that began before it. */
  private is_escaped = false

  push(piece: string): string {
    const text = this.held + piece
    this.held = ''
    let ready = ''
    let done = 0
    let at = 0
    if (this.is_escaped) {
      this.is_escaped = false
      at = 1
    }
    while (at < text.length) {
      const pattern = this.in_string ? IN_STRING : OUTSIDE
      pattern.lastIndex = at
      const found = pattern.exec(text)
      if (!found) break
      at = found.index
      if (found[0] === '"') {
        this.in_string = !this.in_string
        at++
      } else if (found[0] === '\\') {
        this.is_escaped = at + 1 === text.length
        at += 2
      } else if (text.startsWith('NaN', at)) {
        ready += `${text.slice(done, at)}"" `
        this.count++
        at += 3
        done = at
      } else if (text.length - at < 3 && 'NaN'.startsWith(text.slice(at))) {
        this.held = text.slice(at)
        return ready + text.slice(done, at)
      } else at++
    }
    return ready + text.slice(done)
  }

  end(): string {
    return this.held
  }
}
