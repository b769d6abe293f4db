/** What a legal hold on a report keeps. */
import type { HoldableKind } from '#kernel/module.ts'
import { findReportRestriction } from './queries.ts'

export const holdableReport: HoldableKind = {
  kind: 'report',
  find: async (tx, report_id) => {
    const found = await findReportRestriction(tx, report_id)
    return found && { restriction_id: found.restriction_id }
  },
  rows: { report_part: 'report_id', owner_key: 'owner_id' },
}
