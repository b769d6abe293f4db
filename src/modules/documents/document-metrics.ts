/** Metrics of documents. None of them names a tenant or a document. */
import { declareMetric } from '#kernel/module-metrics.ts'

export const documentScans = declareMetric({
  name: 'probity_document_scans_total',
  help: 'Scans of documents by outcome.',
  labels: { outcome: ['clean', 'infected', 'failed'] },
})

export const documentChecks = declareMetric({
  name: 'probity_document_checks_total',
  help: 'Documents whose stored bytes were compared with their hash, by result.',
  labels: { result: ['intact', 'damaged'] },
})

export const documentMetrics = [documentScans, documentChecks] as const
