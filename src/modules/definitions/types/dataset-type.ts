/**
 * Checks and compiles dataset types in a limited worker thread: tenants define them, and a bad one must not block the
 * process.
 */
import { createHash } from 'node:crypto'
import { declareCache } from '#kernel/cache/caches.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Scope } from '#kernel/database/scope.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail, type ProblemError } from '#kernel/problem.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { declareThread } from '#kernel/worker-threads.ts'
import type { BaseType } from '#registry/overlay.ts'
import { compareTypes } from '#registry/types/compatibility.ts'
import { type CompiledType, compileType } from '#registry/types/compile-type.ts'
import type { TypeDefinition } from '#registry/types/type-definition.ts'
import { createTypeRunner, type TypeCall, TypeUnusable } from '#registry/types/type-runner.ts'
import { parseEntry } from '../versions/entries.ts'
import { readEntries } from '../versions/publish.ts'
import { findType, listVersionsInForceOfType, type TypeRow } from './queries.ts'

/**
 * Converts a stored type. One without a trim setting is from before the setting existed and trims all texts, so that its
 * lists keep their hashes.
 */
export const toTypeDefinition = (type: Pick<TypeRow, 'type_key' | 'type_version' | 'definition'>): TypeDefinition =>
  ({ type_key: type.type_key, type_version: type.type_version, trim: true, ...type.definition }) as TypeDefinition

export const typeThread = declareThread({ script: 'type-worker', create: createTypeRunner })

/** A compiled type of the operator. Overlays use the part in `BaseType`; publishing uses all of it. */
export interface OperatorType extends BaseType {
  readonly compiled: CompiledType
}

const baseTypes = declareCache<OperatorType>({
  name: 'base_types',
  summary: 'Compiled types of the operator: of shared lists and of the parts of documents.',
  bound: { max_entries: 100 },
})

/**
 * Compiles a type of the operator in this process: every resolution of a shared list with an overlay needs it, and every
 * publication of a document. Types of tenants are never compiled here.
 */
export function getBaseType(
  kernel: Capabilities<'caches'>,
  type: Omit<TypeRow, 'compatibility' | 'created_at' | 'created_by'>,
): OperatorType {
  if (type.tenant_id !== SYSTEM_TENANT) throw new Error('only a type of the operator is compiled in the process')
  const id = `${type.type_key} ${type.type_version} ${type.definition_hash}`
  const cache = kernel.caches.get(baseTypes)
  const known = cache.get(id)
  if (known) return known
  const definition = toTypeDefinition(type)
  const base_type: OperatorType = { definition, compiled: compileType(definition) }
  cache.set(id, base_type)
  return base_type
}

export type TypeContent = Omit<TypeRow['definition'], never>

export const toTypeContent = (
  body: Partial<TypeContent> & Pick<TypeContent, 'title' | 'description' | 'schema' | 'key_pointers' | 'examples'>,
): TypeContent => ({
  title: body.title,
  description: body.description,
  schema: body.schema,
  key_pointers: body.key_pointers,
  // Always written: a type without the setting is from before it existed.
  trim: body.trim ?? [],
  list_rules: body.list_rules ?? {},
  fields: body.fields ?? {},
  examples: body.examples,
})

export const hashTypeContent = (content: TypeContent): string =>
  createHash('sha256')
    .update(canonicalJson(JSON.parse(JSON.stringify(content))))
    .digest('hex')

/** Fails with 422 and every error of the definition with its location. */
export async function assertUsableType(
  kernel: Capabilities<'threads'>,
  definition: TypeDefinition,
  call: TypeCall,
): Promise<void> {
  const faults = await kernel.threads.get(typeThread).check(definition, call)
  if (faults.length === 0) return
  const errors: ProblemError[] = faults.slice(0, 50).map(({ pointer, message, code }) => ({
    in: 'body',
    pointer: `#${pointer}`,
    detail: message,
    keyword: code,
  }))
  fail('definition_invalid', {
    detail: `The type has ${faults.length} fault${faults.length === 1 ? '' : 's'}.`,
    errors,
  })
}

export interface TypeBreak {
  readonly list_key: string | null
  readonly version: number | null
  readonly pointer: string
  readonly what: string
  readonly detail: string
}

const MAX_BREAKS = 200

/** What a new type version would break: the key, and every version in force with entries that no longer validate. */
export async function findTypeBreaks(
  kernel: Capabilities<'transactions' | 'threads'>,
  scope: Scope,
  next: TypeDefinition,
  signal: AbortSignal,
): Promise<TypeBreak[]> {
  const { type_key } = next
  const read: <T>(body: Parameters<typeof kernel.transactions.read<T>>[1]) => Promise<T> = (body) =>
    kernel.transactions.read(scope, body)
  const current = (await read((tx) => findType(tx, type_key))) ?? fail('not_found')
  const old = toTypeDefinition(current)
  const comparison = compareTypes(old, next)
  if (comparison.verdict === 'incompatible') {
    return comparison.changes
      .filter(({ what }) => what === 'key_changed')
      .map(({ pointer, what, detail }) => ({ list_key: null, version: null, pointer, what, detail }))
  }
  if (comparison.verdict !== 'check_entries') return []
  const breaks: TypeBreak[] = []
  for (const { list_key, dataset_id, version } of await read((tx) => listVersionsInForceOfType(tx, type_key))) {
    for await (const rows of readEntries(read, { tenant_id: scope.tenant_id, dataset_id, version })) {
      const entries = rows.map(parseEntry)
      const validated = await kernel.threads
        .get(typeThread)
        .validate(next, entries, { caller: scope.tenant_id, signal })
      for (const { index, faults } of validated.faults) {
        for (const { pointer, code, message } of faults) {
          breaks.push({ list_key, version, pointer, what: code, detail: `${rows[index]?.key}: ${message}` })
          if (breaks.length === MAX_BREAKS) return breaks
        }
      }
    }
  }
  return breaks
}

/** A type that exceeds the limits of its thread is invalid; the server has no fault. */
export function failUnusable(error: unknown): never {
  if (error instanceof TypeUnusable) fail('definition_invalid', { detail: error.message })
  throw error
}
