/** A decision about the subject of a case, by the matrix or rule that its step names. */
import { Problem } from '#kernel/problem.ts'
import type { StepEnd, StepRun } from '#kernel/step-kind.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { makeDecision } from '#modules/evaluations/index.ts'
import type { EvaluationSettings } from './model.ts'

/** A decision is seen by everybody who may see the subject, so it would show a case that is hidden. */
const HIDDEN_CASE =
  'A decision about the subject would show that this restricted case exists. Preview the decision, and waive the step with its result.'

export async function runEvaluationStep(run: StepRun<EvaluationSettings>): Promise<StepEnd> {
  if (run.is_restricted) return { state: 'failed', problem: new Problem('conflict', HIDDEN_CASE) }
  const definition = 'matrix' in run.with ? { matrix_key: run.with.matrix } : { rule_key: run.with.rule }
  const new_id = uuidv7()
  return {
    state: 'succeeded',
    store: async (tx) => {
      const { evaluation_id, document_hash, definition_key, definition_version, decided_at } = await makeDecision(
        run.kernel,
        tx,
        {
          ...definition,
          evaluation_id: new_id,
          subject_id: run.subject_id,
          call_ids: run.earlier_calls,
        },
      )
      const source = `Decision of ${definition_key}, version ${definition_version}`
      const stored = { content_hash: document_hash, source, obtained_at: decided_at }
      const evidence_id = await run.attachEvidence(tx, { kind: 'evaluation', object_id: evaluation_id, stored })
      return { result: { kind: 'evaluation', id: evaluation_id }, evidence_id }
    },
  }
}
