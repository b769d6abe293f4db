/** Metrics of reports. None of them names a tenant or a report. */
import { declareMetric } from '#kernel/module-metrics.ts'
import { reportFormats } from './model.ts'

export const reportFiles = declareMetric({
  name: 'probity_report_file_duration_seconds',
  help: 'Time to make one file of a report, by format.',
  labels: { format: reportFormats },
  buckets: [0.01, 0.05, 0.25, 1, 5, 30],
})

export const reportVerifications = declareMetric({
  name: 'probity_report_verifications_total',
  help: 'Reports that were made again from their snapshot, by result.',
  labels: { result: ['identical', 'different'] },
})

export const reportMetrics = [reportFiles, reportVerifications] as const
