/** Housekeeping: once an hour per tenant, removes what its retention policy no longer keeps. */
import { defineJob } from '../../kernel/job/kind.ts'
import { insertRecurring } from '../../kernel/job/recurring.ts'
import { closed } from '../../kernel/schema.ts'
import {
  findRetentionPolicy,
  removeExpiredAnswers,
  removeExpiredRevocations,
  removeExpiredUploads,
  removeOldJobs,
  removeRejectsOf,
} from './queries.ts'

export const HOUSEKEEPING = 'housekeeping'

export const housekeeping = defineJob({
  kind: HOUSEKEEPING,
  every_s: 3600,
  summary: 'Removes expired answers, uploads, revocations, old jobs and the rows they rejected.',
  payload: closed({}),
  resumes: 'restart',
  run: async ({ finish, kernel }) => {
    await finish(async (tx) => {
      // A tenant may be older than work that came with an upgrade.
      await insertRecurring(tx, [...kernel.jobs.kinds.values()])
      const policy = await findRetentionPolicy(tx)
      const keep_days = policy?.classes.find(({ record_class }) => record_class === 'jobs')?.keep_days
      // Without a stated term nothing is removed.
      const old = keep_days ? await removeOldJobs(tx, keep_days) : []
      return {
        answers: await removeExpiredAnswers(tx),
        uploads: await removeExpiredUploads(tx),
        revocations: await removeExpiredRevocations(tx),
        jobs: old.length,
        rejects: await removeRejectsOf(tx, old),
      }
    })
    return null
  },
})
