/** What modes, promises, states of calls and gaps of credentials mean, in words. Pure. */
import type { ProbityProblem, Schemas } from '@probity/client'
import { formatOperation, toSentence } from '../format.ts'

export type ProviderStatus = Schemas['ProviderStatus']
export type ProviderMode = ProviderStatus['mode']
export type CredentialGap = Schemas['CredentialGap']
export type BlockingGap = Schemas['BlockingGap']
export type GapReason = CredentialGap['reason']
export type CallState = Schemas['ProviderCallItem']['state']
export type AnswerSource = NonNullable<Schemas['ProviderCall']['answer']>['source']
export type CapabilityPromise = Schemas['ProviderCallItem']['promise']

export const providerKindNames: Readonly<Record<ProviderStatus['kind'], string>> = {
  http: 'HTTP service',
  builtin: 'built in',
  mcp: 'tool server',
  plugin: 'plugin',
}

export const modes: readonly ProviderMode[] = ['live', 'recorded', 'fixtures']
export const modeTexts: Readonly<Record<ProviderMode, string>> = {
  live: 'Calls go to the provider and may cost money.',
  recorded:
    'Calls repeat answers that the provider gave earlier, or else get the example answers of the manifest. Nothing is sent.',
  fixtures: 'Calls get the example answers of the manifest. Nothing is sent.',
}
export const modeColors: Readonly<Record<ProviderMode, string>> = { live: 'teal', recorded: 'indigo', fixtures: 'gray' }

export const promiseNames: Readonly<Record<CapabilityPromise, string>> = {
  free: 'May be repeated',
  keyed: 'Repeated under one key',
  once: 'Sent at most once',
}
export const promiseTexts: Readonly<Record<CapabilityPromise, string>> = {
  free: 'The request changes nothing at the provider, so it is sent again after a failure.',
  keyed: 'Every repetition carries the same idempotency key, so the provider acts on it once.',
  once: 'The provider may act on the request. If its outcome is unknown, it is not sent again: a person decides.',
}

export const gapNames: Readonly<Record<GapReason, string>> = {
  absent: 'missing',
  disabled: 'disabled',
  staged_only: 'not active yet',
  incomplete: 'incomplete',
  expired: 'expired',
  rejected: 'rejected',
}
export const gapTexts: Readonly<Record<GapReason, string>> = {
  absent: 'No credential is stored.',
  disabled: 'Its credential is disabled.',
  staged_only: 'Values are stored, but no version of them is active yet.',
  incomplete: 'Its credential lacks a value that the provider declares now.',
  expired: 'Its credential has expired.',
  rejected: 'The provider rejected its credential.',
}
/** The same about a credential that exists. */
export const credentialGapTexts: Readonly<Record<GapReason, string>> = {
  absent: 'No values are stored yet.',
  disabled: 'It is not used until it is enabled.',
  staged_only: 'Values are stored, but no version of them is active yet.',
  incomplete: 'It lacks a value that the provider declares now.',
  expired: 'It has expired.',
  rejected: 'The provider rejected it.',
}
/** What to do about it. */
export const gapSteps: Readonly<Record<GapReason, string>> = {
  absent: 'Add a credential',
  disabled: 'Enable it',
  staged_only: 'Activate the staged version',
  incomplete: 'Store complete values',
  expired: 'Store new values',
  rejected: 'Store new values',
}

export const isGapReason = (value: unknown): value is GapReason => typeof value === 'string' && value in gapNames

/** The credentials that a 424 names, in the order of the response. */
export function getMissingCredentials(problem: ProbityProblem | null): readonly CredentialGap[] {
  const missing = problem?.members['missing']
  if (!Array.isArray(missing)) return []
  return missing.filter((gap): gap is CredentialGap => isGapReason((gap as Partial<CredentialGap> | null)?.reason))
}

/** The page that closes a gap: the credential, or the form for a new one. */
export function toGapTarget({ credential_id, credential_key, environment }: CredentialGap): {
  readonly to: string
  readonly search: Readonly<Record<string, string>>
} {
  if (credential_id !== null) return { to: `/provider-credentials/${credential_id}`, search: {} }
  return { to: '/provider-credentials', search: { new: credential_key, environment } }
}

