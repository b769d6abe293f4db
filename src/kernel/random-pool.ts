/** Random bytes in bulk: one call to the random source serves many values, since a batch needs thousands per second. */
import { randomFillSync } from 'node:crypto'

/** The function returns the next unused bytes, as a view that is overwritten when the pool is filled again: use them at once. */
export function createRandomPool(size: number, count: number): () => Buffer {
  const pool = Buffer.alloc(size * count)
  let next = pool.length
  return () => {
    if (next === pool.length) {
      randomFillSync(pool)
      next = 0
    }
    next += size
    return pool.subarray(next - size, next)
  }
}
