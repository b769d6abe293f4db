/** Finds jobs by id, and the newest ones by their kind. */
import { type FoundJobRow, listJobsInRange, listNewestJobs } from '#kernel/job/queries.ts'
import { rankHits, type SearchHit, type SearchSource } from '#kernel/search/source.ts'
import { matchName } from '#registry/search/match-name.ts'

/** Jobs that are compared by words; older ones are found by id. */
const NEWEST = 100

const toTitle = (kind: string): string => {
  const words = kind.replaceAll('-', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

const toHit = (job: FoundJobRow, matched: SearchHit['matched']): SearchHit => ({
  id: job.job_id,
  title: toTitle(job.kind),
  subtitle: `Job of ${job.created_at.slice(0, 10)}, ${job.state}`,
  matched,
  restriction_id: job.restriction_id,
})

export const jobSource: SearchSource = {
  kind: 'job',
  title: 'Jobs',
  operation: 'getJob',
  find: async ({ tx, terms: { text, id, has_words }, actor: { roles }, count }) => {
    const [byId, newest] = await Promise.all([
      id ? listJobsInRange(tx, id, roles, count + 1) : [],
      has_words ? listNewestJobs(tx, roles, NEWEST) : [],
    ])
    const byKind = newest.flatMap((job) => {
      const matched = matchName(job.kind, text)
      return matched ? [toHit(job, matched)] : []
    })
    const hits = rankHits([...byId.map((job) => toHit(job, 'id')), ...byKind], count)
    return { hits, is_complete: newest.length < NEWEST }
  },
}
