/** Reads what belongs to a case, once for its guards and its view. */

import type { AuditNotes } from '#kernel/audit/record.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { assertFound } from '#kernel/problem.ts'
import { countCase, type InvestigationRow, listSteps } from '../queries.ts'
import { listTasks } from '../tasks/queries.ts'
import type { CaseContent } from './guards.ts'

/** 404 where it does not exist or is hidden; the event of the request carries its restriction. */
export function assertCase(row: InvestigationRow | undefined, audit: Pick<AuditNotes, 'belongsTo'>): InvestigationRow {
  const investigation = assertFound(row)
  audit.belongsTo(investigation)
  return investigation
}

export async function readContent(tx: Tx, { investigation_id, restriction_id }: InvestigationRow) {
  const steps = await listSteps(tx, investigation_id)
  const tasks = await listTasks(tx, investigation_id)
  const counts = await countCase(tx, investigation_id, restriction_id)
  const content: CaseContent = {
    steps,
    tasks,
    narrative:
      counts.narrative_version === 0
        ? [{ code: 'narrative_missing', pointer: '#/narrative', detail: 'The investigation has no narrative.' }]
        : [],
    requests_open: counts.information_requests_open,
  }
  return { content, counts }
}
