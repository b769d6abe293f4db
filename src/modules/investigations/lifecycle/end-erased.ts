/** What an erasure does with the cases of its subject. */
import type { ErasureClass } from '#kernel/erasure/erasure-class.ts'
import { workItems } from '#modules/work/index.ts'
import { toWorkItem } from '../model.ts'
import { caseTexts } from '../queries.ts'
import { endCasesBySubject } from './queries.ts'

/**
 * An open case keeps its subject, so only a replay of the ledger meets one: it was ended after the backup was made, and nobody could end it now.
 */
export const investigationErasure: ErasureClass = {
  ...caseTexts,
  record: 'due-diligence',
  erase: async (tx, subject, record) => {
    for (const { investigation_id } of await endCasesBySubject(tx, subject.subject_id))
      await workItems.completeWork(tx, toWorkItem(investigation_id))
    return caseTexts.erase(tx, subject, record)
  },
}
