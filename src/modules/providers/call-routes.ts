/** Calls of providers: made as jobs, listed, read, and settled by a person where the outcome is unknown. */
import { noteRestriction } from '#kernel/audit/restricted-object.ts'
import { expectPerson } from '#kernel/auth/principal.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { JobView } from '#kernel/job/schema.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { type Route, streamReply } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { documentStore, resolver } from '#modules/definitions/index.ts'
import { PROVIDER_FAMILY, type ReadyProvider } from '#modules/provider-credentials/index.ts'
import { payloadStore } from '#modules/source-contracts/index.ts'
import { findSubject } from '#modules/subjects/index.ts'
import { PROVIDER_CALL } from './call-job.ts'
import { getCallItems, getCallView } from './call-view.ts'
import { type CallRequest, createCall, expectRenderable, openInput, openRequest } from './create-call.ts'
import { expectExecutable } from './expect-executable.ts'
import { findCall, listCalls, listResults } from './queries.ts'
import {
  CallParams,
  CallQuery,
  CallRepeat,
  ManualAnswer,
  NewCall,
  ProviderCall,
  ProviderCallPage,
  ProviderCallRequest,
  ProviderParams,
} from './schema.ts'
import { expectUnknownOutcome, getReadyProvider, prepareRepeat, storeEnteredAnswer } from './settle-call.ts'

const callers = ['analyst', 'compliance_officer', 'service'] as const
const settlers = ['analyst', 'compliance_officer'] as const

async function startCall(
  kernel: Capabilities<'encryption' | 'jobs'>,
  tx: Tx,
  provider: ReadyProvider,
  request: CallRequest,
) {
  const job_id = uuidv7()
  const { call_id, restriction_id } = await createCall(kernel, tx, provider, { ...request, job_id })
  const resource = `/api/providers/calls/${call_id}` as const
  const job = await kernel.jobs.enqueue(tx, {
    job_id,
    kind: PROVIDER_CALL,
    payload: { call_id },
    resource,
    restriction_id,
  })
  return { call_id, job }
}

