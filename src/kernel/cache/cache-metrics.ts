/** Size, hits, misses and evictions of every declared cache, labelled by its name. */
import type { Metrics } from '../metrics.ts'
import type { CacheSlots, CacheStatistics } from './caches.ts'

export function addCacheMetrics(metrics: Metrics, caches: CacheSlots): void {
  const labels = ['cache']
  const read = (member: keyof Omit<CacheStatistics, 'name'>) => () =>
    caches
      .listStatistics()
      .flatMap(({ name, [member]: value }) => (value === undefined ? [] : [{ labels: { cache: name }, value }]))
  const hits = { name: 'probity_cache_hits_total', help: 'Look-ups that found a stored value, by cache.', labels }
  const misses = { name: 'probity_cache_misses_total', help: 'Look-ups that found nothing, by cache.', labels }
  const evictions = { name: 'probity_cache_evictions_total', help: 'Values removed to free space, by cache.', labels }
  metrics.addCounters(hits, read('hits'))
  metrics.addCounters(misses, read('misses'))
  metrics.addCounters(evictions, read('evictions'))
  const entries = { name: 'probity_cache_entries', help: 'Values stored, by cache.', labels }
  const bytes = {
    name: 'probity_cache_bytes',
    help: 'Estimated bytes stored, for caches with a bound in bytes.',
    labels,
  }
  const name = <N extends string>(of: N, readings: { labels: Record<string, string>; value: number }[]) =>
    readings.map((reading) => ({ name: of, ...reading }))
  metrics.addGauges([entries, bytes], async () => [
    ...name(entries.name, read('entries')()),
    ...name(bytes.name, read('bytes')()),
  ])
}
