/** The work that an investigation gives people. */
import type { WorkKind } from '#kernel/work-kind.ts'
import { caseWorkers, INVESTIGATION } from './model.ts'
import { listTitles } from './queries.ts'

export const workKinds: readonly WorkKind[] = [
  {
    kind: INVESTIGATION,
    title: 'Investigations',
    operation: 'getInvestigation',
    roles: caseWorkers,
    describe: async (tx, ids) => new Map((await listTitles(tx, ids)).map(({ id, title }) => [id, title])),
  },
]
