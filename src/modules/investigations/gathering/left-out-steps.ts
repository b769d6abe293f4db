/** Steps that were left out because their condition did not apply: the facts about the subject may have changed since. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { findApplicable, loadPlaybook } from '#modules/playbooks/index.ts'
import { findSubject } from '#modules/subjects/index.ts'
import type { InvestigationRow, StepRow } from '../queries.ts'

/** By its condition; one that could not be asked has a problem. */
export const isLeftOut = ({ state, problem }: StepRow): boolean => state === 'skipped' && problem === null

/** Those of the steps that were left out and apply to the subject as it is now. */
export async function listApplying(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  investigation: Pick<InvestigationRow, 'playbook_key' | 'playbook_origin' | 'playbook_version' | 'subject_id'>,
  steps: readonly StepRow[],
): Promise<StepRow[]> {
  const left_out = steps.filter(isLeftOut)
  if (left_out.length === 0) return []
  const { playbook_key, playbook_origin: origin, playbook_version: version, subject_id } = investigation
  const subject = await findSubject(tx, subject_id)
  if (!subject) return []
  const { content } = await loadPlaybook(kernel, tx, playbook_key, { origin, version })
  const applies = await findApplicable(kernel, tx, content, subject)
  return left_out.filter(({ step_key }) => applies.steps.has(step_key))
}