export const callStates: readonly CallState[] = [
  'waiting',
  'sent',
  'answered',
  'quarantined',
  'failed',
  'refused',
  'outcome_unknown',
]
export const callStateNames: Readonly<Record<CallState, string>> = {
  waiting: 'waiting',
  sent: 'sent',
  answered: 'answered',
  quarantined: 'in quarantine',
  failed: 'failed',
  refused: 'refused',
  outcome_unknown: 'outcome unknown',
}
export const callStateTexts: Readonly<Record<CallState, string>> = {
  waiting: 'No request is under way: the call waits for its turn, or until the provider may be asked again.',
  sent: 'The request is on its way; the answer has not arrived.',
  answered: 'The provider answered.',
  quarantined: 'The provider answered, but its answer breaks the source contract. No decision can use it.',
  failed: 'There is no usable answer of the provider, and no further attempt is made.',
  refused: 'The provider refused the request or the credential.',
  outcome_unknown: 'The request may have reached the provider. It is not sent again: a person decides.',
}
type TestOutcome = Schemas['ProviderTest']['outcome']

const testTexts: Readonly<Record<TestOutcome, string>> = {
  answered: 'The provider answered',
  quarantined: 'The provider answered, but its answer breaks the source contract',
  refused: 'The provider refused the request or the credential',
  failed: 'There is no usable answer of the provider',
  waiting: 'The provider cannot be asked yet',
}
const unsentTestTexts: Readonly<Partial<Record<TestOutcome, string>>> = {
  quarantined: 'The stored answer breaks the source contract; the provider was not called',
  failed: 'No stored answer could be given; the provider was not called',
}

/** What a test call came to. In the other modes than live it says nothing about the connection. */
export function describeTest(outcome: TestOutcome, mode: ProviderMode): string {
  if (mode === 'live') return testTexts[outcome]
  if (outcome !== 'answered') return unsentTestTexts[outcome] ?? testTexts[outcome]
  const source = mode === 'recorded' ? 'recorded or example answers' : 'example answers of the manifest'
  return `Answered from the ${source}; the provider was not called`
}

/** The state of a call in a sentence that says who gave its answer. */
export function describeCallState(state: CallState, source: AnswerSource | null): string {
  if (source !== 'person') return callStateTexts[state]
  if (state === 'answered') return 'A person entered the answer.'
  if (state !== 'quarantined') return callStateTexts[state]
  return 'A person entered the answer, and it breaks the source contract. No decision can use it.'
}

export const callStateColors: Readonly<Record<CallState, string>> = {
  waiting: 'gray',
  sent: 'cyan',
  answered: 'teal',
  quarantined: 'orange',
  failed: 'red',
  refused: 'red',
  outcome_unknown: 'orange',
}
export const isOpenCall = ({ state }: { readonly state: CallState }): boolean => state === 'waiting' || state === 'sent'

export const breakerNames: Readonly<Record<ProviderStatus['breaker'], string>> = {
  closed: 'Calls allowed',
  half_open: 'Trying one call',
  open: 'Paused after failures',
}

