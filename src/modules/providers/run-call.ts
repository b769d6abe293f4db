/**
 * Advances a call by at most one attempt, or one for each page of its answer. Everything it knows is in the ledger: another process
 * continues after any crash, sends nothing again that has an answer, and never sends a call twice that promises once.
 */
import { Problem } from '#kernel/problem.ts'
import { CredentialGone } from '#modules/provider-credentials/index.ts'
import { admitPayload } from '#modules/source-contracts/index.ts'
import { type FailedAttempt, type ReceivedAnswer, recordFailure, storeAnswer, storeAnsweredPage } from './answers.ts'
import { SendHeld } from './limits/reserve-send.ts'
import { type CallRun, type LoadedCall, loadCall } from './load-call.ts'
import { lookUpInList } from './local-answers.ts'
import { type AttemptResult, answerLocally, type CallStep, endByPlugin, isPluginProblem } from './local-attempt.ts'
import { isPaged, PageChain } from './pages/page-chain.ts'
import { readPages } from './pages/stored-pages.ts'
import { isReadyForAttempt, type PreparedAttempt, prepareAttempt } from './prepare-attempt.ts'
import { breakerOpenings, callsEnded, liveAttempts, sendsHeld } from './provider-metrics.ts'
import { type AnswerRow, type AttemptRow, type CallRow, listResults } from './queries.ts'
import { planNextAttempt } from './retry-plan.ts'
import { sendLive, TokenUnavailable } from './send-live.ts'
import { sendWithPlugin } from './send-plugin.ts'
import { sendToolCall } from './send-tool.ts'

export async function advanceCall(run: CallRun, call_id: string): Promise<CallStep> {
  const chain = new PageChain()
  for (;;) {
    const step = await advanceOnce(run, call_id, chain)
    if (step.kind !== 'next_page') return step
    // A worker that shuts down, or lost its lease, leaves the next page to another.
    if (run.signal.aborted) return waitForNextPage(chain)
  }
}

async function advanceOnce(
  run: CallRun,
  call_id: string,
  chain: PageChain,
): Promise<CallStep | { readonly kind: 'next_page' }> {
  const { kernel, scope } = run
  const { loaded, first } = await kernel.transactions.write(scope, async (tx) => {
    const loaded = await loadCall(kernel, tx, call_id)
    return isReadyForAttempt(loaded)
      ? { loaded, first: { made: await prepareAttempt(run, tx, loaded, 1) } }
      : { loaded }
  })
  if (loaded.result) return admitResult(run, loaded, loaded.result)
  const last = loaded.attempts.at(-1)
  if (last?.is_final) return toFailedStep(loaded, last)
  if (last?.sent_at && last.outcome === null) {
    if (!last.is_overdue) return waitForDeadline(last)
    const ended = await endOverdueAttempt(run, loaded, last)
    if (ended) return ended
  }
  if (isPaged(loaded.capability))
    await kernel.transactions.read(scope, (tx) => readPages(kernel, tx, loaded.call, chain))
  const { made: prepared } = first ?? {
    made: await kernel.transactions.write(scope, (tx) => prepareAttempt(run, tx, loaded, chain.page_no)),
  }
  if (!prepared)
    return wait(new Date(Date.now() + 1000), new Problem('conflict', 'Another worker is processing this call.'), 'busy')
  // Attempts for other pages say nothing about this one.
  const of_page = { ...loaded, attempts: loaded.attempts.filter(({ page_no }) => page_no === chain.page_no) }
  const { attempt } = prepared
  const started_ms = performance.now()
  const sent = arePagesComplete(loaded, chain) ? await runAttempt(run, of_page, prepared, chain) : PAGES_REMOVED
  const outcome = 'answer' in sent ? judgePage(loaded.capability, chain, sent.answer) : sent
  if ('held' in outcome) return run.is_test ? endHeldAttempt(run, loaded, attempt, outcome.held) : outcome.held
  if (loaded.call.mode === 'live' && loaded.capability.kind !== 'builtin') {
    const ended = { outcome: 'failure' in outcome ? outcome.failure.outcome : ('answered' as const) }
    kernel.metrics.observe(liveAttempts, ended, (performance.now() - started_ms) / 1000)
  }
  if ('failure' in outcome) return recordFailedAttempt(run, of_page, attempt, outcome)
  const stored = { call: loaded.call, attempt, capability: loaded.capability }
  if ('page' in outcome) {
    await kernel.transactions.write(scope, (tx) => storeAnsweredPage(kernel, tx, stored, outcome.page))
    return { kind: 'next_page' }
  }
  const result = await kernel.transactions.write(scope, (tx) => storeAnswer(kernel, tx, stored, outcome.answer))
  return countEnd(run, await admitResult(run, loaded, result as AnswerRow))
}

