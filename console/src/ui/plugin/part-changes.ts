/** Changes of the stored parts of a plugin: sources as texts, members of the manifest and examples as values. Pure. */
import { findValueChanges, type ValueChange } from './value-changes.ts'

export interface TextChange {
  readonly before: string
  readonly after: string
}

export interface PartChanges {
  readonly texts: readonly TextChange[]
  readonly values: readonly ValueChange[]
}

type Side = 'before' | 'after'

/** Texts that are not plain ASCII are stored as bytes. */
function readText(changes: readonly ValueChange[], side: Side): string {
  const text = changes.find(({ pointer }) => pointer === '/text')?.[side]
  if (typeof text === 'string') return text
  const base64 = changes.find(({ pointer }) => pointer === '/base64')?.[side]
  if (typeof base64 !== 'string') return ''
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0)))
}

function parse(value: unknown): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(String(value)) }
  } catch {
    return null
  }
}

function readValue(change: ValueChange): readonly ValueChange[] {
  const [before, after] = [parse(change.before), parse(change.after)]
  return before && after ? findValueChanges(before.value, after.value) : [change]
}

export function readPartChanges(changes: readonly ValueChange[]): PartChanges {
  const isText = ({ pointer }: ValueChange) => pointer === '/text' || pointer === '/base64'
  return {
    texts: changes.some(isText) ? [{ before: readText(changes, 'before'), after: readText(changes, 'after') }] : [],
    values: changes
      .filter((change) => !isText(change) && change.pointer !== '/position')
      .flatMap((change) => (change.pointer === '/json' ? readValue(change) : [change])),
  }
}
