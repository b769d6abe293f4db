/** A call of a provider for a case. The ledger of calls keeps what the provider promises; this decides what the step becomes of it. */
import type { Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import type { StepCall, StepEnd, StepResult, StepRun } from '#kernel/step-kind.ts'
import type { ReadyProvider } from '#modules/provider-credentials/index.ts'
import { advanceCall, callLedger, capabilities, createCall } from '#modules/providers/index.ts'
import { payloadStore } from '#modules/source-contracts/index.ts'
import { toProviderInput } from './applicable-steps.ts'
import type { ProviderSettings } from './model.ts'
import { chooseStepProvider } from './step-providers.ts'

type Run = StepRun<ProviderSettings>

const DAY_S = 86_400

export async function runProviderStep(run: Run): Promise<StepEnd> {
  let { call } = run
  if (call === null) {
    const chosen = await run.kernel.transactions.read(run.scope, (tx) => chooseProvider(run, tx))
    if (!('provider' in chosen)) return chosen
    call = await run.begin((tx) => makeCall(run, tx, chosen.provider))
  }
  const spent = await findOverspent(run, call.call_id)
  if (spent) return { state: 'failed', problem: spent }
  return toStepEnd(run, call)
}

/** The first that can be asked; otherwise why none can. */
async function chooseProvider(run: Run, tx: Tx): Promise<StepEnd | { readonly provider: ReadyProvider }> {
  const { capability } = run.with
  const { provider, refusal, missing } = await chooseStepProvider(run.kernel, tx, run.with)
  if (provider) {
    const offer = capabilities.findCapability(provider.manifest, capability)
    const tooDear = offer && findTooDear(run, offer, 0, provider.provider_key)
    return tooDear ? { state: 'failed', problem: tooDear } : { provider }
  }
  if (refusal) return { state: 'blocked', problem: refusal }
  if (missing.length === 0) {
    const problem = new Problem('conflict', `No provider in force has the capability ${capability}.`)
    return { state: 'failed', problem }
  }
  const keys = missing.map(({ provider_key }) => provider_key).join(', ')
  const detail = `No usable credential is stored for ${keys}, which the step ${run.step_key} needs.`
  return { state: 'blocked', problem: new Problem('provider_credential_missing', { detail, members: { missing } }) }
}

/** The request before anything is sent; an earlier answer takes its place where the playbook allows it. */
async function makeCall(run: Run, tx: Tx, provider: ReadyProvider): Promise<StepCall> {
  const { capability } = run.with
  const offer = capabilities.findCapability(provider.manifest, capability)
  const members = offer ? Object.keys(capabilities.getInputSchema(offer).properties) : []
  const call = await createCall(run.kernel, tx, provider, {
    capability,
    input: toProviderInput(run.with, members, run.facts),
    subject_id: run.subject_id,
    call_key: `investigation/${run.investigation_id}/${run.step_key}/${run.attempt}`,
    job_id: run.job_id,
    restriction_id: run.restriction_id,
  })
  // What a restricted case learns stays in it, and it asks for itself.
  const mayReuse = run.reuse_days !== null && !run.is_restricted && call.mode === 'live' && offer !== undefined
  const reused_from = mayReuse
    ? await callLedger.reuseAnswer(run.kernel, tx, { call, capability: offer }, (run.reuse_days ?? 0) * DAY_S)
    : null
  return { call_id: call.call_id, reused_from }
}

function findTooDear(
  { max_cost }: Run,
  { cost, name }: capabilities.Capability,
  spent_minor: number,
  provider_key: string,
): Problem | undefined {
  if (!max_cost || !cost) return undefined
  const limit = capabilities.toMinor(max_cost.amount)
  if (cost.currency === max_cost.currency && spent_minor + cost.minor <= limit) return undefined
  const detail = `${name} of ${provider_key} would cost ${callLedger.formatMinor(spent_minor + cost.minor)} ${cost.currency} in all; the step may cost ${max_cost.amount} ${max_cost.currency}.`
  return new Problem('budget_reached', { detail, members: { provider_key } })
}

/** A provider that is asked again and again may charge for each; under the same idempotency key it does not. */
async function findOverspent(run: Run, call_id: string): Promise<Problem | undefined> {
  if (!run.max_cost) return undefined
  const { call, attempts, result, capability } = await run.kernel.transactions.read(run.scope, (tx) =>
    callLedger.loadCall(run.kernel, tx, call_id),
  )
  if (result || attempts.length === 0 || call.promise !== 'free' || attempts.at(-1)?.is_final) return undefined
  return findTooDear(run, capability, sumCost(capability, attempts), call.provider_key)
}

type Attempts = Awaited<ReturnType<typeof callLedger.loadCall>>['attempts']

const sumCost = (capability: capabilities.Capability, attempts: Attempts): number =>
  attempts
    .filter(({ outcome }) => !callLedger.isUncharged(capability, outcome))
    .reduce((sum, { cost_minor }) => sum + (cost_minor ?? 0), 0)

async function toStepEnd(run: Run, { call_id, reused_from }: StepCall): Promise<StepEnd> {
  const step = await advanceCall({ kernel: run.kernel, scope: run.scope, signal: run.signal }, call_id)
  if (step.kind === 'wait') {
    if (step.problem.code === 'provider_credential_missing') return { state: 'blocked', problem: step.problem }
    return { state: 'waiting', until: step.until, problem: step.problem }
  }
  const store = (tx: Tx) => describeCall(run, tx, call_id)
  if (step.kind === 'failed') {
    const state = step.problem.code === 'outcome_unknown' ? 'indeterminate' : 'failed'
    return { state, problem: step.problem, store }
  }
  if (step.end.outcome === 'quarantined') {
    const detail = 'The source contract refused the answer: it is in quarantine.'
    const members = { call_id, payload_id: step.end.payload_id }
    return { state: 'failed', problem: new Problem('contract_violated', { detail, members }), store }
  }
  return {
    state: 'succeeded',
    store: async (tx) => ({
      ...(await store(tx)),
      result: { kind: 'provider_call', id: call_id },
      evidence_id: await run.attachEvidence(tx, {
        kind: 'provider_call',
        object_id: call_id,
        ...(reused_from !== null && { obtained_at: reused_from }),
      }),
    }),
  }
}

/** What the call cost, and what the contract says of its answer; no values. */
async function describeCall(run: Run, tx: Tx, call_id: string): Promise<StepResult> {
  const { call, attempts, result, capability } = await callLedger.loadCall(run.kernel, tx, call_id)
  const sent = attempts.filter(({ cost_minor }) => cost_minor !== null)
  const currency = sent.at(-1)?.currency ?? null
  const [admission] = result ? await payloadStore.findLastAdmissions(tx, [result.payload_id]) : []
  const { contract_key } = call
  return {
    ...(result && {
      contract_result: admission
        ? { contract_key, admission_id: admission.admission_id, is_admitted: admission.admitted, answer: result.result }
        : { contract_key, admission_id: null, is_admitted: null, answer: result.result },
    }),
    ...(currency !== null && {
      cost: { amount: callLedger.formatMinor(sumCost(capability, sent)), currency },
    }),
  }
}
