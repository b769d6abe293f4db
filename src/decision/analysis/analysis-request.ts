/**
 * An analysis request as plain data: the definition and its list entries. It can be sent to another thread and gives the same result
 * there.
 */
import { deserialize, serialize } from 'node:v8'
import type { BoundList, BoundLists, CompiledDefinition, Definition, ListEntry } from '../model.ts'

export interface ListSnapshot {
  readonly list_key: string
  readonly version: number
  readonly content_hash: string
  readonly overlay_hash: string | null
  readonly entries: readonly ListEntry[]
  /** False: only the entries that the definition names, of a list too large to load. */
  readonly whole: boolean
}

export interface AnalysisRequest {
  readonly engine: number
  readonly definition: Definition
  readonly lists: readonly ListSnapshot[]
}

export function buildAnalysisRequest(
  { definition, references, engine }: CompiledDefinition,
  lists: BoundLists,
): AnalysisRequest {
  const plain = ({ get, all, ...facts }: BoundList): ListSnapshot => {
    const named = references.flatMap(({ list_key, key }) => (list_key === facts.list_key && key !== null ? [key] : []))
    const entries = all ?? [...new Set(named)].flatMap((key) => get(key) ?? [])
    return { ...facts, entries, whole: all !== null }
  }
  return { engine, definition, lists: [...lists.values()].map(plain) }
}

/** The same serialized in parts: a structured clone of the whole would block the event loop. */
export interface SerializedRequest {
  readonly engine: number
  readonly definition: Uint8Array<ArrayBuffer>
  readonly lists: readonly Uint8Array<ArrayBuffer>[]
}

/** Yields to the event loop after each part. */
export async function serializeRequest({ engine, definition, lists }: AnalysisRequest): Promise<SerializedRequest> {
  const written = async (part: Definition | ListSnapshot) => {
    const bytes = serialize(part) as Uint8Array<ArrayBuffer>
    await new Promise(setImmediate)
    return bytes
  }
  const packed: Uint8Array<ArrayBuffer>[] = []
  for (const list of lists) packed.push(await written(list))
  return { engine, definition: await written(definition), lists: packed }
}

/** Buffers that are transferred instead of copied. */
export const listTransferables = ({ definition, lists }: SerializedRequest): ArrayBuffer[] =>
  [definition, ...lists].map(({ buffer }) => buffer)

export const deserializeDefinition = ({ definition }: SerializedRequest): Definition => deserialize(definition)
export const deserializeLists = ({ lists }: SerializedRequest): BoundLists =>
  new Map(lists.map((bytes) => toBoundList(deserialize(bytes))).map((list) => [list.list_key, list]))

function toBoundList({ entries, whole, ...facts }: ListSnapshot): BoundList {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]))
  return { ...facts, get: (key) => byKey.get(key), all: whole ? entries : null }
}
