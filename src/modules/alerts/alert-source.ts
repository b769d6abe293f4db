/** Finds alerts by their id, by the key of their reports and by words of their title. */
import { rankHits, type SearchSource } from '#kernel/search/source.ts'
import { hasMoreTitles, listFoundAlerts } from './queries.ts'

export const alertSource: SearchSource = {
  kind: 'alert',
  title: 'Alerts',
  operation: 'getAlert',
  find: async ({ tx, terms, count }) => {
    const words = terms.has_words ? terms.text.split(' ') : []
    const [rows, hasMore] = await Promise.all([
      listFoundAlerts(tx, { ...terms, words }, count + 1),
      words.length > 0 && hasMoreTitles(tx),
    ])
    const hits = rows.map((row) => ({
      id: row.alert_id,
      title: row.title,
      subtitle: `Alert of ${row.priority} priority, ${row.state}${row.subject_name === null ? '' : `, about ${row.subject_name}`}`,
      matched: row.matched,
    }))
    return { hits: rankHits(hits, count), is_complete: !hasMore }
  },
}