const failureOutcomes = { outcome_unknown: 'outcome_unknown', provider_refused: 'refused' } as const

/** Counted where a call comes to its end, not where an ended call is looked at again. */
function countEnd({ kernel }: CallRun, step: CallStep): CallStep {
  if (step.kind === 'ended') kernel.metrics.increment(callsEnded, { outcome: step.end.outcome })
  if (step.kind === 'failed') {
    const outcome = failureOutcomes[step.problem.code as keyof typeof failureOutcomes] ?? 'failed'
    kernel.metrics.increment(callsEnded, { outcome })
  }
  return step
}

/** The answer of a call is the document of all pages; a page that cannot be part of one fails the call. */
function judgePage(
  capability: LoadedCall['capability'],
  chain: PageChain,
  answer: ReceivedAnswer,
): AttemptResult | { readonly page: ReceivedAnswer } {
  if (!isPaged(capability) || answer.source !== 'provider') return { answer }
  if (answer.result === 'not_found') return chain.page_no === 1 ? { answer } : toPageFailure('page_not_found', answer)
  const judged = chain.judge(capability, answer.bytes)
  if (judged.kind === 'failed') return toPageFailure(judged.fault, answer)
  if (judged.kind === 'more') return { page: answer }
  return { answer: { ...answer, media_type: 'application/json', bytes: judged.document } }
}

const toPageFailure = (fault: string, { http_status, duration_ms }: ReceivedAnswer): AttemptResult => ({
  failure: { outcome: 'failed', fault, http_status, duration_ms, is_outage: false },
  retry_after_s: null,
})

/** False where the retention policy removed pages before the last one arrived: the rest alone is no answer. */
const arePagesComplete = ({ attempts }: LoadedCall, chain: PageChain): boolean =>
  attempts.every(({ outcome, page_no }) => outcome !== 'answered' || page_no < chain.page_no)

const PAGES_REMOVED: AttemptResult = {
  failure: { outcome: 'failed', fault: 'pages_removed', http_status: null, duration_ms: null, is_outage: false },
  retry_after_s: null,
}

const waitForNextPage = (chain: PageChain): CallStep =>
  wait(
    new Date(),
    new Problem('dependency_unavailable', `Page ${chain.page_no + 1} of the answer follows.`),
    'page_pending',
  )

const wait = (until: Date, problem: Problem, fault: string): CallStep => ({ kind: 'wait', until, problem, fault })

/** Another process may still be waiting for its answer. */
const waitForDeadline = ({ deadline_at }: AttemptRow): CallStep =>
  wait(
    new Date(Date.parse(deadline_at as string) + 100),
    new Problem('dependency_unavailable', 'An earlier attempt may still be answered.'),
    'in_flight',
  )

/** Nobody waits for the answer any more: whether the provider received the request is not known. */
async function endOverdueAttempt(run: CallRun, loaded: LoadedCall, last: AttemptRow): Promise<CallStep | undefined> {
  const is_final = loaded.call.promise === 'once'
  const failure: FailedAttempt = {
    outcome: 'unknown',
    fault: 'interrupted',
    http_status: null,
    duration_ms: null,
    is_outage: false,
    is_final,
  }
  await run.kernel.transactions.write(run.scope, (tx) =>
    recordFailure(tx, { call: loaded.call, attempt: last, capability: loaded.capability }, failure),
  )
  // The answer may have arrived in that moment; then it counts.
  const [result] = await run.kernel.transactions.read(run.scope, (tx) => listResults(tx, [loaded.call.call_id]))
  if (result) return admitResult(run, loaded, result)
  return is_final
    ? countEnd(run, toFailedStep(loaded, { ...last, outcome: 'unknown', fault: 'interrupted' }))
    : undefined
}

