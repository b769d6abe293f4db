/**
 * Public interface of the alerts router. Every source of alerts calls `raiseAlert` in the transaction of what it found; decisions and
 * source contracts have functions of their own that read the list `alert-rules`.
 */
import type { Module } from '#kernel/module.ts'
import { alertSource } from './alert-source.ts'
import { insertCanaryRows } from './canary.ts'
import { alertEvents } from './events.ts'
import { evidenceOwner } from './evidence-owner.ts'
import { alertErasure } from './queries.ts'
import { alertRoutes } from './routes.ts'
import { secondLookRoutes } from './second-looks/routes.ts'
import { suppressionRoutes } from './suppressions/routes.ts'
import { bulkRoutes } from './work/bulk-routes.ts'
import { bulkJob } from './work/jobs.ts'
import { workRoutes } from './work/routes.ts'
import { wakeScan } from './work/wake-scan.ts'
import { workKinds } from './work-kinds.ts'

export { type Priority, priorities } from './model.ts'
export { countOpenAlerts } from './queries.ts'
export { raiseContractAlert } from './raise/contract-alerts.ts'
export { type DecidedOutcome, raiseDecisionAlerts } from './raise/decision-alerts.ts'
export { type AlertReport, type RaisedAlert, raiseAlert } from './raise/raise-alert.ts'

export { escalateByPolicy } from './work/automatic-escalation.ts'

export const alerts: Module = {
  name: 'alerts',
  segments: ['alerts'],
  tier: 'domain',
  summary: 'Alerts: what a person has to look at, each match once, from first report to dismissal or escalation.',
  // Before the routes with an id, whose first segment would match these.
  routes: [...suppressionRoutes, ...secondLookRoutes, ...bulkRoutes, ...alertRoutes, ...workRoutes],
  jobs: [bulkJob],
  erases: [alertErasure],
  scans: [wakeScan],
  events: alertEvents,
  work: workKinds,
  evidence_owners: [evidenceOwner],
  constraints: {
    alert_four_eyes_ck: ['approval_own_request', 'Another person confirms the dismissal.'],
    alert_suppression_four_eyes_ck: ['approval_own_request', 'Another person confirms the suppression.'],
    alert_second_look_four_eyes_ck: ['approval_own_request', 'Another person takes the second look.'],
    alert_suppression_expiry_ck: ['conflict', 'The end must be in the future.'],
  },
  search: {
    sources: [alertSource],
    unsearched: { getAlertSecondLook: 'A second look is opened from its queue or from its alert.' },
  },
  canary_table: 'alert',
  canary: insertCanaryRows,
}
