/** Jobs of the audit router: verify the chain, and export it. */
import type { ChainVerification } from '#kernel/audit/chain-verifier.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { closed, Id, nullable, Timestamp, Type } from '#kernel/schema.ts'
import { completeBytes, writeBytes } from '#modules/system/index.ts'
import { exportChainLines, verifyChain } from './chain-reader.ts'
import { countLinks, findRange, insertRun, updateRunReport } from './queries.ts'

const readers = ['compliance_officer', 'auditor'] as const

export const AUDIT_VERIFICATION = 'audit-verification'

export const auditVerificationJob = defineJob({
  kind: AUDIT_VERIFICATION,
  // Runs by schedule too: tampering must be noticed even when nobody asks.
  every_s: 86_400,
  summary: 'Recomputes the audit chain of the tenant.',
  // A request has created the row for its report already; a scheduled run creates one when it ends.
  payload: closed({ run_id: Type.Optional(Id()) }),
  resumes: 'restart',
  uses: ['auditKeys', 'raiseAlarm'],
  visible_to: readers,
  sees: 'all',
  run: async ({ payload, job_id, tenant_id, read, step, finish, kernel }) => {
    const run_id = payload.run_id ?? job_id
    const report = await read(async (tx) => {
      const total = await countLinks(tx)
      return verifyChain(tx, kernel.auditKeys, (done) =>
        step(async () => ({ progress: { done, total, unit: 'events' } })),
      )
    })
    if (!report.intact) raiseBrokenAlarm(kernel, { tenant_id, run_id }, report)
    await finish(async (tx) => {
      if (!payload.run_id) await insertRun(tx, { run_id, kind: 'verification', job_id, parameters: {} })
      await updateRunReport(tx, run_id, { report, upload_id: null, restriction_ids: new Set() })
      return { intact: report.intact, events: report.events, faults: report.faults_total }
    })
    return null
  },
})

/** A broken chain is logged too: whoever altered it may be the only reader of the report. */
function raiseBrokenAlarm(
  kernel: Capabilities<'raiseAlarm'>,
  of: { tenant_id: string; run_id: string },
  report: ChainVerification,
): void {
  const { faults, faults_total } = report
  kernel.raiseAlarm('audit_broken', { ...of, faults_total, first: faults[0] }, 'the audit record is broken')
}

export const auditExportJob = defineJob({
  kind: 'audit-export',
  summary: 'Writes a range of the audit chain with its proofs to a file.',
  payload: closed({ run_id: Id(), from_at: nullable(Timestamp()), until_at: nullable(Timestamp()) }),
  resumes: 'restart',
  uses: ['auditKeys'],
  visible_to: readers,
  sees: 'requester',
  run: async ({ payload, read, write, finish, kernel }) => {
    const restriction_ids = new Set<string>()
    const { written, events } = await read(async (tx) => {
      const found = await findRange(tx, payload.from_at, payload.until_at)
      // An empty range gives a file with a signed last line only.
      const range = { first: found?.first ?? 1, last: found?.last ?? 0 }
      const lines = exportChainLines(tx, kernel.auditKeys, range, (id) => restriction_ids.add(id))
      const bytes = await writeBytes(write, lines, `audit-${payload.run_id}.ndjson`)
      return { written: bytes, events: Math.max(0, range.last - range.first + 1) }
    })
    await finish(async (tx) => {
      await completeBytes(tx, written)
      const { size_bytes, sha256, upload_id } = written
      await updateRunReport(tx, payload.run_id, { report: { events, size_bytes, sha256 }, upload_id, restriction_ids })
      return { events, size_bytes, sha256 }
    })
    return null
  },
})
