/**
 * Reports members of XML records that an adapter does not know, so that members a publisher adds or renames are noticed. Members
 * that an adapter deliberately leaves out are known and not reported.
 */
import type { XmlElement } from '../formats/xml.ts'
import type { BatchBuilder } from './batch-builder.ts'

/** By name of an element: its members, separated by spaces. `@name` is an attribute, `#` its text, anything else a child. */
export type KnownMembers = Readonly<Record<string, string>>

const MAX_NAMED = 8
/** Further names are only counted. */
const MAX_KEPT = 1000

export class UnreadMembers {
  private readonly known: ReadonlyMap<string, ReadonlySet<string>>
  private readonly found = new Map<string, { count: number; line: number }>()
  private further = 0

  constructor(known: KnownMembers) {
    this.known = new Map(Object.entries(known).map(([name, members]) => [name, new Set(members.split(' '))]))
  }

  /** An element outside the records. */
  add(path: string, line: number): void {
    const before = this.found.get(path)
    if (before) before.count++
    else if (this.found.size < MAX_KEPT) this.found.set(path, { count: 1, line })
    else this.further++
  }

  /** Checks a record. `line` is where it begins. */
  check(element: XmlElement, line: number): void {
    const known = this.known.get(element.name)
    for (const [name, value] of Object.entries(element.attributes)) {
      if (value !== '' && !known?.has(`@${name}`)) this.add(`${element.name}/@${name}`, line)
    }
    if (element.text !== '' && !known?.has('#')) this.add(`${element.name}/text()`, line)
    for (const child of element.children) {
      if (known?.has(child.name)) this.check(child, line)
      else if (!isEmpty(child)) this.add(`${element.name}/${child.name}`, line)
    }
  }

  conclude(out: BatchBuilder): void {
    if (this.found.size === 0) return
    // In the order of the file, whatever its chunks.
    const found = [...this.found].sort(([a, at_a], [b, at_b]) => at_a.line - at_b.line || (a < b ? -1 : 1))
    const names = found.map(([name, { count }]) => `${name} (${count})`)
    const more = names.length - MAX_NAMED + this.further
    const shown = [...names.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ')
    const line = found[0]?.[1].line ?? 1
    out.warn('members_unread', `The file holds members that are not read: ${shown}.`, { row: 0, line })
  }
}

function isEmpty({ attributes, children, text }: XmlElement): boolean {
  return text === '' && children.every(isEmpty) && Object.values(attributes).every((value) => value === '')
}
