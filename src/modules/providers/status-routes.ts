/** How a provider is used and how it is doing: mode, state of its limits, and a test call. */

import { everyone } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { Route } from '#kernel/route.ts'
import { documentStore, resolver } from '#modules/definitions/index.ts'
import { credentialStore, findReadiness, PROVIDER_FAMILY } from '#modules/provider-credentials/index.ts'
import { listCredentialMembers } from '#provider/credential-members.ts'
import { formatMinor } from './call-view.ts'
import { getCurrency, getLimits } from './capability.ts'
import { expectExecutable, listRefusals } from './expect-executable.ts'
import { findLastAnswerTime, findLastFault, findProviderState, listNewestCalls } from './limits/queries.ts'
import { getBreakerState } from './limits/send-gate.ts'
import { EMPTY_STATE, readVisibleState } from './limits/visible-state.ts'
import { countInFlight } from './queries.ts'
import { ModeChange, ProviderModeView, ProviderParams, ProviderStatus, TestReply, TestRequest } from './schema.ts'
import { getReadyProvider } from './settle-call.ts'
import { getTestRequest, runTestCall, type TestResult } from './test-call.ts'

/** How far back a call in another mode than live is looked for. */
const NEWEST_CALLS = 100

const assertProvider = async (tx: Tx, provider_key: string) =>
  assertFound(await documentStore.findDefinition(tx, PROVIDER_FAMILY, provider_key))

async function getMode(kernel: Capabilities<'forced_provider_mode'>, tx: Tx, provider_key: string) {
  const [setting] = await credentialStore.listProviderSettings(tx, [provider_key])
  const forced = kernel.forced_provider_mode
  return {
    provider_key,
    mode: forced ?? setting?.mode ?? ('live' as const),
    environment: setting?.environment ?? ('live' as const),
    forced: forced !== null,
    reason: setting?.reason ?? null,
    updated_at: setting?.updated_at ?? null,
    updated_by: setting?.updated_by ?? null,
    revision: setting?.revision ?? 1,
  }
}

