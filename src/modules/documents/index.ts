/** Public interface of documents and evidence items. */
import type { Module } from '#kernel/module.ts'
import { insertCanaryRows } from './canary.ts'
import { checkDocumentsJob } from './check-job.ts'
import { documentDeleted, documentStored } from './document-events.ts'
import { documentMetrics } from './document-metrics.ts'
import { documentSource } from './document-source.ts'
import { documentErasure } from './erase-documents.ts'
import { evidenceKinds, evidenceOwners } from './evidence/evidence-kinds.ts'
import { evidenceRoutes } from './evidence/routes.ts'
import { holdableDocument } from './holdable-document.ts'
import { processDocumentJob } from './processing-job.ts'
import { documentRoutes } from './routes.ts'

export * as evidenceStore from './evidence/index.ts'
export { listDocumentFiles } from './queries.ts'

export const documents: Module = {
  name: 'documents',
  segments: ['documents', 'evidence'],
  tier: 'domain',
  summary: 'Documents with encrypted bytes and their custody, and evidence items with the hash of what they name.',
  routes: [...documentRoutes, ...evidenceRoutes],
  jobs: [processDocumentJob, checkDocumentsJob],
  constraints: {
    evidence_item_attached_key: ['duplicate', 'The object is attached to this owner already.'],
  },
  events: [documentStored, documentDeleted],
  metrics: documentMetrics,
  holdable: [holdableDocument],
  erases: [documentErasure],
  evidence_kinds: evidenceKinds,
  evidence_owners: evidenceOwners,
  search: {
    sources: [documentSource],
    unsearched: { getEvidence: 'An evidence item is opened from what it is attached to.' },
  },
  canary_table: 'document',
  canary: insertCanaryRows,
}
