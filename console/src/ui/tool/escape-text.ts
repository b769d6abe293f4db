/** Texts of other parties as they can be reviewed: nothing in them is invisible or looks like something else. Pure. */
import { diffLists } from '../value-diff.ts'

/** Visible ASCII, line breaks and the accented letters of Western languages. */
const READABLE = /[^\x20-\x7e\n\u00c0-\u017f]/gu

const toEscape = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

/** Every other character as its number: control and bidirectional characters, zero-width spaces, letters of other scripts. */
export const escapeText = (text: string): string => text.replaceAll(READABLE, toEscape)

/** Control, bidirectional and other characters without a shape; letters of every script stay. */
const INVISIBLE = /[^\P{C}\n]|[\u2028\u2029]/gu

const toJsonEscape = (character: string): string =>
  Array.from({ length: character.length }, (_, place) => {
    const unit = character.charCodeAt(place).toString(16).padStart(4, '0')
    return `\\u${unit}`
  }).join('')

/** JSON in which every character can be seen. It is still the same JSON. */
export const formatJson = (value: unknown): string =>
  (JSON.stringify(value, null, 2) ?? '').replaceAll(INVISIBLE, toJsonEscape)

/** The order in which people read a tool: stored objects keep none. */
const ORDER = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations']

const rank = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length)

/** A definition as lines of JSON. */
export function toDefinitionLines(definition: Readonly<Record<string, unknown>> | null): readonly string[] {
  if (definition === null) return []
  const sorted = Object.fromEntries(Object.entries(definition).toSorted(([a], [b]) => rank(a) - rank(b)))
  return escapeText(JSON.stringify(sorted, null, 2)).split('\n')
}

export interface LinePair {
  readonly kind: 'same' | 'changed'
  /** Null: the other side has a line that this one lacks. */
  readonly before: string | null
  readonly after: string | null
}

/** Two texts side by side: lines that both have stand beside each other. */
export function pairLines(before: readonly string[], after: readonly string[]): readonly LinePair[] {
  const pairs: LinePair[] = []
  let removed: string[] = []
  let added: string[] = []
  const flush = () => {
    for (let place = 0; place < Math.max(removed.length, added.length); place++) {
      pairs.push({ kind: 'changed', before: removed[place] ?? null, after: added[place] ?? null })
    }
    removed = []
    added = []
  }
  for (const { kind, value } of diffLists(before, after)) {
    const line = String(value)
    if (kind === 'removed') removed.push(line)
    else if (kind === 'added') added.push(line)
    else {
      flush()
      pairs.push({ kind: 'same', before: line, after: line })
    }
  }
  flush()
  return pairs
}
