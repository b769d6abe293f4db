/** Finds decisions by their id, by the id of their receipt, and by the subject they are about. */
import { nothingFound, rankHits, type SearchContext, type SearchHit, type SearchSource } from '#kernel/search/source.ts'
import { subjects } from '#modules/subjects/index.ts'
import {
  type FoundEvaluationRow,
  listEvaluationsByReceipt,
  listEvaluationsInRange,
  listLatestEvaluations,
} from './queries.ts'

const toOutcome = ({ band, hit }: FoundEvaluationRow): string =>
  band === null ? (hit ? 'hit' : 'no hit') : `rated ${band}`

const toHit = (row: FoundEvaluationRow, matched: SearchHit['matched']): SearchHit => ({
  id: row.evaluation_id,
  title: row.subject_name === null ? `Decision ${row.evaluation_id}` : row.subject_name,
  subtitle: `Decision of ${row.decided_at.slice(0, 10)} by ${row.definition_key}, ${toOutcome(row)}`,
  matched,
  restriction_id: null,
})

/** The subjects that the same search finds, best first: the queries are the same and are sent once. */
const findSubjects = async (context: SearchContext) =>
  (await subjects.search?.sources.find(({ kind }) => kind === 'subject')?.find(context)) ?? nothingFound

export const evaluationSource: SearchSource = {
  kind: 'evaluation',
  title: 'Decisions',
  operation: 'getEvaluation',
  find: async (context) => {
    const { tx, terms, count } = context
    const [byId, byReceipt, found] = await Promise.all([
      terms.id ? listEvaluationsInRange(tx, terms.id, count + 1) : [],
      terms.id ? listEvaluationsByReceipt(tx, terms.id, count + 1) : [],
      findSubjects(context),
    ])
    const matchByTitle = new Map(found.hits.map(({ title, matched }) => [title, matched]))
    const bySubject =
      found.hits.length === 0
        ? []
        : await listLatestEvaluations(
            tx,
            found.hits.map(({ id }) => id),
            found.hits.length === 1 ? count + 1 : 1,
          )
    const hits = [
      ...byId.map((row) => toHit(row, 'id')),
      ...byReceipt.map((row) => toHit(row, 'key')),
      ...bySubject.map((row) => toHit(row, matchByTitle.get(row.subject_name ?? '') ?? 'words')),
    ]
    return { hits: rankHits(hits, count), is_complete: found.is_complete }
  },
}
