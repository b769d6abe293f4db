/** Steps of an investigation: begin one again, settle an unknown outcome, waive or add one. */
import type { AuditNotes } from '#kernel/audit/record.ts'
import { expectPerson } from '#kernel/auth/principal.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { JobView } from '#kernel/job/schema.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { assertCase, assertOpen } from '../lifecycle/case-content.ts'
import { findInvestigation } from '../queries.ts'
import { InvestigationParams, Step } from '../schema.ts'
import { toStepView } from '../view.ts'
import { lockStep, lockSteps, updateStepWaived } from './queries.ts'
import { AddedStep, StepParams, StepSettlement, StepWaiver } from './schema.ts'
import { continueGathering, GATHER, startGathering } from './start-gathering.ts'
import { addStep, assertOutcomeLeft, beginAgain, beginLeft, settleStep } from './step-acts.ts'

const workers = ['analyst', 'compliance_officer'] as const
const uses = ['caches', 'encryption', 'forced_provider_mode', 'jobs', 'modules', 'plugin_policy', 'threads'] as const
const startProblems = [
  'not_found',
  'nothing_in_force',
  'conflict',
  'content_corrupt',
  'erased',
  'transition_not_allowed',
  'concurrency_limited',
] as const

/** An open case that the caller may see. What others do with its steps at this moment is waited for. */
async function lockOpenCase(tx: Tx, audit: Pick<AuditNotes, 'belongsTo'>, investigation_id: string) {
  await lockSteps(tx, investigation_id)
  const row = assertCase(await findInvestigation(tx, investigation_id), audit)
  assertOpen(row)
  return row
}

