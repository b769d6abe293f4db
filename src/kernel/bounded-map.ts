/**
 * A map that drops its oldest entry when it is full, for values that can be made again and need no metrics, such as compiled
 * formats. What reads the database is a declared cache instead, see cache/caches.ts.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #max: number

  constructor(max: number) {
    super()
    this.#max = max
  }

  override set(key: K, value: V): this {
    if (this.size >= this.#max && !this.has(key)) {
      const [oldest] = this.keys()
      this.delete(oldest as K)
    }
    return super.set(key, value)
  }
}
