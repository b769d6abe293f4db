/** The job that counts the differing fields of two versions. */
import { defineJob } from '#kernel/job/define-job.ts'
import { closed, Id } from '#kernel/schema.ts'
import { VersionNumber } from '../schema.ts'
import { sumDifferences } from './queries.ts'
import { storeSummary } from './summary.ts'

export const differenceSummaryJob = defineJob({
  kind: 'difference-summary',
  summary: 'Counts what differs between two versions of a list, by kind and by field.',
  payload: closed({ tenant_id: Id(), dataset_id: Id(), from: VersionNumber, to: VersionNumber }),
  resumes: 'restart',
  run: async ({ payload, read, write, step, signal }) => {
    const range = { from: payload.from, to: payload.to }
    const total = await read((tx) => sumDifferences(tx, payload, range))
    let done = 0
    const onBatch = async (keys: number) => {
      signal.throwIfAborted()
      done += keys
      await step(async () => ({ progress: { done, total, unit: 'keys' } }))
    }
    const { added, removed, changed } = await storeSummary({ read, write, onBatch }, payload, range)
    return { added, removed, changed }
  },
})