const faultTexts: Readonly<Record<string, string>> = {
  egress_refused:
    'The host or address is not allowed, so nothing was sent. The operator lists hosts in PROBITY_EGRESS_HOSTS, and those with a private address, with their port, in PROBITY_EGRESS_PRIVATE.',
  overloaded: 'Too many outgoing requests at once.',
  dns_failed: 'The name of the host was not found.',
  connect_failed: 'No connection could be made.',
  connect_timeout: 'No connection was made in time.',
  proxy_failed: 'The proxy did not connect.',
  tls_invalid: 'The certificate of the host is not valid.',
  headers_timeout: 'The provider did not begin to answer in time.',
  idle_timeout: 'The provider stopped answering.',
  timeout: 'The provider did not answer in time.',
  connection_reset: 'The connection was closed.',
  response_invalid: 'The answer was not valid HTTP.',
  redirect_refused: 'The provider redirected the request, which is not followed.',
  too_large: 'The answer is larger than the manifest allows.',
  aborted: 'The request was ended by this service.',
  interrupted: 'The service stopped while the request was under way.',
  not_recorded: 'There is no recorded or example answer to this input.',
  rate_limited: 'The provider asks to be called less often.',
  unauthorized: 'The provider refused the credential or the request.',
  refused: 'The provider refused the request.',
  status_unexpected: 'The provider answered with a status that the manifest does not name.',
  media_type_unexpected: 'The answer has another format than the manifest says.',
  body_empty: 'The answer is empty.',
  budget_reached: 'The budget of the provider is used up.',
  credential_not_usable: 'Its credential cannot be used.',
  token_refused: 'The provider gave no access token for the credential.',
  token_endpoint_failed: 'The token endpoint of the provider did not answer.',
  token_unavailable: 'The token endpoint of the provider gave no access token.',
  token_response_invalid: 'The token endpoint of the provider gave no valid answer.',
}

const blockedTexts: Readonly<Record<string, string>> = {
  callProvider: 'asking a provider',
  repeatProviderCall: 'repeating a call',
  testProvider: 'testing a connection',
  verifyProviderCredential: 'verifying a credential',
  discoverServerTools: 'listing the tools of a server',
  startEvaluation: 'deciding on answers of a provider',
  createInvestigation: 'opening an investigation whose playbook asks the provider',
  createInvestigationStep: 'adding a step that asks the provider to an investigation',
  retryInvestigationStep: 'trying such a step again',
  retryInvestigationSteps: 'going on with such steps',
  settleInvestigationStep: 'settling such a step',
}

/** What an operation that answers 424 does. */
export const describeBlocked = (operation: string): string =>
  blockedTexts[operation] ?? formatOperation(operation).toLowerCase()

/** `api_key` → `API key`. */
export const formatMember = (name: string): string =>
  toSentence(name).replaceAll(/\b(api|id|url|pem)\b/gi, (word) => word.toUpperCase())

/** A fault word in a sentence; words without one are shown as they are. */
export function describeFault(fault: string): string {
  const text = faultTexts[fault]
  if (text !== undefined) return text
  // What kept the token endpoint from answering is called like what keeps the provider from it.
  const cause = fault.startsWith('token_') ? faultTexts[fault.slice('token_'.length)] : undefined
  return cause === undefined
    ? `${toSentence(fault)}.`
    : `No access token could be asked for at the token endpoint: ${cause}`
}

interface CallFailure {
  readonly capability: string
  readonly provider_key: string
  readonly fault: string
}

/** The parts of the sentence in which a job says that a call of a provider had no answer; null for any other. */
export function parseCallFailure(sentence: string): CallFailure | null {
  const said = /^The call of (\S+) at (\S+) ended without an answer: ([a-z_]+)(?: at page \d+)?\.$/.exec(sentence)
  const [, capability, provider_key, fault] = said ?? []
  return capability && provider_key && fault ? { capability, provider_key, fault } : null
}

/** Used share of a limit in percent, at most 100; null without a limit. */
export function toPercentUsed(used: number | string, limit: number | string | null): number | null {
  if (limit === null || Number(limit) <= 0) return null
  return Math.min(100, (100 * Number(used)) / Number(limit))
}

/** From this share on a budget is shown as nearly used up. */
const NEARLY_USED = 80

export const getBudgetColor = (percent: number): string =>
  percent >= 100 ? 'red' : percent >= NEARLY_USED ? 'orange' : 'teal'

/** The sum of costs such as `0.40 EUR`, by currency; null where nothing was charged. */
export function sumCosts(costs: readonly (string | null)[]): string | null {
  const sums = new Map<string, number>()
  for (const cost of costs) {
    const [amount = '', currency = ''] = (cost ?? '').split(' ')
    if (currency !== '') sums.set(currency, (sums.get(currency) ?? 0) + Math.round(Number(amount) * 100))
  }
  if (sums.size === 0) return null
  return [...sums].map(([currency, minor]) => `${(minor / 100).toFixed(2)} ${currency}`).join(', ')
}
