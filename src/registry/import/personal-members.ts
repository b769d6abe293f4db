/** Removes or hashes personal members of entries, and keeps them out of messages. */
import { createHmac } from 'node:crypto'
import type { Entry } from '../adapter.ts'
import { parsePointer, valueAt } from '../content/json-pointer.ts'
import type { ImportRequest } from './import-messages.ts'

const MAX_EXCERPT = 200

export interface Privacy {
  /** Removes or hashes personal members in place, before an entry is validated or stored. */
  apply(entry: Entry): void
  /** Pointers to drop or hash that matched no entry: most likely they are misspelt. */
  unmet(): string[]
}

export function createPrivacy({ drop, hash, hash_key }: ImportRequest): Privacy {
  const unmet = new Set([...drop, ...hash])
  const changes = [
    ...drop.map((pointer) => ({ pointer, steps: parsePointer(pointer), change: remove })),
    ...hash.map((pointer) => ({ pointer, steps: parsePointer(pointer), change: hashWith(hash_key as Uint8Array) })),
  ]
  return {
    apply: (entry) => {
      for (const { pointer, steps, change } of changes) if (changeAt(entry, steps, 0, change)) unmet.delete(pointer)
    },
    unmet: () => [...unmet],
  }
}

type ChangeMember = (parent: Record<string, unknown>, name: string) => void

/** Returns whether anything was changed; `*` is every element of an array, visited from the end since elements may be removed. */
function changeAt(value: unknown, steps: readonly string[], at: number, change: ChangeMember): boolean {
  if (typeof value !== 'object' || value === null) return false
  const parent = value as Record<string, unknown>
  const step = steps[at] as string
  const isEach = step === '*' && Array.isArray(value)
  let met = false
  for (const name of isEach ? Object.keys(parent).reverse() : Object.hasOwn(parent, step) ? [step] : []) {
    const isLast = at === steps.length - 1
    if (isLast) change(parent, name)
    met = isLast || changeAt(parent[name], steps, at + 1, change) || met
  }
  return met
}

const remove: ChangeMember = (parent, name) => {
  if (Array.isArray(parent)) parent.splice(Number(name), 1)
  else delete parent[name]
}

const hashWith =
  (key: Uint8Array): ChangeMember =>
  (parent, name) => {
    const value = parent[name]
    if (value === undefined || value === null) return
    const text = typeof value === 'string' ? value.normalize('NFC').trim() : JSON.stringify(value)
    parent[name] = createHmac('sha256', key).update(text).digest('hex')
  }

/** The value of a member, shortened; never of a member with personal data. */
export function createExcerptReader({
  fields,
}: ImportRequest['type']): (entry: Entry, pointer: string) => string | null {
  const personal = new Set(Object.keys(fields).filter((pointer) => fields[pointer]?.personal))
  return (entry, pointer) => {
    const general = pointer.replace(/\/\d+(?=\/|$)/g, '/*')
    if (personal.size > 0 && (pointer === '' || personal.has(general))) return null
    const value = pointer === '' ? entry : valueAt(entry, parsePointer(pointer))
    if (value === undefined) return null
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text
  }
}
