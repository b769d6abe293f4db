/** Finds alerts by their id and by the key of their reports. */
import { rankHits, type SearchSource } from '#kernel/search/source.ts'
import { listFoundAlerts } from './queries.ts'

export const alertSource: SearchSource = {
  kind: 'alert',
  title: 'Alerts',
  operation: 'getAlert',
  find: async ({ tx, terms, count }) => {
    const rows = await listFoundAlerts(tx, terms, count + 1)
    const hits = rows.map((row) => ({
      id: row.alert_id,
      title: row.title,
      subtitle: `Alert of ${row.priority} priority, ${row.state}${row.subject_name === null ? '' : `, about ${row.subject_name}`}`,
      matched: row.by_id ? ('id' as const) : ('key' as const),
    }))
    return { hits: rankHits(hits, count), is_complete: true }
  },
}
