/** Verifies a credential with one test call, before or after its version is activated. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { closed, Id } from '#kernel/schema.ts'
import { credentialStore, findReadiness } from '#modules/provider-credentials/index.ts'
import { expectExecutable } from './expect-executable.ts'
import { TestReply, VerifyRequest } from './schema.ts'
import { getTestRequest, runTestCall, type TestResult } from './test-call.ts'
import { isToolServer, verifyServer } from './verify-server.ts'

export const verifyRoutes: readonly Route[] = [
  tenantRoute('POST /provider-credentials/:credential_id/verify', {
    id: 'verifyProviderCredential',
    summary: 'Make the test call of the provider with this credential',
    description:
      'Names a staged version to try it before it is activated. A refusal is a result: the answer is 200. The tools of a tool server are listed instead of a test call.',
    roles: ['tenant_admin'],
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
    params: closed({ credential_id: Id() }),
    body: VerifyRequest,
    reply: [200, TestReply],
    needs: 'provider',
    executes: 'plugin',
    runs_plugins_of: ['provider'],
    problems: [
      'not_found',
      'nothing_in_force',
      'conflict',
      'transition_not_allowed',
      'budget_reached',
      'provider_limit_reached',
      'content_corrupt',
    ],
  }).handle(async ({ read, findSettled, settle, request_key, params, body, kernel, actor, request }) => {
    const fingerprint = JSON.stringify([params, body])
    const earlier = await findSettled<TestResult>(fingerprint)
    if (earlier) return earlier
    const { provider, credential } = await read(async (tx) => {
      const stored = assertFound(await credentialStore.findCredential(tx, params.credential_id))
      if (kernel.forced_provider_mode) fail('conflict', 'No provider is called live in this installation.')
      if (stored.state === 'destroyed') fail('transition_not_allowed', 'The credential is destroyed.')
      const version = await credentialStore.findVersionToVerify(tx, stored.credential_id, body.version ?? null)
      const readiness = (await findReadiness(kernel, tx, [stored.provider_key])).get(stored.provider_key)
      if (!readiness) return fail('nothing_in_force', { members: { provider_key: stored.provider_key } })
      if (!version && body.version !== undefined) {
        assertFound(await credentialStore.findCredentialVersion(tx, stored.credential_id, body.version))
        fail('transition_not_allowed', `Version ${body.version} is retired or destroyed.`)
      }
      if (!version) return fail('provider_credential_missing', { members: { missing: [readiness.gap] } })
      const { credential_id, environment } = stored
      const provider = { ...readiness.provider, mode: 'live' as const, environment, credential: null }
      if (!isToolServer(stored)) await expectExecutable(kernel, tx, provider, getTestRequest(provider, {}))
      return { provider, credential: { credential_id, version: version.version } }
    })
    const context = { kernel, actor, signal: request.signal, request_key }
    const result = isToolServer(provider)
      ? await verifyServer(context, provider, credential)
      : await runTestCall(context, provider, {}, credential)
    return settle(fingerprint, async (tx) => {
      if (result.outcome === 'answered' || result.outcome === 'quarantined') {
        await credentialStore.updateVersionVerified(tx, credential.credential_id, credential.version)
      }
      return result
    })
  }),
]
