/** Reads what belongs to a case, once for its guards and its view. */
import type { AuditNotes } from '#kernel/audit/record.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { listApplying } from '../gathering/left-out-steps.ts'
import { listNarrativeGuards } from '../narrative/narrative.ts'
import { type CaseCounts, countCase, type InvestigationRow, listSteps } from '../queries.ts'
import { isProposalStale } from '../seal/manifest.ts'
import { findHiddenContent } from '../seal/queries.ts'
import { listTasks } from '../tasks/queries.ts'
import type { CaseContent } from './guards.ts'

/** 404 where it does not exist or is hidden; the event of the request carries its restriction. */
export function assertCase(row: InvestigationRow | undefined, audit: Pick<AuditNotes, 'belongsTo'>): InvestigationRow {
  const investigation = assertFound(row)
  // A merged case is hidden by its own restriction with every case that it was merged into.
  audit.belongsTo({ restriction_id: investigation.restriction_id, is_in_force: investigation.is_in_force })
  return investigation
}

/** While an outcome is proposed, nothing is added to what it rests on: whoever closes has seen all of it. */
export function assertOpen({ state }: Pick<InvestigationRow, 'state'>): void {
  if (state === 'proposed') fail('transition_not_allowed', 'An outcome is proposed; return it first.')
  if (state !== 'open') fail('transition_not_allowed', `The investigation is ${state}.`)
}

/** `verified`: the objects of cited evidence are compared with their hashes, which may read many bytes. */
export async function readContent(
  {
    kernel,
    tx,
  }: {
    readonly kernel: Capabilities<'auditKeys' | 'caches' | 'encryption' | 'integrity' | 'modules'>
    readonly tx: Tx
  },
  row: InvestigationRow,
  depth: 'stored' | 'verified',
): Promise<{ readonly content: CaseContent; readonly counts: CaseCounts }> {
  const { investigation_id, restriction_id } = row
  const steps = await listSteps(tx, investigation_id)
  const tasks = await listTasks(tx, investigation_id)
  const counts = await countCase(tx, investigation_id, restriction_id)
  // Only an open case can be proposed, and only a proposed one closed; of an erased subject nothing can be read.
  const isOpen = row.state === 'open' || row.state === 'proposed'
  const narrative = isOpen ? await listNarrativeGuards(kernel, tx, row, depth === 'verified') : []
  const is_hidden = row.state === 'proposed' && (await findHiddenContent(tx, investigation_id))
  // Whoever does not see all of it cannot tell whether it changed.
  const is_stale = !is_hidden && (await isProposalStale(tx, row))
  const applying = isOpen ? (await listApplying(kernel, tx, row, steps)).map(({ step_key }) => step_key) : []
  const { information_requests_open: requests_open } = counts
  return { content: { steps, applying, tasks, narrative, is_hidden, is_stale, requests_open }, counts }
}