export const callRoutes: readonly Route[] = [
  tenantRoute('POST /providers/:provider_key/calls', {
    id: 'callProvider',
    summary: 'Ask a provider, as a job',
    description:
      'The job waits where the provider is down, says when to ask again, or where its rate or breaker does not allow a request yet.',
    roles: callers,
    tx: 'write',
    uses: ['caches', 'encryption', 'forced_provider_mode', 'jobs', 'plugin_policy', 'threads'],
    params: ProviderParams,
    body: NewCall,
    reply: [202, JobView],
    starts: PROVIDER_CALL,
    needs: 'provider',
    executes: 'plugin',
    runs_plugins_of: ['provider'],
    problems: ['not_found', 'nothing_in_force', 'conflict', 'content_corrupt'],
  }).handle(async ({ tx, params, body, kernel, audit }) => {
    const { capability, input, subject_id = null } = body
    assertFound(await documentStore.findDefinition(tx, PROVIDER_FAMILY, params.provider_key))
    await resolver.resolveVersions(tx, [params.provider_key], {}, PROVIDER_FAMILY)
    if (subject_id !== null) assertReferenced(await findSubject(tx, subject_id), 'subject with this id')
    const request = { capability, input, subject_id }
    const provider = await getReadyProvider(kernel, tx, params.provider_key, (found) =>
      expectRenderable(found, request),
    )
    await expectExecutable(kernel, tx, provider, request)
    const { call_id, job } = await startCall(kernel, tx, provider, request)
    audit.recordDiff(null, { call_id, capability, mode: provider.mode, provider_version: provider.version })
    return job
  }),

  tenantRoute('GET /providers/calls', {
    id: 'listProviderCalls',
    summary: 'Calls of all providers, newest first, with their states',
    roles: ['analyst', 'compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['cursors'],
    query: CallQuery,
    reply: [200, ProviderCallPage],
  }).handle(async (input) => {
    const { provider_key = null, capability = null, subject_id = null } = input.query
    const { state = null, from = null, to = null } = input.query
    const filter = { provider_key, capability, subject_id, state, from, to }
    const { items, next_cursor } = await paginate(
      input,
      'listProviderCalls',
      ['created_at', 'call_id'],
      (after, count) => listCalls(input.tx, filter, after, count),
    )
    return { items: await getCallItems(input.tx, items), next_cursor }
  }),

  tenantRoute('GET /providers/calls/:call_id', {
    id: 'getProviderCall',
    summary: 'One call: every attempt, what it cost, and what came back, without values',
    roles: ['analyst', 'compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['caches'],
    params: CallParams,
    reply: [200, ProviderCall],
    audited: true,
    problems: ['not_found', 'content_corrupt'],
  }).handle(async (input) => {
    const view = await getCallView(input.kernel, input.tx, input.params.call_id)
    await noteRestriction(input, 'provider_call', view.call_id)
    return view
  }),

  tenantRoute('GET /providers/calls/:call_id/request', {
    id: 'getProviderCallRequest',
    summary: 'What a call asked for: its input, and the request without credentials',
    description:
      'For those who settle a call whose outcome is unknown. Erased with the subject whom the call is about.',
    roles: settlers,
    tx: 'read',
    uses: ['encryption'],
    params: CallParams,
    reply: [200, ProviderCallRequest],
    audited: true,
    problems: ['not_found', 'erased', 'content_corrupt'],
  }).handle(async (input) => {
    const { tx, params, kernel } = input
    const call = assertFound(await findCall(tx, params.call_id))
    await noteRestriction(input, 'provider_call', call.call_id)
    const { call_id, capability, subject_id } = call
    const asked = { input: await openInput(kernel, tx, call), request: await openRequest(kernel, tx, call) }
    return { call_id, capability, subject_id, ...asked }
  }),

  tenantRoute('GET /providers/calls/:call_id/content', {
    id: 'getProviderCallContent',
    summary: 'The exact bytes that came back',
    roles: ['compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['encryption'],
    params: CallParams,
    reply: [200, streamReply('application/octet-stream', 'The bytes as the provider sent them.')],
    audited: true,
    problems: ['not_found', 'transition_not_allowed', 'content_corrupt'],
  }).handle(async (input) => {
    const { tx, params, kernel } = input
    const call = assertFound(await findCall(tx, params.call_id))
    await noteRestriction(input, 'provider_call', call.call_id)
    const [result] = await listResults(tx, [call.call_id])
    if (!result) fail('transition_not_allowed', 'The call has no answer.')
    const [stored] = await payloadStore.findStoredPayloads(tx, [result.payload_id])
    const payload = await payloadStore.openPayload(kernel, tx, assertFound(stored))
    if (!payload) fail('transition_not_allowed', payloadStore.describeUnopened(stored))
    const { bytes } = payload
    return Object.assign(
      (async function* () {
        yield bytes
      })(),
      { file_name: `${call.call_id}.bin` },
    )
  }),

  tenantRoute('POST /providers/calls/:call_id/repeat', {
    id: 'repeatProviderCall',
    summary: 'Make a call with an unknown outcome again; the provider may charge for both',
    roles: settlers,
    tx: 'write',
    uses: ['caches', 'encryption', 'forced_provider_mode', 'jobs', 'plugin_policy', 'threads'],
    params: CallParams,
    body: CallRepeat,
    reply: [202, JobView],
    starts: PROVIDER_CALL,
    needs: 'provider',
    executes: 'plugin',
    runs_plugins_of: ['provider'],
    problems: ['not_found', 'nothing_in_force', 'transition_not_allowed', 'conflict', 'content_corrupt'],
  }).handle(async ({ tx, params, body, kernel, audit }) => {
    const loaded = await expectUnknownOutcome(kernel, tx, params.call_id)
    await noteRestriction({ tx, audit }, 'provider_call', loaded.call.call_id)
    const { provider, request } = await prepareRepeat(kernel, tx, loaded)
    const { call_id, job } = await startCall(kernel, tx, provider, request)
    audit.recordDiff({ repeated_by: null }, { repeated_by: call_id })
    audit.recordText('reason', body.reason)
    return job
  }),

  tenantRoute('POST /providers/calls/:call_id/answer', {
    id: 'answerProviderCall',
    summary: 'Enter the answer to a call with an unknown outcome by hand',
    description:
      'For people only. The answer says who entered it and why. One that the source contract refuses is answered by 422 with each place, ' +
      'and nothing is stored; `is_unusable` keeps it in quarantine where the provider really answered so.',
    roles: settlers,
    tx: 'write',
    uses: ['caches', 'encryption', 'jobs', 'threads'],
    params: CallParams,
    body: ManualAnswer,
    reply: [202, JobView],
    starts: PROVIDER_CALL,
    problems: ['not_found', 'conflict', 'transition_not_allowed', 'person_required', 'content_corrupt'],
  }).handle(async ({ tx, params, body, kernel, actor, audit }) => {
    expectPerson(actor.principal)
    const loaded = await expectUnknownOutcome(kernel, tx, params.call_id)
    const { call_id } = loaded.call
    const { restriction_id } = await noteRestriction({ tx, audit }, 'provider_call', call_id)
    await storeEnteredAnswer(kernel, tx, loaded, { ...body, pointer: '#' })
    audit.recordDiff({ answered_by_hand: false }, { answered_by_hand: true })
    audit.recordText('reason', body.reason)
    return kernel.jobs.enqueue(tx, {
      kind: PROVIDER_CALL,
      payload: { call_id },
      resource: `/api/providers/calls/${call_id}`,
      restriction_id,
    })
  }),
]
