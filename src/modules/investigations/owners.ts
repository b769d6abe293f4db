/** What other modules attach to an investigation: evidence and legal holds. */
import type { EvidenceOwner, HoldableKind } from '#kernel/module.ts'
import { fail } from '#kernel/problem.ts'
import { endFirstAction } from './lifecycle/first-act.ts'
import { INVESTIGATION } from './model.ts'
import { findRestrictionOfCase } from './queries.ts'

export const evidenceOwner: EvidenceOwner = {
  kind: INVESTIGATION,
  find: async (tx, investigation_id) => {
    const found = await findRestrictionOfCase(tx, investigation_id)
    if (found?.state === 'proposed') fail('conflict', 'An outcome is proposed; return it first.')
    if (found && found.state !== 'open') fail('conflict', `The investigation is ${found.state}.`)
    return found
  },
  noteChange: endFirstAction,
}

/** Nothing of a case is ever deleted; a hold keeps what an erasure of its subject would overwrite. */
export const holdableInvestigation: HoldableKind = {
  kind: INVESTIGATION,
  find: findRestrictionOfCase,
  rows: {},
}
