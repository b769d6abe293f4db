/** People, roles and machine keys of the tenant. */
import { mintApiKey } from '#kernel/auth/api-key.ts'
import { lockMlros } from '#kernel/auth/queries.ts'
import { conflictingRoles, everyone, roleDescriptions, roles } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { ApprovalRule } from '#kernel/request/queries.ts'
import { assertRevision } from '#kernel/revision.ts'
import type { GovernedChange } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { absenceManagers, assertMaySetAbsence, toAvailability } from './absence.ts'
import {
  countOtherAdministrators,
  findApiKey,
  findApiKeyName,
  findUser,
  findUserName,
  insertApiKey,
  insertUser,
  listApiKeys,
  listApiKeyUsage,
  listUsers,
  lockApiKey,
  lockUser,
  type UserRow,
  updateApiKeyRevoked,
  updateApiKeySecret,
  updateUser,
  updateUserAvailability,
  updateUserRoles,
  updateUserState,
} from './queries.ts'
import { assertKeyHolder, needsApproval, ROLES_ACTION } from './role-approval.ts'
import { findRoleConflicts } from './role-conflicts.ts'
import {
  ApiKeyName,
  ApiKeyPage,
  ApiKeyParams,
  ApiKeyQuery,
  ApiKeyUsage,
  ApiKeyWithSecret,
  Availability,
  AvailabilityChange,
  KeyRotation,
  NewApiKey,
  RoleCatalogue,
  RolesChange,
  UsageQuery,
  User,
  UserChange,
  UserInvitation,
  UserName,
  UserPage,
  UserParams,
  UserQuery,
} from './schema.ts'

const toUserView = (user: UserRow) => Object.assign(user, { conflicts: findRoleConflicts(user.roles) })

async function assertOtherAdministrator(tx: Tx, user: UserRow): Promise<void> {
  if (!user.roles.includes('tenant_admin') || user.state === 'inactive') return
  if ((await countOtherAdministrators(tx, user.user_id)) === 0) fail('last_administrator')
}

const getUserHead = async (tx: Tx, params: Record<string, string>): Promise<string | null> => {
  const user = await findUser(tx, params['user_id'] as string)
  return user ? String(user.revision) : null
}

const restoresRoles = async (tx: Tx, rule: ApprovalRule, { params }: GovernedChange): Promise<boolean> => {
  const user = await findUser(tx, (params as { user_id: string }).user_id)
  return user?.state === 'inactive' && user.roles.length > 0 && needsApproval(tx, rule)
}

/** A proposal to create something has no current state to be bound to. */
const getNoHead = async () => null

const hasNoRoles = (body: unknown) => (body as { roles: readonly string[] }).roles.length === 0

const PENDING_ID_NOTE = 'Where it waits for approval, it will have the id of the change request.'

