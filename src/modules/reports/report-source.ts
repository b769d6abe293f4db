/** Finds reports by id, and the newest ones by the title of their template. */
import { rankHits, type SearchHit, type SearchSource } from '#kernel/search/source.ts'
import { matchName } from '#registry/search/match-name.ts'
import { listReports, listReportsInRange, type ReportRow } from './queries.ts'

/** Reports that are compared by words; older ones are found by id, or from their subject. */
const NEWEST = 200

const toTitle = ({ template_key }: ReportRow): string => template_key.replaceAll('-', ' ')

const toHit = (report: ReportRow, matched: SearchHit['matched']): SearchHit => ({
  id: report.report_id,
  title: toTitle(report),
  subtitle: `Report of ${report.created_at.slice(0, 10)}, ${report.state}`,
  matched,
  restriction_id: report.restriction_id,
})

export const reportSource: SearchSource = {
  kind: 'report',
  title: 'Reports',
  operation: 'getReport',
  find: async ({ tx, actor, terms: { text, id, has_words }, count }) => {
    const [byId, newest] = await Promise.all([
      id ? listReportsInRange(tx, actor.roles, id, count + 1) : [],
      has_words ? listReports(tx, { roles: actor.roles }, null, NEWEST) : [],
    ])
    const byTitle = newest.flatMap((report) => {
      const matched = matchName(toTitle(report), text)
      return matched ? [toHit(report, matched)] : []
    })
    const hits = rankHits([...byId.map((report) => toHit(report, 'id')), ...byTitle], count)
    return { hits, is_complete: newest.length < NEWEST }
  },
}
