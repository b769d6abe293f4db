/** Finds alerts by their id, the number shown for them, by the key of their reports and by words of their title. */
import { rankHits, type SearchSource } from '#kernel/search/source.ts'
import { hasMoreTitles, listFoundAlerts } from './queries.ts'

/** The last eight digits of the id, as people see them: "Alert cc4a1df6". */
const getNumber = (text: string): string | null => /^(?:alert )?([0-9a-f]{8})$/.exec(text.toLowerCase())?.[1] ?? null

export const alertSource: SearchSource = {
  kind: 'alert',
  title: 'Alerts',
  operation: 'getAlert',
  find: async ({ tx, terms, count }) => {
    const words = terms.has_words ? terms.text.split(' ') : []
    const [rows, hasMore] = await Promise.all([
      listFoundAlerts(tx, { ...terms, words, number: getNumber(terms.text) }, count + 1),
      words.length > 0 && hasMoreTitles(tx),
    ])
    const hits = rows.map((row) => ({
      id: row.alert_id,
      title: row.title,
      subtitle: `Alert of ${row.priority} priority, ${row.state}${row.subject_name === null ? '' : `, about ${row.subject_name}`}`,
      matched: row.matched,
      restriction_id: row.restriction_id,
    }))
    return { hits: rankHits(hits, count), is_complete: !hasMore }
  },
}
