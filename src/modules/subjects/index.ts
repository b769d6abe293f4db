/**
 * Door of the subjects router: records with their history, ratings and overrides, and files of subjects. Whoever decides
 * about subjects finds them and leaves ratings through here.
 */
import type { Module } from '../../kernel/route.ts'
import { subjectBulk } from './bulk/jobs.ts'
import { bulkRoutes } from './bulk/routes.ts'
import { plantCanary } from './canary.ts'
import { ratingRoutes } from './ratings/routes.ts'
import { recordRoutes } from './records/routes.ts'

export { headOfRisk, overrideRating } from './ratings/actions.ts'
export { deferRating, insertRatings, type NewRating, type RatingRow } from './ratings/queries.ts'
export { Override, Rating } from './ratings/schema.ts'
export {
  countSubjects,
  findSubject,
  listSubjectsAfter,
  listSubjectsNamed,
  lockSubject,
  type RatedSubjectRow,
  type SubjectFilter,
  type SubjectRow,
} from './records/queries.ts'
export { subjectStates, subjectTypes } from './records/schema.ts'

export const subjects: Module = {
  name: 'subjects',
  segments: ['subjects'],
  tier: 'domain',
  summary: 'Persons, companies and other parties: the customers and counterparties that are rated.',
  routes: [...recordRoutes, ...bulkRoutes, ...ratingRoutes],
  jobs: [subjectBulk],
  constraints: { subject_external_id_key: ['duplicate', 'Another subject has this external id.'] },
  canary_table: 'subject',
  canary: plantCanary,
}
