/** Finds investigations by their id and reference. */
import { rankHits, type SearchSource } from '#kernel/search/source.ts'
import { INVESTIGATION } from './model.ts'
import { listFoundInvestigations } from './queries.ts'

export const investigationSource: SearchSource = {
  kind: INVESTIGATION,
  title: 'Investigations',
  operation: 'getInvestigation',
  find: async ({ tx, terms, count }) => {
    const rows = await listFoundInvestigations(tx, terms, count + 1)
    const hits = rows.map((row) => ({
      id: row.investigation_id,
      title: `${row.reference} ${row.title}`,
      subtitle: `Investigation, ${row.state}, about ${row.subject_name}`,
      matched: row.by_id ? ('id' as const) : ('key' as const),
    }))
    return { hits: rankHits(hits, count), is_complete: true }
  },
}