export const statusRoutes: readonly Route[] = [
  tenantRoute('GET /providers/:provider_key/status', {
    id: 'getProviderStatus',
    summary: 'State of a provider: breaker, rate, budget, credential and last fault',
    description:
      'Counts calls that I may see. Those of a restricted case use up the same limits and show only to its people.',
    roles: everyone,
    tx: 'read',
    uses: ['caches', 'forced_provider_mode', 'plugin_policy', 'threads'],
    params: ProviderParams,
    reply: [200, ProviderStatus],
    problems: ['not_found', 'nothing_in_force', 'content_corrupt'],
  }).handle(async ({ tx, params: { provider_key }, kernel }) => {
    await assertProvider(tx, provider_key)
    await resolver.resolveVersions(tx, [provider_key], {}, PROVIDER_FAMILY)
    const readiness = assertFound((await findReadiness(kernel, tx, [provider_key])).get(provider_key))
    const { provider } = readiness
    const limits = getLimits(provider.manifest)
    const state = await findProviderState(tx, provider_key)
    const last_fault = await findLastFault(tx, provider_key)
    const calls = await listNewestCalls(tx, provider_key, NEWEST_CALLS)
    const [newest] = calls
    const now_ms = state?.now_ms ?? Date.now()
    const seen = await readVisibleState(kernel, tx, provider_key, { state, limits, now_ms })
    return {
      provider_key,
      version: provider.version,
      kind: (provider.manifest['kind'] ?? 'http') as 'http' | 'builtin' | 'mcp' | 'plugin',
      mode: provider.mode,
      environment: provider.environment,
      credential_members: listCredentialMembers(provider.manifest),
      gap: readiness.gap?.reason ?? null,
      refused: await listRefusals(kernel, tx, provider),
      breaker: getBreakerState({ ...EMPTY_STATE, ...seen }, limits, now_ms),
      open_until: seen.open_until_ms && seen.open_until_ms > now_ms ? new Date(seen.open_until_ms).toISOString() : null,
      in_flight: await countInFlight(tx, provider_key),
      rate_available: seen.rate_tokens === null ? null : Math.max(0, Math.floor(seen.rate_tokens)),
      calls_today: seen.calls_of_day,
      calls_per_day: limits.calls_per_day,
      spend_this_month: formatMinor(seen.spend_of_month_minor),
      spend_per_month: limits.spend_per_month_minor === null ? null : formatMinor(limits.spend_per_month_minor),
      currency: getCurrency(provider.manifest),
      last_call_at: newest?.created_at ?? null,
      last_call_mode: newest?.mode ?? null,
      last_test_call_at: calls.find(({ mode }) => mode !== 'live')?.created_at ?? null,
      last_fault: last_fault?.fault ?? null,
      last_fault_at: last_fault?.ended_at ?? null,
      last_answer_at: await findLastAnswerTime(tx, provider_key),
    }
  }),

  tenantRoute('GET /providers/:provider_key/mode', {
    id: 'getProviderMode',
    summary: 'Whether calls go to the provider, to its recorded answers or to fixtures',
    roles: everyone,
    tx: 'read',
    uses: ['forced_provider_mode'],
    params: ProviderParams,
    reply: [200, ProviderModeView],
    revisioned: true,
    problems: ['not_found'],
  }).handle(async ({ tx, params: { provider_key }, kernel }) => {
    await assertProvider(tx, provider_key)
    return getMode(kernel, tx, provider_key)
  }),

  tenantRoute('PUT /providers/:provider_key/mode', {
    id: 'updateProviderMode',
    summary: 'Call the provider live, from its recorded answers or from fixtures',
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['forced_provider_mode'],
    params: ProviderParams,
    body: ModeChange,
    reply: [200, ProviderModeView],
    revisioned: true,
    governed: {
      action: 'provider-mode',
      head: async (tx, params) => {
        const [setting] = await credentialStore.listProviderSettings(tx, [params['provider_key'] as string])
        return setting ? String(setting.revision) : null
      },
    },
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params, body, kernel, audit } = input
    const { provider_key } = params
    await assertProvider(tx, provider_key)
    const before = await getMode(kernel, tx, provider_key)
    assertRevision(before.revision, input)
    const { mode, environment = 'live', reason } = body
    await credentialStore.upsertProviderSetting(tx, { provider_key, mode, environment, reason })
    audit.recordDiff({ mode: before.mode, environment: before.environment }, { mode, environment, reason })
    return getMode(kernel, tx, provider_key)
  }),

  tenantRoute('POST /providers/:provider_key/test', {
    id: 'testProvider',
    summary: 'Call the provider once, now, with the test input of its manifest',
    description: 'A refusal or failure of the provider is a result of the test: the answer is 200 and says so.',
    roles: ['tenant_admin', 'policy_editor'],
    tx: 'self',
    uses: [
      'caches',
      'encryption',
      'egress',
      'forced_provider_mode',
      'log',
      'metrics',
      'plugin_policy',
      'threads',
      'transactions',
    ],
    params: ProviderParams,
    body: TestRequest,
    reply: [200, TestReply],
    needs: 'provider',
    executes: 'plugin',
    runs_plugins_of: ['provider'],
    problems: [
      'not_found',
      'nothing_in_force',
      'conflict',
      'budget_reached',
      'provider_limit_reached',
      'content_corrupt',
    ],
  }).handle(async ({ read, findSettled, settle, request_key, params, body, kernel, actor, request }) => {
    const fingerprint = JSON.stringify([params, body])
    const earlier = await findSettled<TestResult>(fingerprint)
    if (earlier) return earlier
    const provider = await read(async (tx) => {
      const ready = await getReadyProvider(kernel, tx, params.provider_key, (found) => getTestRequest(found, body))
      await expectExecutable(kernel, tx, ready, getTestRequest(ready, body))
      return ready
    })
    const result = await runTestCall({ kernel, actor, signal: request.signal, request_key }, provider, body)
    return settle(fingerprint, async () => result)
  }),
]
