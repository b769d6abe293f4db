/** The encrypted parts of a report: its snapshot and files, under the key of the subject or of the report. */
import type { Tx } from '#kernel/database/tx.ts'
import { packBytes, toCopyOwner, unpackBytes } from '#kernel/encryption/copies.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import type { ReportPart } from './model.ts'
import { findPart, insertPart } from './queries.ts'
import type { Snapshot } from './snapshot.ts'

interface ReportKey {
  readonly report_id: string
  readonly subject_id: string | null
}

const toPlace = ({ report_id, subject_id }: ReportKey, part: ReportPart) => ({
  owner: toCopyOwner(subject_id, report_id),
  at: { table: 'report_part', row_id: `${report_id}/${part}`, column: 'content' },
})

/** Fails with `erased` where the subject was erased. */
export async function storePart(
  { encryption }: Capabilities<'encryption'>,
  tx: Tx,
  report: ReportKey,
  { part, bytes }: { readonly part: ReportPart; readonly bytes: Buffer },
): Promise<void> {
  const { owner, at } = toPlace(report, part)
  await insertPart(tx, report.report_id, part, await encryption.encrypt(tx, owner, at, packBytes(bytes)))
}

/** Undefined where there is no such part. */
export async function readPart(
  { encryption }: Capabilities<'encryption'>,
  tx: Tx,
  report: ReportKey,
  part: ReportPart,
): Promise<Buffer | undefined> {
  const stored = await findPart(tx, report.report_id, part)
  if (!stored) return undefined
  const { owner, at } = toPlace(report, part)
  return unpackBytes(await encryption.decrypt(tx, owner, at, stored))
}

export async function readSnapshot(kernel: Capabilities<'encryption'>, tx: Tx, report: ReportKey) {
  const bytes = (await readPart(kernel, tx, report, 'snapshot')) ?? fail('content_corrupt')
  return { bytes, snapshot: JSON.parse(bytes.toString('utf8')) as Snapshot }
}