export const stepRoutes: readonly Route[] = [
  tenantRoute('POST /investigations/:investigation_id/steps', {
    id: 'createInvestigationStep',
    summary: 'Add a step to an investigation',
    description:
      'Of one of the kinds that playbooks have, checked as a playbook is. The job begins it when its needs are met. Each member of the input ' +
      'of a provider is a value, `{"value": …}`, or a fact about the subject, `{"fact": …}`; 422 names each one that the provider does not ' +
      'take. Values are kept as personal data of the subject.',
    roles: workers,
    tx: 'write',
    uses,
    params: InvestigationParams,
    body: AddedStep,
    reply: [202, JobView],
    starts: GATHER,
    needs: 'provider',
    executes: 'plugin',
    runs_plugins_of: ['provider', 'matrix'],
    problems: [...startProblems, 'duplicate'],
  }).handle(async ({ tx, params, body, kernel, audit }) => {
    const row = await lockOpenCase(tx, audit, params.investigation_id)
    const steps = await addStep(kernel, tx, row, body)
    audit.recordDiff(null, { step_key: body.step_key, kind: body.kind })
    return startGathering(kernel, tx, { ...row, steps }, [body.step_key])
  }),

  tenantRoute('POST /investigations/:investigation_id/steps/retry', {
    id: 'retryInvestigationSteps',
    summary: 'Begin all steps that a cancelled or failed job left',
    description:
      'Those that never began, and those that wait for a credential or their provider. A step that failed is begun again by itself.',
    roles: workers,
    tx: 'write',
    uses,
    params: InvestigationParams,
    reply: [202, JobView],
    starts: GATHER,
    needs: 'provider',
    executes: 'plugin',
    runs_plugins_of: ['provider', 'playbook'],
    problems: startProblems,
  }).handle(async ({ tx, params, kernel, audit }) => {
    const row = await lockOpenCase(tx, audit, params.investigation_id)
    const keys = await beginLeft(kernel, tx, row)
    audit.recordDiff({ gathering: row.gathering }, { gathering: 'running', steps: keys })
    return startGathering(kernel, tx, { ...row, steps: keys.length }, keys)
  }),

  tenantRoute('POST /investigations/:investigation_id/steps/:step_key/retry', {
    id: 'retryInvestigationStep',
    summary: 'Begin a step again that failed, could not be asked, or was waived before it was tried',
    description:
      'An answer that was paid for and can be used now is used. A blocked case goes on with all its steps once the credential is there.',
    roles: workers,
    tx: 'write',
    uses,
    params: StepParams,
    reply: [202, JobView],
    starts: GATHER,
    needs: 'provider',
    executes: 'plugin',
    runs_plugins_of: ['provider', 'playbook'],
    problems: startProblems,
  }).handle(async ({ tx, params, kernel, audit }) => {
    const row = await lockOpenCase(tx, audit, params.investigation_id)
    const step = assertFound(await lockStep(tx, row.investigation_id, params.step_key))
    const { only, steps } = await beginAgain(kernel, tx, row, step)
    audit.recordDiff({ step_key: step.step_key, state: step.state }, { step_key: step.step_key, state: 'pending' })
    return startGathering(kernel, tx, { ...row, steps }, only)
  }),

  tenantRoute('POST /investigations/:investigation_id/steps/:step_key/settle', {
    id: 'settleInvestigationStep',
    summary: 'Settle a step whose call was sent and perhaps answered: call again, or enter the answer',
    description:
      'For people only. Nothing is sent twice unless somebody says so here: the provider may charge for both. An answer that the source ' +
      'contract refuses is answered by 422 with each place, and nothing is stored. Where the provider really answered so, `is_unusable` ' +
      'keeps it in quarantine and the step fails; it can be waived.',
    roles: workers,
    tx: 'write',
    uses,
    params: StepParams,
    body: StepSettlement,
    reply: [202, JobView],
    starts: GATHER,
    needs: 'provider',
    executes: 'plugin',
    runs_plugins_of: ['provider'],
    problems: [...startProblems, 'person_required'],
  }).handle(async ({ tx, params, body, kernel, actor, audit }) => {
    expectPerson(actor.principal)
    const row = await lockOpenCase(tx, audit, params.investigation_id)
    const step = assertFound(await lockStep(tx, row.investigation_id, params.step_key))
    const call_id = await settleStep(kernel, tx, { ...row, step }, body)
    const { action, reason } = body
    audit.recordDiff({ call_id: step.call_id, state: step.state }, { call_id, state: 'pending', action })
    audit.recordText('reason', reason)
    return startGathering(kernel, tx, { ...row, steps: 1 }, [step.step_key])
  }),

  tenantRoute('POST /investigations/:investigation_id/steps/:step_key/waive', {
    id: 'waiveInvestigationStep',
    summary: 'Do without a step, with a reason',
    description:
      'For people only. Steps that need it begin as if it were done. Nothing is waived while it runs, nor what every possible outcome needs and was not tried.',
    roles: ['compliance_officer'],
    tx: 'write',
    uses: ['caches', 'jobs'],
    params: StepParams,
    body: StepWaiver,
    reply: [200, Step],
    problems: ['not_found', 'transition_not_allowed', 'person_required', 'content_corrupt', 'erased'],
  }).handle(async ({ tx, params, body, kernel, actor, audit }) => {
    expectPerson(actor.principal)
    const row = await lockOpenCase(tx, audit, params.investigation_id)
    const step = assertFound(await lockStep(tx, row.investigation_id, params.step_key))
    const wasNotAsked = step.state === 'skipped' && step.problem !== null
    if (!wasNotAsked && !['pending', 'waiting', 'failed', 'indeterminate'].includes(step.state))
      fail('transition_not_allowed', `The step is ${step.state}.`)
    await assertOutcomeLeft(kernel, tx, row, step)
    await updateStepWaived(tx, row.investigation_id, step.step_key, body.reason)
    audit.recordDiff({ state: step.state }, { state: 'waived', step_key: step.step_key })
    audit.recordText('reason', body.reason)
    await continueGathering(kernel, tx, row)
    return toStepView(row, assertFound(await lockStep(tx, row.investigation_id, step.step_key)))
  }),
]
