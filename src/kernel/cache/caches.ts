/**
 * Caches are declared by name and bound, and exist once per kernel, in its `caches`. Each counts its hits, misses and evictions.
 * A cached value can always be computed again, so a caller must be correct when `get` returns nothing.
 */
import { LRUCache } from 'lru-cache'

interface CacheOptions<V> {
  /** Label of its metrics: snake_case, unique. */
  readonly name: string
  /** What an entry is, for the operator who reads its metrics. */
  readonly summary: string
  readonly bound:
    | { readonly max_entries: number }
    | { readonly max_bytes: number; readonly sizeOf: (value: V) => number }
}

export interface CacheDeclaration<V> extends CacheOptions<V> {
  /** Position in the slots of every kernel, so that a look-up is an array access. */
  readonly slot: number
}

/** Keys and values of one declaration. `undefined` is never a value. */
export interface Cache<V> {
  get(key: string): V | undefined
  set(key: string, value: V, options?: { readonly ttl_ms?: number }): void
  delete(key: string): void
}

export interface CacheStatistics {
  readonly name: string
  readonly entries: number
  /** Undefined for a cache that is bounded by its number of entries. */
  readonly bytes: number | undefined
  readonly hits: number
  readonly misses: number
  readonly evictions: number
}

const declarations: CacheDeclaration<never>[] = []

/** Called once per cache, when the file that uses it is loaded. */
export function declareCache<V extends object>(options: CacheOptions<V>): CacheDeclaration<V> {
  if (declarations.some(({ name }) => name === options.name)) throw new Error(`two caches are named ${options.name}`)
  const declaration: CacheDeclaration<V> = { ...options, slot: declarations.length }
  declarations.push(declaration as unknown as CacheDeclaration<never>)
  return declaration
}

export const listCacheDeclarations = (): readonly CacheDeclaration<never>[] => declarations

/** An LRU cache that counts. */
export class CountingCache<V extends object> implements Cache<V> {
  readonly #entries: LRUCache<string, V>
  readonly #name: string
  #hits = 0
  #misses = 0
  #evictions = 0

  constructor({ name, bound }: CacheOptions<V>) {
    this.#name = name
    const dispose = (_value: V, _key: string, reason: LRUCache.DisposeReason): void => {
      if (reason === 'evict') this.#evictions++
    }
    this.#entries =
      'max_entries' in bound
        ? new LRUCache({ max: bound.max_entries, dispose })
        : new LRUCache({ maxSize: bound.max_bytes, sizeCalculation: bound.sizeOf, dispose })
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined) this.#misses++
    else this.#hits++
    return value
  }

  set(key: string, value: V, options?: { readonly ttl_ms?: number }): void {
    if (options?.ttl_ms === undefined) this.#entries.set(key, value)
    else this.#entries.set(key, value, { ttl: options.ttl_ms })
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  get statistics(): CacheStatistics {
    return {
      name: this.#name,
      entries: this.#entries.size,
      bytes: this.#entries.maxSize > 0 ? this.#entries.calculatedSize : undefined,
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
    }
  }
}

/** Returns nothing and stores nothing. */
const noCache: Cache<never> = { get: () => undefined, set: () => {}, delete: () => {} }

/** The caches of one kernel. */
export interface Caches {
  get<V extends object>(declaration: CacheDeclaration<V>): Cache<V>
}

export class CacheSlots implements Caches {
  readonly #slots: CountingCache<object>[] = []

  get<V extends object>(declaration: CacheDeclaration<V>): Cache<V> {
    return (this.#slots[declaration.slot] ?? this.#create(declaration)) as unknown as Cache<V>
  }

  #create<V extends object>(declaration: CacheDeclaration<V>): CountingCache<object> {
    const cache = new CountingCache(declaration) as unknown as CountingCache<object>
    this.#slots[declaration.slot] = cache
    return cache
  }

  /** Of every declared cache, also of those that are not used yet. */
  listStatistics(): CacheStatistics[] {
    return declarations.map((declaration) => (this.#slots[declaration.slot] ?? this.#create(declaration)).statistics)
  }
}

const noCaches: Caches = { get: () => noCache }

/** The same kernel with caches that never return a stored value, for code that must read what the database holds. */
export const withoutCaches = <K extends { readonly caches: Caches }>(kernel: K): K => ({ ...kernel, caches: noCaches })
