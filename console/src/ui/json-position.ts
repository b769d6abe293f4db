/** Finds the position of a JSON pointer in a JSON text. Pure. */

export interface JsonPosition {
  readonly from: number
  readonly to: number
  /** Counted from 1. */
  readonly line: number
}

/** The position of a pointer, or of its innermost existing parent; null if the text is not JSON. */
export function findPosition(text: string, pointer: string): JsonPosition | null {
  if (!isJson(text)) return null
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const [from, to] = new JsonScanner(text).find(steps)
  return { from, to, line: text.slice(0, from).split('\n').length }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Scans a text that is known to be JSON. */
class JsonScanner {
  private readonly text: string
  private at = 0
  private found: [from: number, to: number] = [0, 0]

  constructor(text: string) {
    this.text = text
  }

  find(steps: readonly string[]): [from: number, to: number] {
    this.value(steps)
    return this.found
  }

  /** `steps` is null outside the path of the pointer. */
  private value(steps: readonly string[] | null): void {
    this.space()
    const from = this.at
    const before = this.found
    const opening = this.text[this.at]
    if (opening === '{') this.members(steps)
    else if (opening === '[') this.elements(steps)
    else this.scalar()
    if (steps !== null && this.found === before) this.found = [from, this.at]
  }

  private members(steps: readonly string[] | null): void {
    this.each('}', () => {
      const name = JSON.parse(this.string()) as string
      this.space()
      this.at++
      this.value(steps !== null && steps[0] === name ? steps.slice(1) : null)
    })
  }

  private elements(steps: readonly string[] | null): void {
    let index = 0
    this.each(']', () => this.value(steps !== null && steps[0] === String(index++) ? steps.slice(1) : null))
  }

  private each(end: string, one: () => void): void {
    this.at++
    for (this.space(); this.text[this.at] !== end; this.space()) {
      if (this.text[this.at] === ',') this.at++
      this.space()
      one()
    }
    this.at++
  }

  private string(): string {
    const from = this.at++
    while (this.text[this.at] !== '"') this.at += this.text[this.at] === '\\' ? 2 : 1
    return this.text.slice(from, ++this.at)
  }

  private scalar(): void {
    if (this.text[this.at] === '"') this.string()
    else while (/[^\s,\]}]/.test(this.text[this.at] ?? ' ')) this.at++
  }

  private space(): void {
    while (/\s/.test(this.text[this.at] ?? '.')) this.at++
  }
}
