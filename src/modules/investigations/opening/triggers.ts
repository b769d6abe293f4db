/** Which alerts are investigated by which playbook, and which of them without a person: the list `investigation-triggers`. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Escalate } from '#kernel/escalation.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertReferenced, fail } from '#kernel/problem.ts'
import { resolver } from '#modules/definitions/index.ts'
import { loadPlaybook } from '#modules/playbooks/index.ts'
import { findSubject } from '#modules/subjects/index.ts'
import { addNote } from '../case-notes.ts'
import { insertCaseAlert } from '../queries.ts'
import { openInvestigation } from './open-investigation.ts'

export const TRIGGERS = 'investigation-triggers'

export interface InvestigationTrigger {
  readonly code: string
  /** Code of an entry of `alert-rules`; `*`: every one without an entry of its own. */
  readonly alert_rule: string
  readonly subject_type: string
  readonly playbook: string
  /** True: as soon as the alert is raised. */
  readonly is_automatic: boolean
}

export const loadTriggers = async (kernel: Capabilities<'caches'>, tx: Tx): Promise<readonly InvestigationTrigger[]> =>
  (await resolver.loadPolicyList<InvestigationTrigger>(kernel, tx, TRIGGERS))?.entries ?? []

/** The most specific entry: by rule first, then by type of subject. */
export function chooseTrigger(
  triggers: readonly InvestigationTrigger[],
  { rule_code, subject_type }: { readonly rule_code: string | null; readonly subject_type: string },
): InvestigationTrigger | undefined {
  const find = (rule: string | null, type: string) =>
    triggers.find((each) => each.alert_rule === rule && each.subject_type === type)
  return find(rule_code, subject_type) ?? find(rule_code, '*') ?? find('*', subject_type) ?? find('*', '*')
}

/** A case that is opened so takes the restriction of the alert: imposing it hides both. */
export const escalates: Escalate = async (kernel, tx, alert, { playbook_key, origin, note }) => {
  const { alert_id, title, subject_id, rule_code, priority, restriction_id, is_in_force } = alert
  if (subject_id === null) {
    if (playbook_key !== null) fail('conflict', 'The alert has no subject that could be investigated.')
    return null
  }
  const subject = assertReferenced(await findSubject(tx, subject_id), 'subject of the alert')
  if (subject.erased_at !== null)
    fail(
      'erased',
      'The subject of the alert was erased: no case can be opened about it. The alert can still be dismissed.',
    )
  const { subject_type } = subject
  const chosen = playbook_key ?? chooseTrigger(await loadTriggers(kernel, tx), { rule_code, subject_type })?.playbook
  if (chosen === undefined) return null
  const playbook = await loadPlaybook(kernel, tx, chosen)
  if (!playbook.content.subject_types.includes(subject_type))
    fail('conflict', `The playbook ${chosen} is not for subjects of the type ${subject_type}.`)
  const opened = await openInvestigation(kernel, tx, {
    subject,
    playbook,
    title,
    priority,
    origin,
    origin_reference: `alert:${alert_id}`,
    restriction: { restriction_id, is_in_force },
  })
  const { investigation_id } = opened
  await insertCaseAlert(tx, investigation_id, alert_id)
  // In a case that was joined it would stay readable after the alert is restricted; the history of the alert has it.
  if (note !== null && !opened.joined) await addNote(kernel, tx, { investigation_id, subject_id }, { text: note })
  return opened
}
