/** Credentials of providers: stored, activated, disabled and destroyed; their values are never read back. */
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { Route } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { getCredentialViews } from './credential-view.ts'
import { listBlocked, listGaps } from './gaps.ts'
import { expectCredentialOwner } from './provider-manifest.ts'
import {
  destroySecrets,
  findCredential,
  insertCredential,
  listAccesses,
  listCredentials,
  lockCredential,
  lockProviderCredentials,
  removeTokens,
  updateCredentialState,
} from './queries.ts'
import {
  AccessQuery,
  CredentialAccessPage,
  CredentialGaps,
  CredentialParams,
  CredentialQuery,
  CredentialReason,
  DestroyQuery,
  NewProviderCredential,
  ProviderCredential,
  ProviderCredentialPage,
} from './schema.ts'

export const CREDENTIALS_ACTION = 'credentials'
export const credentialReaders = ['tenant_admin', 'compliance_officer', 'auditor'] as const

/** What a proposal is bound to: any change of the credential or its versions since makes the approval void. */
export const getCredentialHead = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
  const credential = await findCredential(tx, params['credential_id'] as string)
  return credential ? String(credential.revision) : null
}

export const credentialRoutes: readonly Route[] = [
  tenantRoute('GET /provider-credentials', {
    id: 'listProviderCredentials',
    summary: 'List credentials of providers, with what keeps each from being used',
    roles: credentialReaders,
    tx: 'read',
    uses: ['cursors', 'caches'],
    query: CredentialQuery,
    reply: [200, ProviderCredentialPage],
    problems: ['content_corrupt'],
  }).handle(async (input) => {
    const { provider_key = null, environment = null, state = null } = input.query
    const { items, next_cursor } = await paginate(
      input,
      'listProviderCredentials',
      ['created_at', 'credential_id'],
      (after, count) => listCredentials(input.tx, { provider_key, environment, state }, after, count),
    )
    return { items: await getCredentialViews(input.kernel, input.tx, items), next_cursor }
  }),

  tenantRoute('POST /provider-credentials', {
    id: 'createProviderCredential',
    summary: 'Create a credential for a provider, without values',
    description:
      'The first credential of a provider and environment is enabled. A further one is disabled until it is enabled, so that it ' +
      'is never ambiguous which one a call uses.',
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['caches'],
    body: NewProviderCredential,
    reply: [201, ProviderCredential],
    revisioned: true,
    location: ({ credential_id }) => `/provider-credentials/${credential_id}`,
    links: { getProviderCredential: { credential_id: 'credential_id' } },
    problems: ['conflict', 'duplicate', 'content_corrupt'],
  }).handle(async ({ tx, body, kernel, audit }) => {
    const { provider_key, label, environment = 'live' } = body
    await expectCredentialOwner(tx, provider_key)
    await lockProviderCredentials(tx, provider_key)
    const created = assertFound(
      await insertCredential(tx, { credential_id: uuidv7(), provider_key, label, environment }),
    )
    audit.recordDiff(null, { provider_key, label, environment, state: created.state })
    return assertFound((await getCredentialViews(kernel, tx, [created]))[0])
  }),

  tenantRoute('GET /provider-credentials/gaps', {
    id: 'listCredentialGaps',
    summary: 'Providers that cannot be called for want of a credential, and what that blocks',
    tool: {
      name: 'list_gaps',
      title: 'List credential gaps',
      description:
        'Providers that cannot be called for want of a credential, and what that blocks. Never returns credentials.',
      effect: 'read',
    },
    roles: ['tenant_admin', 'policy_editor', 'compliance_officer'],
    tx: 'read',
    uses: ['caches', 'forced_provider_mode', 'routes', 'modules'],
    reply: [200, CredentialGaps],
    problems: ['content_corrupt'],
  }).handle(async ({ tx, kernel }) => ({
    items: await listBlocked(kernel, tx, await listGaps(kernel, tx)),
    operations: kernel.routes.filter(({ needs }) => needs === 'provider').map(({ id }) => id),
  })),

  tenantRoute('GET /provider-credentials/:credential_id', {
    id: 'getProviderCredential',
    summary: 'One credential: its state and versions in use, never its values',
    roles: credentialReaders,
    tx: 'read',
    uses: ['caches'],
    params: CredentialParams,
    reply: [200, ProviderCredential],
    revisioned: true,
    problems: ['not_found', 'content_corrupt'],
  }).handle(async ({ tx, params, kernel }) => {
    const credential = assertFound(await findCredential(tx, params.credential_id))
    return assertFound((await getCredentialViews(kernel, tx, [credential]))[0])
  }),

  tenantRoute('POST /provider-credentials/:credential_id/disable', {
    id: 'disableProviderCredential',
    summary: 'Stop using a credential at once',
    description:
      'Never waits for approval. Calls that need it answer 424, and jobs wait until it is enabled again. Only a verification, which a ' +
      'person asks for, still uses it.',
    roles: ['tenant_admin', 'compliance_officer'],
    tx: 'write',
    uses: ['caches'],
    params: CredentialParams,
    body: CredentialReason,
    reply: [200, ProviderCredential],
    revisioned: true,
    problems: ['not_found', 'transition_not_allowed', 'content_corrupt'],
  }).handle(async (input) => {
    const { tx, params, body, kernel, audit } = input
    const credential = assertFound(await lockCredential(tx, params.credential_id))
    assertRevision(credential.revision, input)
    if (credential.state !== 'enabled') fail('transition_not_allowed', `The credential is ${credential.state}.`)
    const changed = assertFound(await updateCredentialState(tx, credential.credential_id, 'disabled'))
    audit.recordDiff({ state: credential.state }, { state: changed.state, reason: body.reason })
    return assertFound((await getCredentialViews(kernel, tx, [changed]))[0])
  }),

  tenantRoute('POST /provider-credentials/:credential_id/enable', {
    id: 'enableProviderCredential',
    summary: 'Use a disabled credential again',
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['caches'],
    params: CredentialParams,
    body: CredentialReason,
    reply: [200, ProviderCredential],
    revisioned: true,
    governed: { action: CREDENTIALS_ACTION, head: getCredentialHead },
    problems: ['not_found', 'transition_not_allowed', 'conflict', 'content_corrupt'],
  }).handle(async (input) => {
    const { tx, params, body, kernel, audit } = input
    const credential = assertFound(await lockCredential(tx, params.credential_id))
    assertRevision(credential.revision, input)
    if (credential.state !== 'disabled') fail('transition_not_allowed', `The credential is ${credential.state}.`)
    const changed = assertFound(await updateCredentialState(tx, credential.credential_id, 'enabled'))
    audit.recordDiff({ state: credential.state }, { state: changed.state, reason: body.reason })
    return assertFound((await getCredentialViews(kernel, tx, [changed]))[0])
  }),

  tenantRoute('DELETE /provider-credentials/:credential_id', {
    id: 'deleteProviderCredential',
    summary: 'Destroy a credential and the values of all its versions',
    description: 'Cannot be undone. The credential, its versions without values and its access log stay.',
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['caches'],
    params: CredentialParams,
    query: DestroyQuery,
    reply: [200, ProviderCredential],
    governed: { action: CREDENTIALS_ACTION, head: getCredentialHead },
    problems: ['not_found', 'transition_not_allowed', 'content_corrupt'],
  }).handle(async ({ tx, params, query, kernel, audit }) => {
    const credential = assertFound(await lockCredential(tx, params.credential_id))
    if (credential.state === 'destroyed') fail('transition_not_allowed', 'The credential is destroyed.')
    await removeTokens(tx, await destroySecrets(tx, credential.credential_id))
    const changed = assertFound(await updateCredentialState(tx, credential.credential_id, 'destroyed'))
    audit.recordDiff({ state: credential.state }, { state: changed.state, reason: query.reason })
    return assertFound((await getCredentialViews(kernel, tx, [changed]))[0])
  }),

  tenantRoute('GET /provider-credentials/:credential_id/access-log', {
    id: 'listCredentialAccesses',
    summary: 'Every time the values were opened: by whom, which version, and what for; newest first',
    roles: ['tenant_admin', 'auditor'],
    tx: 'read',
    uses: ['cursors'],
    params: CredentialParams,
    query: AccessQuery,
    reply: [200, CredentialAccessPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { credential_id } = assertFound(await findCredential(input.tx, input.params.credential_id))
    return paginate(input, `listCredentialAccesses ${credential_id}`, ['accessed_at', 'access_id'], (after, count) =>
      listAccesses(input.tx, credential_id, after, count),
    )
  }),
]