export const accessRoutes = [
  tenantRoute('GET /users', {
    id: 'listUsers',
    summary: 'List users with roles and availability',
    roles: ['tenant_admin', 'compliance_officer', 'auditor'],
    tx: 'one',
    uses: ['cursors'],
    query: UserQuery,
    reply: [200, UserPage],
  }).handle(async (input) => {
    const { state = null, role = null } = input.query
    const users = await paginate(input, 'listUsers', ['created_at', 'user_id'], (after, count) =>
      listUsers(input.tx, { state, role }, after, count),
    )
    return { ...users, items: users.items.map(toUserView) }
  }),

  tenantRoute('POST /users', {
    id: 'createUser',
    summary: 'Invite a user',
    description: `Needs no approval without roles, nor while the tenant is being set up and nobody else could approve. ${PENDING_ID_NOTE}`,
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['issuer'],
    body: UserInvitation,
    reply: [201, User],
    revisioned: true,
    location: (user) => `/users/${user.user_id}`,
    links: { getUser: { user_id: 'user_id' } },
    governed: { action: ROLES_ACTION, head: getNoHead, skipApprovalIf: hasNoRoles, requiresApproval: needsApproval },
    problems: ['duplicate'],
  }).handle(async ({ tx, body, actor, kernel, audit, request }) => {
    const user_id = request.change_request_id ?? uuidv7()
    const user = await insertUser(tx, {
      user_id,
      issuer: kernel.issuer.issuer,
      subject: `user:${user_id}`,
      email: body.email.toLowerCase(),
      name: body.name,
      team: body.team ?? null,
      locale: body.locale ?? null,
      roles: body.roles,
      origin: 'built_in',
      state: 'invited',
      created_by: request.requested_by ?? actor.principal,
    })
    audit.recordDiff(null, { roles: body.roles })
    audit.recordPreview(null, { name: body.name, email: body.email, team: body.team ?? null, roles: body.roles })
    return toUserView(assertFound(user))
  }),

  tenantRoute('GET /users/:user_id', {
    id: 'getUser',
    summary: 'One user',
    roles: ['tenant_admin', 'compliance_officer', 'auditor'],
    tx: 'one',
    params: UserParams,
    reply: [200, User],
    revisioned: true,
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => toUserView(assertFound(await findUser(tx, params.user_id)))),

  tenantRoute('GET /users/:user_id/name', {
    id: 'getUserName',
    summary: 'The name of a user, for readers of what they did',
    roles: ['viewer', 'analyst', 'policy_editor', 'compliance_officer', 'auditor', 'tenant_admin'],
    tx: 'one',
    params: UserParams,
    reply: [200, UserName],
    problems: ['not_found'],
  }).handle(async ({ tx, params: { user_id } }) => assertFound(await findUserName(tx, user_id))),

  tenantRoute('PATCH /users/:user_id', {
    id: 'updateUser',
    summary: 'Change name, team or locale',
    roles: ['tenant_admin'],
    tx: 'write',
    params: UserParams,
    body: UserChange,
    reply: [200, User],
    revisioned: true,
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params, body } = input
    const user = assertFound(await lockUser(tx, params.user_id))
    assertRevision(user.revision, input)
    const { expected_revision: _, ...change } = body
    const changed = assertFound(await updateUser(tx, params.user_id, { ...user, ...change }))
    input.audit.recordHashes(user, changed)
    return toUserView(changed)
  }),

  tenantRoute('POST /users/:user_id/deactivate', {
    id: 'deactivateUser',
    summary: 'Remove access, keep history',
    description:
      'Tokens of the user stop working in every process within five seconds. Repeating it changes nothing. Ends a ' +
      'designation as MLRO, which the last one cannot lose, and the access to restrictions that somebody else has too.',
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['tenantStatusCache'],
    params: UserParams,
    reply: [200, User],
    revisioned: true,
    problems: ['not_found', 'last_administrator', 'transition_not_allowed'],
  }).handle(async (input) => {
    const mlros = await lockMlros(input.tx)
    const user = assertFound(await lockUser(input.tx, input.params.user_id))
    assertRevision(user.revision, input)
    if (user.state === 'inactive') return toUserView(user)
    await assertOtherAdministrator(input.tx, user)
    if (mlros.length === 1 && mlros[0]?.user_id === user.user_id)
      fail('transition_not_allowed', 'Designate another MLRO first: somebody must be able to see every restriction.')
    input.kernel.tenantStatusCache.invalidateOnCommit(input.tx)
    return toUserView(assertFound(await updateUserState(input.tx, user.user_id, 'inactive')))
  }),

  tenantRoute('POST /users/:user_id/reactivate', {
    id: 'reactivateUser',
    summary: 'Restore access',
    description: 'Restores the former roles. Needs no approval for a person without roles, or who still has access.',
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['tenantStatusCache'],
    params: UserParams,
    reply: [200, User],
    revisioned: true,
    governed: { action: ROLES_ACTION, head: getUserHead, requiresApproval: restoresRoles },
    problems: ['not_found'],
  }).handle(async (input) => {
    const user = assertFound(await lockUser(input.tx, input.params.user_id))
    assertRevision(user.revision, input)
    if (user.state !== 'inactive') return toUserView(user)
    input.kernel.tenantStatusCache.invalidateOnCommit(input.tx)
    input.audit.recordPreview({ access: 'deactivated', roles: [] }, { access: 'active', roles: user.roles })
    return toUserView(assertFound(await updateUserState(input.tx, user.user_id, 'active')))
  }),

  tenantRoute('PUT /users/:user_id/roles', {
    id: 'updateUserRoles',
    summary: 'Set the roles of a user',
    description:
      'Maker and checker on one person is flagged in `conflicts`. A role that is taken away no longer works in any process within ' +
      'five seconds; one that is given needs a new token.',
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['tenantStatusCache'],
    params: UserParams,
    body: RolesChange,
    reply: [200, User],
    revisioned: true,
    governed: { action: ROLES_ACTION, head: getUserHead },
    problems: ['not_found', 'last_administrator', 'transition_not_allowed'],
  }).handle(async (input) => {
    const { tx, params, body } = input
    const user = assertFound(await lockUser(tx, params.user_id))
    assertRevision(user.revision, input)
    if (user.origin === 'external') {
      fail('transition_not_allowed', 'The roles of this user come from its identity provider. Change them there.')
    }
    if (!body.roles.includes('tenant_admin')) await assertOtherAdministrator(tx, user)
    const changed = assertFound(await updateUserRoles(tx, user.user_id, body.roles))
    input.kernel.tenantStatusCache.invalidateOnCommit(tx)
    input.audit.recordDiff({ roles: user.roles }, { roles: changed.roles })
    return toUserView(changed)
  }),

  tenantRoute('PUT /users/:user_id/availability', {
    id: 'updateUserAvailability',
    summary: 'Out-of-office window; stops automatic assignment',
    description: 'An analyst sets only their own; a compliance officer and an administrator set that of others too.',
    roles: ['analyst', ...absenceManagers],
    tx: 'write',
    params: UserParams,
    body: AvailabilityChange,
    reply: [200, User],
    revisioned: true,
    problems: ['not_found', 'conflict', 'role_required'],
  }).handle(async (input) => {
    const { tx, params, body, actor } = input
    const user = assertFound(await lockUser(tx, params.user_id))
    assertMaySetAbsence(actor, user.user_id)
    assertRevision(user.revision, input)
    if ((body.away_from === null) !== (body.away_until === null)) {
      fail('conflict', 'Give both away_from and away_until, or null for both to end the window.')
    }
    const { away_from, away_until } = body
    const away_reason = away_from === null ? null : (body.away_reason ?? null)
    return toUserView(
      assertFound(await updateUserAvailability(tx, user.user_id, { away_from, away_until, away_reason })),
    )
  }),

  tenantRoute('GET /users/:user_id/availability', {
    id: 'getUserAvailability',
    summary: 'Whether somebody is out of office, and until when',
    roles: ['analyst', 'compliance_officer', 'tenant_admin', 'auditor'],
    tx: 'one',
    params: UserParams,
    reply: [200, Availability],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => {
    return toAvailability(assertFound(await findUser(tx, params.user_id)))
  }),

  tenantRoute('GET /roles', {
    id: 'listRoles',
    summary: 'Roles, what each may call, and segregation-of-duties conflicts',
    roles: everyone,
    tx: 'self',
    uses: ['routes'],
    reply: [200, RoleCatalogue],
  }).handle(async ({ kernel }) => ({
    items: roles.map((role) => ({
      role,
      description: roleDescriptions[role],
      operations: kernel.routes.filter((route) => route.roles.includes(role)).map((route) => route.id),
    })),
    conflicts: conflictingRoles.map(([one, two, reason]) => ({ roles: [one, two], reason })),
  })),

  tenantRoute('GET /api-keys', {
    id: 'listApiKeys',
    summary: 'List API keys: metadata and last use, never the secret',
    roles: ['tenant_admin', 'auditor'],
    tx: 'one',
    uses: ['cursors'],
    query: ApiKeyQuery,
    reply: [200, ApiKeyPage],
  }).handle(async (input) =>
    paginate(input, 'listApiKeys', ['created_at', 'key_id'], (after, count) =>
      listApiKeys(input.tx, input.query.state ?? null, after, count),
    ),
  ),

  tenantRoute('GET /api-keys/:key_id/name', {
    id: 'getApiKeyName',
    summary: 'The name of an API key, for readers of what it recorded',
    roles: ['viewer', 'analyst', 'policy_editor', 'compliance_officer', 'auditor', 'tenant_admin'],
    tx: 'one',
    params: ApiKeyParams,
    reply: [200, ApiKeyName],
    problems: ['not_found'],
  }).handle(async ({ tx, params: { key_id } }) => assertFound(await findApiKeyName(tx, key_id))),

  tenantRoute('POST /api-keys', {
    id: 'createApiKey',
    summary: 'Create a key; its secret is shown once',
    description:
      `It never waits while the tenant is being set up and has nobody else who could approve. ${PENDING_ID_NOTE} ` +
      'Nobody has seen the secret of a key that was approved: who asked for it calls `rotateApiKey` to get one.',
    roles: ['tenant_admin'],
    tx: 'write',
    body: NewApiKey,
    reply: [201, ApiKeyWithSecret],
    secret: true,
    links: { getApiKeyUsage: { key_id: 'key/key_id' } },
    governed: { action: ROLES_ACTION, head: getNoHead, requiresApproval: needsApproval },
  }).handle(async ({ tx, body, actor, audit, request }) => {
    const key_id = request.change_request_id ?? uuidv7()
    const minted = mintApiKey(actor.tenant_id, key_id)
    const key = await insertApiKey(tx, {
      key_id,
      name: body.name,
      roles: body.roles,
      secret_hash: minted.secret_hash,
      expires_in_days: body.expires_in_days ?? null,
      created_by: request.requested_by ?? actor.principal,
    })
    const made = assertFound(key)
    audit.recordDiff(null, { name: made.name, roles: made.roles, expires_at: made.expires_at })
    return { key: made, secret: minted.text }
  }),

  tenantRoute('POST /api-keys/:key_id/rotate', {
    id: 'rotateApiKey',
    summary: 'New secret, with an overlap during which the old one still works',
    description:
      'Where the approval policy asks for approvers of `roles`, only for who asked for the key, and for the key itself: ' +
      'anybody else would get its roles without approval.',
    roles: ['tenant_admin'],
    tx: 'write',
    params: ApiKeyParams,
    body: KeyRotation,
    reply: [200, ApiKeyWithSecret],
    secret: true,
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async ({ tx, params, body, actor }) => {
    const key = assertFound(await lockApiKey(tx, params.key_id))
    if (key.state !== 'active') fail('transition_not_allowed', 'The key is revoked. Create a new one.')
    await assertKeyHolder(tx, key)
    const minted = mintApiKey(actor.tenant_id, key.key_id)
    const rotated = await updateApiKeySecret(tx, key.key_id, minted.secret_hash, body.overlap_minutes)
    return { key: assertFound(rotated), secret: minted.text }
  }),

  tenantRoute('DELETE /api-keys/:key_id', {
    id: 'deleteApiKey',
    summary: 'Revoke a key now',
    description:
      'The key and every token made with it stop working in every process within five seconds. Its record stays.',
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['tenantStatusCache'],
    params: ApiKeyParams,
    reply: [204, null],
    problems: ['not_found'],
  }).handle(async ({ tx, params, kernel }) => {
    assertFound(await lockApiKey(tx, params.key_id))
    await updateApiKeyRevoked(tx, params.key_id)
    kernel.tenantStatusCache.invalidateOnCommit(tx)
    return undefined
  }),

  tenantRoute('GET /api-keys/:key_id/usage', {
    id: 'getApiKeyUsage',
    summary: 'Calls of a key by operation and status, per day',
    description:
      'The last 31 days unless a range is given; counted in each process and added up every few seconds. ' +
      'A revoked key is no longer found here: the listing keeps its last use, the audit what it changed.',
    roles: ['tenant_admin', 'auditor'],
    tx: 'read',
    params: ApiKeyParams,
    query: UsageQuery,
    reply: [200, ApiKeyUsage],
    problems: ['not_found'],
  }).handle(async ({ tx, params, query }) => {
    const key = assertFound(await findApiKey(tx, params.key_id))
    // A deleted key is not found below its path either.
    if (key.state === 'revoked') fail('not_found', 'The key is revoked.')
    const items = await listApiKeyUsage(tx, key.key_id, query.from_on ?? null, query.until_on ?? null)
    return { key_id: key.key_id, items }
  }),
]
