/** Housekeeping: once an hour per tenant, removes what its retention policy no longer keeps. */
import { defineJob } from '../../kernel/job/kind.ts'
import { closed } from '../../kernel/schema.ts'
import { scheduleVerification } from '../audit/index.ts'
import {
  findRetentionPolicy,
  removeExpiredAnswers,
  removeExpiredRevocations,
  removeExpiredUploads,
  removeOldJobs,
  removeRejectsOf,
} from './queries.ts'

export const HOUSEKEEPING = 'housekeeping'
export const HOUSEKEEPING_EVERY_S = 3600

export const housekeeping = defineJob({
  kind: HOUSEKEEPING,
  summary: 'Removes expired answers, uploads, revocations, old jobs and the rows they rejected.',
  payload: closed({}),
  resumes: 'restart',
  run: async ({ finish }) => {
    await finish(async (tx) => {
      // Tenants that were there before their record was verified unasked.
      await scheduleVerification(tx)
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