async function runAttempt(
  run: CallRun,
  loaded: LoadedCall,
  { attempt, input, credential }: PreparedAttempt,
  chain: PageChain,
): Promise<AttemptResult> {
  const { kernel, scope } = run
  const { call, capability } = loaded
  if (capability.kind === 'builtin') {
    return { answer: await kernel.transactions.read(scope, (tx) => lookUpInList(kernel, tx, capability, input)) }
  }
  if (call.mode !== 'live') return answerLocally(run, { ...loaded, capability }, attempt, input)
  try {
    if (credential instanceof Problem) throw credential
    if (credential === 'superseded') return PROVIDER_CHANGED
    if (capability.kind === 'mcp')
      return await sendToolCall(run, { ...loaded, capability }, attempt, { input, credential })
    const send = { input, credential, chain }
    return capability.kind === 'plugin'
      ? await sendWithPlugin(run, { ...loaded, capability }, attempt, send)
      : await sendLive(run, { ...loaded, capability }, attempt, send)
  } catch (error) {
    if (error instanceof SendHeld) {
      const { decision } = error
      kernel.metrics.increment(sendsHeld, { reason: decision.kind === 'wait' ? decision.reason : 'budget' })
      return { held: toHeldStep(error) }
    }
    if (error instanceof Problem && isPluginProblem(error.code)) return endByPlugin(error)
    if (error instanceof TokenUnavailable) {
      kernel.metrics.increment(sendsHeld, { reason: 'token' })
      return { held: waitForToken(call, error) }
    }
    const gone = toMissingCredential(error)
    if (!gone) throw error
    kernel.metrics.increment(sendsHeld, { reason: 'credential' })
    return { held: wait(new Date(Date.now() + CREDENTIAL_WAIT_MS), gone, 'credential_missing') }
  }
}

const CREDENTIAL_WAIT_MS = 60_000

/** The call waits for its credential: a person may enable it again or store another. */
function toMissingCredential(error: unknown): Problem | undefined {
  if (error instanceof CredentialGone) {
    return new Problem('provider_credential_missing', 'The credential was disabled, replaced or destroyed meanwhile.')
  }
  return error instanceof Problem && error.code === 'provider_credential_missing' ? error : undefined
}

const PROVIDER_CHANGED: AttemptResult = {
  failure: { outcome: 'not_sent', fault: 'provider_changed', http_status: null, duration_ms: null, is_outage: false },
  retry_after_s: null,
}

/** A test does not wait: its attempt ends unsent, with the reason. */
async function endHeldAttempt(
  run: CallRun,
  { call, capability }: LoadedCall,
  attempt: AttemptRow,
  held: CallStep,
): Promise<CallStep> {
  if (held.kind === 'ended') return held
  const { fault } = held
  const failure = { outcome: 'not_sent', fault, http_status: null, duration_ms: null, is_outage: false } as const
  await run.kernel.transactions.write(run.scope, (tx) =>
    recordFailure(tx, { call, attempt, capability }, { ...failure, is_final: true }),
  )
  return { ...held, kind: 'failed' }
}

const TOKEN_WAIT_MS = 10_000

const waitForToken = ({ provider_key }: CallRow, { fault }: TokenUnavailable): CallStep =>
  wait(
    new Date(Date.now() + TOKEN_WAIT_MS),
    new Problem('dependency_unavailable', `The token endpoint of ${provider_key} gives no access token at the moment.`),
    fault,
  )

