/** Long work on the audit record: recomputing the chain, and writing it out. */
import { defineJob } from '../../kernel/job/kind.ts'
import { closed, Id, nullable, Timestamp } from '../../kernel/schema.ts'
import { storeBytes } from '../system/index.ts'
import { exportLines, verifyChain } from './actions.ts'
import { countLinks, findRange, updateRunReport } from './queries.ts'

const readers = ['compliance_officer', 'auditor'] as const

export const auditVerification = defineJob({
  kind: 'audit-verification',
  summary: 'Recomputes the audit chain of the tenant.',
  payload: closed({ run_id: Id() }),
  resumes: 'restart',
  visible_to: readers,
  run: async ({ payload, read, step, finish, kernel }) => {
    const report = await read(async (tx) => {
      const total = await countLinks(tx)
      return verifyChain(tx, kernel.audit, (done) => step(async () => ({ progress: { done, total, unit: 'events' } })))
    })
    await finish(async (tx) => {
      await updateRunReport(tx, payload.run_id, report, null)
      return { intact: report.intact, events: report.events, faults: report.faults_total }
    })
    return null
  },
})

export const auditExport = defineJob({
  kind: 'audit-export',
  summary: 'Writes a range of the audit chain with its proofs to a file.',
  payload: closed({ run_id: Id(), from_at: nullable(Timestamp()), until_at: nullable(Timestamp()) }),
  resumes: 'restart',
  visible_to: readers,
  run: async ({ payload, read, write, finish, kernel }) => {
    const stored = await read(async (tx) => {
      const range = await findRange(tx, payload.from_at, payload.until_at)
      // An empty range is an answer too: a file that proves nothing happened up to its signed end.
      const bounds = { first: range?.first ?? 1, last: range?.last ?? 0 }
      const lines = exportLines(tx, kernel.audit, bounds)
      return storeBytes({ write }, lines, `audit-${payload.run_id}.ndjson`)
    })
    await finish(async (tx) => {
      const { size_bytes, sha256, summary } = stored
      await updateRunReport(tx, payload.run_id, { ...summary, size_bytes, sha256 }, stored.upload_id)
      return { events: summary.events, size_bytes, sha256 }
    })
    return null
  },
})
