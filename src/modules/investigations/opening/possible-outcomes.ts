/** Whether a case could ever end: an outcome for the subject, all of whose steps can be done. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertReferenced, fail } from '#kernel/problem.ts'
import { findApplicable, type playbookModel, type SubjectContent } from '#modules/playbooks/index.ts'
import { findSubject } from '#modules/subjects/index.ts'

/** Codes, as far as facts of the subject decide it. `without`: keys of steps that will not be done. */
export async function listPossibleOutcomes(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { content }: Pick<playbookModel.LoadedPlaybook, 'content'>,
  { subject, without = [] }: { readonly subject: SubjectContent; readonly without?: readonly string[] },
): Promise<string[]> {
  const { outcomes, steps } = await findApplicable(kernel, tx, content, subject)
  return content.outcomes
    .filter(({ code, needs }) => outcomes.has(code) && needs.every((key) => steps.has(key) && !without.includes(key)))
    .map(({ code }) => code)
}

/** 409: nobody could ever close the case. */
export async function expectOutcome(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  playbook: playbookModel.LoadedPlaybook,
  subject_id: string,
): Promise<void> {
  const subject = assertReferenced(await findSubject(tx, subject_id), 'subject with this id')
  if ((await listPossibleOutcomes(kernel, tx, playbook, { subject })).length === 0)
    fail(
      'conflict',
      `No outcome of the playbook ${playbook.key} applies to this subject: the case could never be closed.`,
    )
}
