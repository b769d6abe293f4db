/** The job that follows a long version: builds its search index and its difference summary. */
import type { Tx } from '#kernel/database/tx.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import { closed, Id } from '#kernel/schema.ts'
import { registrySchemas, versionStore } from '#modules/definitions/index.ts'

import { indexVersion, needsIndex } from './index-version.ts'

const REPORT_EVERY_MS = 500

export const datasetIndexJob = defineJob({
  kind: 'dataset-index',
  summary: 'Indexes the entries of a new version for search and counts the fields it changed.',
  payload: closed({ dataset_id: Id(), version: registrySchemas.VersionNumber }),
  // Each part is committed when it is built, so a retry continues after it.
  resumes: 'restart',
  run: async ({ payload, tenant_id, read, write, step, signal }) => {
    const list = { tenant_id, dataset_id: payload.dataset_id }
    const version = await read((tx) => versionStore.findVersion(tx, list, payload.version))
    if (!version) throw new Problem('not_found')
    let done = 0
    let reported_ms = 0
    const onBatch = async (entries: number) => {
      signal.throwIfAborted()
      done += entries
      if (Date.now() - reported_ms < REPORT_EVERY_MS) return
      reported_ms = Date.now()
      await step(async () => ({ progress: { done, total: Math.max(done, version.entry_count), unit: 'entries' } }))
    }
    await indexVersion({ read, write, onBatch }, version)
    return { indexed_entries: done }
  },
})

/** Enqueued in the publishing transaction. Short lists are searched and compared without an index. */
export async function enqueueIndex(
  kernel: Capabilities<'jobs'>,
  tx: Tx,
  version: Pick<versionStore.VersionRow, 'dataset_id' | 'version' | 'entry_count'>,
  list_key: string,
): Promise<void> {
  if (!needsIndex(version)) return
  await kernel.jobs.enqueue(tx, {
    kind: 'dataset-index',
    payload: { dataset_id: version.dataset_id, version: version.version },
    resource: `/api/reference-data/datasets/${list_key}/versions/${version.version}`,
    unit: 'entries',
  })
}
