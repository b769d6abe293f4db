/** Exchanging API keys for tokens, reading the own token, and revoking tokens. */
import { parseApiKey, secretMatches } from '#kernel/auth/api-key.ts'
import { everyone } from '#kernel/auth/roles.ts'
import { unrestrictedScope } from '#kernel/database/scope.ts'
import { publicRoute, tenantRoute } from '#kernel/declare-route.ts'
import { fail } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { checkPermission, matchRoute } from './permissions.ts'
import { findTenantName, findUsableKey, removeEndedRevocation, updateKeyUsed, upsertRevokedToken } from './queries.ts'
import {
  Jwks,
  Me,
  Permission,
  PermissionQuery,
  RevokedToken,
  RevokeRequest,
  SignInProviders,
  TokenReply,
  TokenRequest,
} from './schema.ts'

const TOKEN_LIFE_S = 15 * 60
const instant = (seconds: number): string => new Date(seconds * 1000).toISOString()

export const authRoutes = [
  publicRoute('POST /auth/token', {
    id: 'createToken',
    summary: 'Exchange an API key for a short-lived tenant token',
    uses: ['transactions', 'issuer'],
    description: 'The token carries the roles the key has now and lives 15 minutes.',
    body: TokenRequest,
    reply: [200, TokenReply],
    problems: ['api_key_invalid', 'tenant_suspended'],
    secret: true,
  }).handle(async ({ body, kernel }) => {
    const given = parseApiKey(body.api_key) ?? fail('api_key_invalid')
    const principal = `key:${given.key_id}` as const
    // The key names its tenant, so the lookup runs under the tenant's isolation policy.
    const scope = unrestrictedScope(given.tenant_id, principal)
    const key = await kernel.transactions.write(scope, async (tx) => {
      const found = await findUsableKey(tx, given.key_id)
      if (!found) return undefined
      const fits =
        secretMatches(found.current, given.secret_hash) ||
        (found.previous !== null && secretMatches(found.previous, given.secret_hash))
      if (!fits) return undefined
      if (found.tenant_state === 'active') await updateKeyUsed(tx, given.key_id)
      return found
    })
    if (!key) fail('api_key_invalid')
    if (key.tenant_state !== 'active') fail('tenant_suspended')
    const minted = await kernel.issuer.mint({
      principal,
      tenant_id: given.tenant_id,
      roles: key.roles,
      lifetime_s: TOKEN_LIFE_S,
      name: key.name,
    })
    return {
      access_token: minted.token,
      token_type: 'Bearer',
      expires_in: TOKEN_LIFE_S,
      token_id: minted.token_id,
      roles: key.roles,
    }
  }),

  tenantRoute('POST /auth/token/revoke', {
    id: 'revokeToken',
    summary: 'Revoke a token by id before it expires',
    description: 'Takes effect in every process within five seconds.',
    roles: ['tenant_admin', 'compliance_officer'],
    tx: 'write',
    uses: ['tenantStatusCache'],
    body: RevokeRequest,
    reply: [200, RevokedToken],
  }).handle(async ({ tx, body, kernel }) => {
    await removeEndedRevocation(tx, body.token_id)
    const revoked = await upsertRevokedToken(tx, {
      token_id: body.token_id,
      expires_at: body.expires_at ?? null,
      reason: body.reason ?? null,
    })
    kernel.tenantStatusCache.invalidateOnCommit(tx)
    return revoked as NonNullable<typeof revoked>
  }),

  tenantRoute('GET /auth/me', {
    id: 'getMe',
    summary: 'Tenant, principal, roles and permitted operations of this token',
    roles: everyone,
    tx: 'one',
    uses: ['routes'],
    reply: [200, Me],
  }).handle(async ({ tx, actor, kernel }) => ({
    tenant: (await findTenantName(tx)) ?? fail('token_invalid'),
    principal: actor.principal,
    name: actor.name,
    roles: [...actor.roles],
    issuer: actor.issuer,
    token_id: actor.token_id,
    issued_at: instant(actor.issued_at_s),
    expires_at: instant(actor.expires_at_s),
    operations: kernel.routes.filter((route) => checkPermission(route, actor.roles).allowed).map((route) => route.id),
  })),

  publicRoute('GET /auth/jwks', {
    id: 'getJwks',
    summary: 'Public keys of the built-in issuer',
    uses: ['issuer'],
    reply: [200, Jwks],
    headers: () => ({ 'cache-control': 'public, max-age=300' }),
  }).handle(async ({ kernel }) => ({ keys: await kernel.issuer.publicKeys() })),

  publicRoute('GET /auth/oidc', {
    id: 'listSignInProviders',
    summary: 'Identity providers at which people can sign in to the console',
    uses: ['issuers', 'demoSignIn'],
    description: 'Public clients with PKCE, as the operator configured them. Empty when there are none.',
    reply: [200, SignInProviders],
  }).handle(async ({ kernel }) => ({
    items: kernel.issuers.flatMap(({ issuer, sign_in }) =>
      sign_in ? [{ issuer, ...sign_in, scopes: [...sign_in.scopes] }] : [],
    ),
    has_demo_people: kernel.demoSignIn !== null,
  })),

  tenantRoute('GET /auth/permissions', {
    id: 'getPermission',
    summary: 'Would this token be allowed to call a given method and path, and if not, why',
    roles: everyone,
    tx: 'self',
    uses: ['routes'],
    query: PermissionQuery,
    reply: [200, Permission],
  }).handle(async ({ query, actor, kernel }) => {
    const route = matchRoute(kernel.routes, query.method, query.path)
    if (!route) {
      return {
        allowed: false,
        operation: null,
        required_roles: [],
        held_roles: [...actor.roles],
        governed: false,
        code: 'not_found',
        reason: 'There is no such operation.',
      }
    }
    return toPermissionView(route, actor.roles)
  }),
]

function toPermissionView(route: Route, held: Parameters<typeof checkPermission>[1]) {
  const { allowed, reason } = checkPermission(route, held)
  return {
    allowed,
    operation: route.id,
    required_roles: [...route.roles],
    held_roles: [...held],
    governed: route.governed !== undefined,
    code: allowed ? null : ('role_required' as const),
    reason,
  }
}
