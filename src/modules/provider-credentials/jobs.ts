/** Destroys the values of retired versions after their overlap, once an hour. */
import { defineJob } from '#kernel/job/define-job.ts'
import { closed } from '#kernel/schema.ts'
import { destroySecrets, removeTokens } from './queries.ts'

export const credentialCleanupJob = defineJob({
  kind: 'credential-cleanup',
  every_s: 3600,
  summary: 'Destroys the values of retired credential versions whose overlap has ended.',
  payload: closed({}),
  resumes: 'restart',
  visible_to: ['tenant_admin', 'auditor'],
  run: async ({ finish }) => {
    await finish(async (tx) => {
      const destroyed = await destroySecrets(tx, null)
      await removeTokens(tx, destroyed)
      return { destroyed: destroyed.length }
    })
    return null
  },
})
