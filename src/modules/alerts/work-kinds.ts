/** Kinds of work that alerts give people. */
import type { WorkKind } from '#kernel/work-kind.ts'
import { alertWorkers } from './model.ts'
import { listAlertTitles } from './queries.ts'
import { listLookTitles } from './second-looks/queries.ts'
import { recordReassignment } from './work/acts.ts'

const toLines = (rows: readonly { readonly id: string; readonly title: string }[]): ReadonlyMap<string, string> =>
  new Map(rows.map(({ id, title }) => [id, title]))

export const workKinds: readonly WorkKind[] = [
  {
    kind: 'alert',
    title: 'Alerts',
    operation: 'getAlert',
    roles: alertWorkers,
    recordReassignment,
    describe: async (tx, ids) => toLines(await listAlertTitles(tx, ids)),
  },
  {
    kind: 'second_look',
    title: 'Second looks',
    operation: 'getAlertSecondLook',
    roles: ['compliance_officer'],
    describe: async (tx, ids) => toLines(await listLookTitles(tx, ids)),
  },
]
