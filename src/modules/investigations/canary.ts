/** One row in each table of investigations, for the isolation canary. */
import type { Tx } from '#kernel/database/tx.ts'
import { assertFound } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { raiseAlert } from '#modules/alerts/index.ts'
import { leaveErasure, updateCase } from './lifecycle/queries.ts'
import { createReference } from './model.ts'
import { insertNarrative } from './narrative/queries.ts'
import { addSubject, insertInvestigation, insertSteps } from './opening/queries.ts'
import { findInvestigation, findSubjectNamed, insertCaseAlert, insertEvent, insertNote } from './queries.ts'
import { insertSeal } from './seal/queries.ts'
import { insertRequest, insertTask } from './tasks/queries.ts'

const CANARY_HASH = 'ca'.repeat(32)

async function insertCanaryCase(tx: Tx, subject_id: string): Promise<string> {
  const investigation_id = uuidv7()
  await insertInvestigation(tx, {
    investigation_id,
    reference: createReference(),
    subject_id,
    // Each its own: a second canary would join the first.
    playbook: { key: `canary-${investigation_id}`, origin: 'own', version: 1, content_hash: CANARY_HASH },
    title: 'canary',
    priority: 'low',
    origin: 'request',
    origin_reference: 'canary',
    restriction_id: uuidv7(),
    is_own_restriction: true,
  })
  return investigation_id
}

/** What a merged case is hidden with is written when it is merged. */
async function mergeCanaryCase(tx: Tx, subject_id: string, into: string): Promise<void> {
  const merged = await insertCanaryCase(tx, subject_id)
  await leaveErasure(tx)
  const row = assertFound(await findInvestigation(tx, merged))
  await updateCase(tx, merged, { ...row, state: 'merged', merged_into: into })
}

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const subject = await findSubjectNamed(tx, 'canary')
  if (!subject) throw new Error('the canary has no subject')
  const { subject_id } = subject
  const investigation_id = await insertCanaryCase(tx, subject_id)
  await mergeCanaryCase(tx, subject_id, investigation_id)
  await addSubject(tx, investigation_id, subject_id, 'primary')
  const step = { step_key: 'canary', kind: 'canary', is_required: false, needs: [], definition: { canary: 'canary' } }
  await insertSteps(tx, investigation_id, [{ ...step, origin: 'playbook' }])
  await insertEvent(tx, {
    event_id: uuidv7(),
    investigation_id,
    kind: 'canary',
    category: 'system',
    revision: null,
    data: {},
  })
  await insertNote(tx, { note_id: uuidv7(), investigation_id, revision: null, content: Buffer.from('canary') })
  await insertTask(tx, {
    task_id: uuidv7(),
    investigation_id,
    step_key: null,
    title: 'canary',
    detail: null,
    checklist: [],
    role: 'analyst',
    is_required: false,
    due_at: null,
  })
  const request_id = uuidv7()
  await insertRequest(tx, { request_id, investigation_id, addressee: 'canary', question: 'canary', due_at: null })
  const content = Buffer.from('canary')
  await insertNarrative(tx, investigation_id, { version: 1, content, content_hash: CANARY_HASH, paragraphs: 0 })
  const { alert_id } = await raiseAlert(null, tx, {
    source: 'rule',
    rule_code: 'canary',
    dedup_key: `investigation canary ${investigation_id}`,
    title: 'canary',
    facts: {},
    explanation: { sentence: 'canary', fields: [], references: [] },
    priority: 'low',
    reference: 'canary',
  })
  if (alert_id !== null) await insertCaseAlert(tx, investigation_id, alert_id)
  await insertSeal(tx, investigation_id, {
    seal_no: 1,
    manifest: { canary: 'canary' },
    manifest_hash: CANARY_HASH,
    key_id: 'canary',
    signature: 'canary',
    content,
  })
}
