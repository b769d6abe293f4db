/** Declared caches: bounds, counters, metrics, and a kernel without them. */
import { describe, expect, test } from 'vitest'
import { Metrics } from '../metrics.ts'
import { addCacheMetrics } from './cache-metrics.ts'
import { CacheSlots, CountingCache, declareCache, withoutCaches } from './caches.ts'

const small = declareCache<{ n: number }>({ name: 'test_small', summary: 'Test.', bound: { max_entries: 2 } })
const bytes = declareCache<{ size: number }>({
  name: 'test_bytes',
  summary: 'Test.',
  bound: { max_bytes: 100, sizeOf: ({ size }) => size },
})
const find = (caches: CacheSlots, name: string) => caches.listStatistics().find((each) => each.name === name)

describe('a declared cache', () => {
  test('exists once per kernel and not in another kernel', () => {
    const [one, other] = [new CacheSlots(), new CacheSlots()]
    one.get(small).set('a', { n: 1 })
    expect(one.get(small).get('a')).toEqual({ n: 1 })
    expect(other.get(small).get('a')).toBeUndefined()
  })

  test('counts hits and misses', () => {
    const caches = new CacheSlots()
    const cache = caches.get(small)
    cache.get('a')
    cache.set('a', { n: 1 })
    cache.get('a')
    cache.get('a')
    expect(find(caches, 'test_small')).toMatchObject({ hits: 2, misses: 1, evictions: 0, entries: 1, bytes: undefined })
  })

  test('evicts the least recently used entry at its maximum number of entries', () => {
    const caches = new CacheSlots()
    const cache = caches.get(small)
    for (const [n, key] of ['a', 'b'].entries()) cache.set(key, { n })
    cache.get('a')
    cache.set('c', { n: 3 })
    expect(['a', 'b', 'c'].map((key) => cache.get(key) !== undefined)).toEqual([true, false, true])
    expect(find(caches, 'test_small')).toMatchObject({ entries: 2, evictions: 1 })
  })

  test('evicts at its maximum number of bytes', () => {
    const caches = new CacheSlots()
    const cache = caches.get(bytes)
    cache.set('a', { size: 60 })
    cache.set('b', { size: 40 })
    expect(find(caches, 'test_bytes')).toMatchObject({ entries: 2, bytes: 100, evictions: 0 })
    cache.set('c', { size: 1 })
    expect(find(caches, 'test_bytes')).toMatchObject({ entries: 2, bytes: 41, evictions: 1 })
  })

  test('does not count a replaced or deleted entry as an eviction', () => {
    const caches = new CacheSlots()
    const cache = caches.get(small)
    cache.set('a', { n: 1 })
    cache.set('a', { n: 2 })
    cache.delete('a')
    expect(cache.get('a')).toBeUndefined()
    expect(find(caches, 'test_small')).toMatchObject({ entries: 0, evictions: 0 })
  })

  test('drops an entry after its time to live', async () => {
    const cache = new CountingCache(small)
    cache.set('a', { n: 1 }, { ttl_ms: 1 })
    cache.set('b', { n: 2 })
    await expect.poll(() => cache.get('a')).toBeUndefined()
    expect(cache.get('b')).toEqual({ n: 2 })
  })

  test('has a name of its own', () => {
    expect(() => declareCache({ name: 'test_small', summary: 'Again.', bound: { max_entries: 1 } })).toThrow(
      'two caches are named test_small',
    )
  })
})

test('withoutCaches gives a kernel that neither returns nor stores a value, and leaves the other as it is', () => {
  const kernel = { caches: new CacheSlots(), name: 'kernel' }
  kernel.caches.get(small).set('a', { n: 1 })
  const bare = withoutCaches(kernel)
  expect(bare.name).toBe('kernel')
  expect(bare.caches.get(small).get('a')).toBeUndefined()
  bare.caches.get(small).set('b', { n: 2 })
  bare.caches.get(small).delete('a')
  expect(kernel.caches.get(small).get('a')).toEqual({ n: 1 })
  expect(kernel.caches.get(small).get('b')).toBeUndefined()
})

test('metrics name every declared cache, also before it is used', async () => {
  const metrics = new Metrics()
  const caches = new CacheSlots()
  addCacheMetrics(metrics, caches)
  const scrape = async () =>
    (await metrics.registry.metrics()).split('\n').filter((line) => /^probity_cache_/.test(line))
  expect(await scrape()).toContain('probity_cache_hits_total{cache="test_small"} 0')
  const cache = caches.get(small)
  for (const key of ['a', 'b', 'c']) cache.set(key, { n: 1 })
  cache.get('c')
  cache.get('a')
  caches.get(bytes).set('a', { size: 7 })
  expect(await scrape()).toEqual(
    expect.arrayContaining([
      'probity_cache_hits_total{cache="test_small"} 1',
      'probity_cache_misses_total{cache="test_small"} 1',
      'probity_cache_evictions_total{cache="test_small"} 1',
      'probity_cache_entries{cache="test_small"} 2',
      'probity_cache_bytes{cache="test_bytes"} 7',
    ]),
  )
  expect(await scrape()).not.toContain('probity_cache_bytes{cache="test_small"} 0')
})