function toHeldStep({ decision, provider_key }: SendHeld): CallStep {
  if (decision.kind === 'refuse') {
    const resets_at = new Date(decision.resets_at_ms).toISOString()
    const members = { provider_key, budget: decision.budget, resets_at }
    const detail = `The budget ${decision.budget} of ${provider_key} is used up until ${resets_at}.`
    return { kind: 'failed', problem: new Problem('budget_reached', { detail, members }), fault: 'budget_reached' }
  }
  const retry_after_s = Math.max(1, Math.ceil((decision.until_ms - decision.now_ms) / 1000))
  const problem = new Problem('provider_limit_reached', {
    detail: `The ${decision.reason} of ${provider_key} does not allow another request yet.`,
    retry_after_s,
    members: { provider_key, reason: decision.reason },
  })
  return wait(new Date(Date.now() + Math.max(0, decision.until_ms - decision.now_ms)), problem, decision.reason)
}

async function recordFailedAttempt(
  run: CallRun,
  loaded: LoadedCall,
  attempt: AttemptRow,
  { failure, retry_after_s, problem: cause }: Extract<AttemptResult, { failure: unknown }>,
): Promise<CallStep> {
  const { call, capability } = loaded
  const isLast = cause !== undefined || (run.is_test && failure.fault !== 'token_refused')
  const delay_ms = isLast ? null : planNextAttempt(loaded, failure, { retry_after_s, now_ms: Date.now() })
  const ended = { ...failure, is_final: delay_ms === null }
  const { opened_breaker } = await run.kernel.transactions.write(run.scope, (tx) =>
    recordFailure(tx, { call, attempt, capability }, ended),
  )
  if (opened_breaker) run.kernel.metrics.increment(breakerOpenings, {})
  if (cause) return countEnd(run, { kind: 'failed', problem: cause, fault: failure.fault })
  if (delay_ms === null) return countEnd(run, toFailedStep(loaded, { ...attempt, ...ended }))
  const problem = new Problem('dependency_unavailable', {
    detail: `The provider ${call.provider_key} gave no answer (${failure.fault}); another attempt follows.`,
    members: { provider_key: call.provider_key, fault: failure.fault },
  })
  return wait(new Date(Date.now() + delay_ms), problem, failure.fault)
}

function toFailedStep(
  { call, capability }: LoadedCall,
  last: Pick<AttemptRow, 'outcome' | 'fault' | 'page_no'>,
): CallStep {
  const fault = last.fault ?? 'failed'
  const page = isPaged(capability) ? { page_no: last.page_no } : {}
  const members = { provider_key: call.provider_key, call_id: call.call_id, fault, ...page }
  const code =
    last.outcome === 'unknown'
      ? 'outcome_unknown'
      : last.outcome === 'refused'
        ? 'provider_refused'
        : fault === 'not_recorded' || isPluginProblem(fault)
          ? fault
          : 'provider_failed'
  if (last.outcome === 'not_sent' && fault === 'egress_refused') {
    return { kind: 'failed', problem: new Problem(code, { detail: describeUnlisted(call), members }), fault }
  }
  const detail = `The call of ${call.capability} at ${call.provider_key} ended without an answer: ${fault}${'page_no' in page ? ` at page ${last.page_no}` : ''}.`
  return { kind: 'failed', problem: new Problem(code, { detail, members }), fault }
}

const describeUnlisted = ({ provider_key }: CallRow): string =>
  `Nothing was sent to ${provider_key}: its host or address is not allowed. The operator lists hosts in PROBITY_EGRESS_HOSTS, and those ` +
  'with a private address, with their port, in PROBITY_EGRESS_PRIVATE.'

/** The contract judges the stored bytes; a call without a contract has nothing to be judged by. */
async function admitResult(run: CallRun, { call }: LoadedCall, answer: AnswerRow): Promise<CallStep> {
  const { payload_id, result } = answer
  if (call.contract_key === null || result === 'not_found') {
    return { kind: 'ended', end: { outcome: 'answered', result, payload_id, admission_id: null } }
  }
  const { admission_id, admitted } = await admitPayload(run.kernel, run.scope, { payload_id })
  return { kind: 'ended', end: { outcome: admitted ? 'answered' : 'quarantined', result, payload_id, admission_id } }
}
