/** Metrics of payloads. */
import { declareMetric } from '#kernel/module-metrics.ts'

export const payloadAdmissions = declareMetric({
  name: 'probity_payload_admissions_total',
  help: 'Payloads that source contracts judged, by result.',
  labels: { result: ['admitted', 'admitted_with_notes', 'quarantined'] },
})
