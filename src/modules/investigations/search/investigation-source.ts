/** Finds investigations by their id and reference, by words of their title, and by the subject they are about. */
import { nothingFound, rankHits, type SearchContext, type SearchHit, type SearchSource } from '#kernel/search/source.ts'
import { subjects } from '#modules/subjects/index.ts'
import { INVESTIGATION } from '../model.ts'
import {
  type FoundInvestigation,
  hasMoreTitles,
  listFoundInvestigations,
  listInvestigationsOfSubjects,
} from './queries.ts'

const toHit = (row: FoundInvestigation, matched: SearchHit['matched']): SearchHit => ({
  id: row.investigation_id,
  title: `${row.reference} ${row.title}`,
  subtitle: `Investigation, ${row.state}, about ${row.subject_name}`,
  matched,
  restriction_id: row.restriction_id,
})

/** The subjects that the same search finds, best first: the queries are the same and are sent once. */
const findSubjects = async (context: SearchContext) =>
  (await subjects.search?.sources.find(({ kind }) => kind === 'subject')?.find(context)) ?? nothingFound

export const investigationSource: SearchSource = {
  kind: INVESTIGATION,
  title: 'Investigations',
  operation: 'getInvestigation',
  find: async (context) => {
    const { tx, terms, count } = context
    const words = terms.has_words ? terms.text.split(' ') : []
    const [rows, hasMore, found] = await Promise.all([
      listFoundInvestigations(tx, { ...terms, words }, count + 1),
      words.length > 0 && hasMoreTitles(tx),
      findSubjects(context),
    ])
    const matchedOf = new Map(found.hits.map(({ id, matched }) => [id, matched]))
    const ids = [...matchedOf.keys()]
    const ofSubjects = ids.length === 0 ? [] : await listInvestigationsOfSubjects(tx, ids, count + 1)
    const hits = [
      ...rows.map((row) => toHit(row, row.matched)),
      ...ofSubjects.map((row) => toHit(row, matchedOf.get(row.subject_id) ?? 'words')),
    ]
    return { hits: rankHits(hits, count), is_complete: found.is_complete && !hasMore }
  },
}
