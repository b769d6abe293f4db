/** The work that an investigation gives people. */
import type { WorkKind } from '#kernel/work-kind.ts'
import { INVESTIGATION } from './model.ts'
import { listTitles } from './queries.ts'

export const workKinds: readonly WorkKind[] = [
  {
    kind: INVESTIGATION,
    title: 'Investigations',
    operation: 'getInvestigation',
    roles: ['analyst', 'compliance_officer'],
    describe: async (tx, ids) => new Map((await listTitles(tx, ids)).map(({ id, title }) => [id, title])),
  },
]
