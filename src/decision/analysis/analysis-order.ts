/**
 * A proof that is asked for, as plain data: a definition, and what its lists give it. It can be handed to another thread, and
 * what is found there is what would be found here.
 */
import { engineOf } from '../engines.ts'
import type { BoundList, Compiled, Definition, Finding, ListEntry, Lists } from '../model.ts'
import { analyse } from './analyse.ts'

interface PlainList {
  readonly list_key: string
  readonly version: number
  readonly content_hash: string
  readonly overlay_hash: string | null
  readonly entries: readonly ListEntry[]
  /** False: these are only the entries that the definition names, of a list too large to be held. */
  readonly whole: boolean
}

export interface AnalysisOrder {
  readonly engine: number
  readonly definition: Definition
  readonly lists: readonly PlainList[]
}

export function orderOf({ definition, references }: Compiled, lists: Lists, engine: number): AnalysisOrder {
  const plain = ({ get, all, ...facts }: BoundList): PlainList => {
    const named = references.flatMap(({ list_key, key }) => (list_key === facts.list_key && key !== null ? [key] : []))
    const entries = all ?? [...new Set(named)].flatMap((key) => get(key) ?? [])
    return { ...facts, entries, whole: all !== null }
  }
  return { engine, definition, lists: [...lists.values()].map(plain) }
}

export function carryOut({ engine, definition, lists }: AnalysisOrder): Finding[] {
  return analyse(engineOf(engine).compile(definition), new Map(lists.map((list) => [list.list_key, boundTo(list)])))
}

function boundTo({ entries, whole, ...facts }: PlainList): BoundList {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]))
  return { ...facts, get: (key) => byKey.get(key), all: whole ? entries : null }
}
