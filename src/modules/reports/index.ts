/** Public interface of reports. Other modules add kinds of report by `report_templates` of their own. */
import type { Module } from '#kernel/module.ts'
import { insertCanaryRows } from './canary.ts'
import { reportErasure } from './erase-reports.ts'
import { holdableReport } from './holdable-report.ts'
import { makeReportJob, reportReady } from './report-job.ts'
import { reportMetrics } from './report-metrics.ts'
import { reportSource } from './report-source.ts'
import { reportRoutes } from './routes.ts'
import { scheduleErasure } from './schedules/queries.ts'
import { scheduleRoutes } from './schedules/routes.ts'
import { scheduledReportJob } from './schedules/schedule-job.ts'
import { decisionExplanation } from './templates/decision-explanation.ts'
import { subjectDossier } from './templates/dossier/subject-dossier.ts'
import { listChangeNote } from './templates/list-change-note.ts'
import { programmeOverview } from './templates/programme-overview.ts'
import { verifyReportJob } from './verify-report.ts'

export const reports: Module = {
  name: 'reports',
  segments: ['reports'],
  tier: 'views',
  summary: 'Reports as JSON, HTML, CSV and PDF, made from a stored snapshot and made again to compare.',
  // Before the routes with an id, whose first segment would match these.
  routes: [...scheduleRoutes, ...reportRoutes],
  jobs: [makeReportJob, verifyReportJob, scheduledReportJob],
  report_templates: [decisionExplanation, subjectDossier, listChangeNote, programmeOverview],
  constraints: { report_schedule_name_key: ['duplicate', 'A schedule of reports with this name exists already.'] },
  metrics: reportMetrics,
  events: [reportReady],
  holdable: [holdableReport],
  erases: [reportErasure, scheduleErasure],
  search: {
    sources: [reportSource],
    unsearched: {
      getReportTemplate: 'There are few templates, all on one page.',
      getReportSchedule: 'There are few schedules, all on one page.',
    },
  },
  canary_table: 'report',
  canary: insertCanaryRows,
}
