/**
 * Entry point of the bounded worker: checks and applies types that tenants wrote. It holds only compiled types, so it can be
 * terminated at any moment.
 */
import { parentPort } from 'node:worker_threads'
import { checkDefinition } from './check-type-definition.ts'
import { type CompiledType, compileType, type EntryFault } from './compile-type.ts'
import type { Fault } from './schema-limits.ts'
import { findMetaSchemaErrors } from './schema-validator.ts'
import type { TypeDefinition } from './type-definition.ts'

export type TypeWorkerTask =
  | { readonly op: 'check'; readonly definition: unknown }
  | {
      readonly op: 'validate'
      /** Cache key of the definition. */
      readonly definition_hash: string
      readonly definition: TypeDefinition
      readonly entries: readonly unknown[]
    }

/** One entry by index: the stored form, or null and its faults. */
export interface ValidationResult {
  readonly keys: (string | null)[]
  readonly texts: (string | null)[]
  readonly hashes: (string | null)[]
  readonly faults: { readonly index: number; readonly faults: readonly EntryFault[] }[]
  /** Invisible characters that were removed from keys, by the index of the entry. */
  readonly removed: (readonly [index: number, characters: readonly string[]])[]
}

export type TypeWorkerReply =
  | { readonly op: 'ready' }
  | { readonly op: 'checked'; readonly faults: readonly Fault[] }
  | { readonly op: 'validated'; readonly result: ValidationResult }
  | { readonly op: 'unusable'; readonly faults: readonly Fault[] }
  | { readonly op: 'failed'; readonly message: string }

const MAX_CACHED_TYPES = 50

/** Insertion order is the order of last use. */
const compiled = new Map<string, CompiledType>()

function getCompiledType(hash: string, definition: TypeDefinition): CompiledType | readonly Fault[] {
  const known = compiled.get(hash)
  if (known) {
    compiled.delete(hash)
    compiled.set(hash, known)
    return known
  }
  const faults = checkDefinition(definition)
  if (faults.length > 0) return faults
  const type = compileType(definition)
  compiled.set(hash, type)
  const [oldest] = compiled.keys()
  if (compiled.size > MAX_CACHED_TYPES && oldest !== undefined) compiled.delete(oldest)
  return type
}

function validate(type: CompiledType, entries: readonly unknown[]): ValidationResult {
  const result: ValidationResult = { keys: [], texts: [], hashes: [], faults: [], removed: [] }
  entries.forEach((entry, index) => {
    const prepared = type.prepare(entry)
    const stored = 'key' in prepared ? prepared : null
    result.keys.push(stored?.key ?? null)
    result.texts.push(stored?.text ?? null)
    result.hashes.push(stored?.hash ?? null)
    if (stored?.removed) result.removed.push([index, stored.removed])
    if (!('key' in prepared)) result.faults.push({ index, faults: prepared })
  })
  return result
}

function runTask(task: TypeWorkerTask): TypeWorkerReply {
  if (task.op === 'check') return { op: 'checked', faults: checkDefinition(task.definition) }
  const type = getCompiledType(task.definition_hash, task.definition)
  if (!('prepare' in type)) return { op: 'unusable', faults: type }
  return { op: 'validated', result: validate(type, task.entries) }
}

parentPort?.on('message', (task: TypeWorkerTask) => {
  let reply: TypeWorkerReply
  try {
    reply = runTask(task)
  } catch (error) {
    reply = { op: 'failed', message: error instanceof Error ? error.message : String(error) }
  }
  parentPort?.postMessage(reply)
})
// Compiles the validators of definitions and schemas now, so that they do not count against the time limit of the first type.
checkDefinition(null)
findMetaSchemaErrors({})
parentPort?.postMessage({ op: 'ready' } satisfies TypeWorkerReply)
