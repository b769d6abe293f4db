/** Public interface of the evaluations router: decisions, their explanation, replay and proofs. */
import type { Module } from '#kernel/module.ts'
import { evaluationJob } from './async/evaluation-job.ts'
import { asyncRoutes } from './async/routes.ts'
import { insertCanaryRows } from './canary.ts'
import { evaluationSource } from './evaluation-source.ts'
import { examinationRoutes } from './examination-routes.ts'
import { plainDocuments } from './records/stored-document.ts'
import { decisionRoutes } from './routes.ts'

export { buildDocument } from './decide/decide.ts'
export { mergeInputs, toProblemErrors } from './decide/inputs.ts'
export { makeDecision } from './decide/make-decision.ts'
export * as decisionRecords from './records/read-record.ts'
export { type EvaluationRow, toOutcomeView } from './records/record.ts'
export * as decisionDocuments from './records/stored-document.ts'
export { redactDecision } from './redaction.ts'
export { Band, Bps, Explanation, Outcome, pinnedVersions } from './schema.ts'

export const evaluations: Module = {
  name: 'evaluations',
  segments: ['evaluations'],
  tier: 'domain',
  summary: 'Single decisions: the outcome, its explanation, what it pinned, and its exact replay.',
  routes: [...decisionRoutes, ...asyncRoutes, ...examinationRoutes],
  jobs: [evaluationJob],
  search: { sources: [evaluationSource] },
  plain_copies: [plainDocuments],
  canary_table: 'evaluation',
  canary: insertCanaryRows,
}
