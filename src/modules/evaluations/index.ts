/** Door of the evaluations router: decisions, their explanation, replay and proofs. */
import type { Module } from '../../kernel/route.ts'
import { plantCanary } from './canary.ts'
import { examinationRoutes } from './examine/routes.ts'
import { decisionRoutes } from './routes.ts'

export { redactDecision } from './audience/actions.ts'
export { type Decided, decide, documentOf, type Order, store } from './decide/actions.ts'
export { errorsOf, inputsOf } from './decide/rules.ts'
export { createRecordCheck } from './records/actions.ts'
export { type EvaluationRow, shownOutcome } from './records/rules.ts'
export { Band, Bps, Explanation, Outcome } from './schema.ts'

export const evaluations: Module = {
  name: 'evaluations',
  segments: ['evaluations'],
  tier: 'domain',
  summary: 'Single decisions: the outcome, its explanation, what it pinned, and its exact replay.',
  routes: [...decisionRoutes, ...examinationRoutes],
  jobs: [],
  canary_table: 'evaluation',
  canary: plantCanary,
}
