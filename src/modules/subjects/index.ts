/**
 * Public interface of the subjects router: records with their history, ratings and overrides, and bulk files. Modules that decide
 * about subjects read them and insert ratings through it.
 */
import type { Module } from '#kernel/module.ts'
import { subjectBulkJob } from './bulk/bulk-job.ts'
import { bulkRoutes } from './bulk/routes.ts'
import { insertCanaryRows } from './canary.ts'
import { erasureRequested, subjectErased } from './erasure/erasure-events.ts'
import { subjectErasureJob } from './erasure/erasure-job.ts'
import { subjectFileErasure } from './erasure/queries.ts'
import { erasureRoutes } from './erasure/routes.ts'
import { ratingChanged } from './ratings/rating-event.ts'
import { ratingRoutes } from './ratings/routes.ts'
import { holdableSubject } from './records/holdable-subject.ts'
import { recordRoutes } from './records/routes.ts'
import { plainVersions } from './records/stored-versions.ts'
import { subjectSource } from './search/subject-source.ts'

export * as erasures from './erasure/index.ts'
export * as overrideApproval from './ratings/override-approval.ts'
export * as ratingStore from './ratings/queries.ts'
export * as ratingSchemas from './ratings/schema.ts'
export {
  countSubjects,
  findSubject,
  listSubjectsAfter,
  listSubjectsByIds,
  type SubjectFilter,
  type SubjectRow,
} from './records/queries.ts'
export { subjectTypes } from './records/schema.ts'
export { readVersion } from './records/stored-versions.ts'

export const subjects: Module = {
  name: 'subjects',
  segments: ['subjects', 'erasures'],
  tier: 'domain',
  summary: 'Persons, companies and other parties: the customers and counterparties that are rated.',
  routes: [...recordRoutes, ...bulkRoutes, ...ratingRoutes, ...erasureRoutes],
  jobs: [subjectBulkJob, subjectErasureJob],
  erases: [subjectFileErasure],
  events: [ratingChanged, erasureRequested, subjectErased],
  constraints: {
    subject_external_id_key: ['duplicate', 'Another subject has this external id.'],
    erasure_open_key: ['duplicate', 'An erasure of this subject waits to be confirmed or is being carried out.'],
    erasure_four_eyes_ck: ['approval_own_request', 'Another person confirms it.'],
  },
  holdable: [holdableSubject],
  plain_copies: [plainVersions],
  canary_table: 'subject',
  canary: insertCanaryRows,
  search: {
    sources: [subjectSource],
    unsearched: {
      getSubjectBulk: 'A file of subjects is opened from its job.',
      getErasure: 'An erasure is opened from the list of erasures.',
    },
  },
}
