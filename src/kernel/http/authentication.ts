/**
 * Who may come in: the token, then the standing of its tenant and principal; then the role and what the caller accepts.
 * Gives the actor a handler works for, or the problem the fixed order of evaluation asks for.
 */
import type { Role } from '../auth/roles.ts'
import type { TenantStatus, TenantStatusCache } from '../auth/tenant-status-cache.ts'
import type { CachedToken, TokenVerifier, VerifiedToken } from '../auth/token-verifier.ts'
import type { Limits, RateLimitRefusal } from '../limits.ts'
import { fail, Problem } from '../problem.ts'
import type { Actor, Route } from '../route.ts'

export interface AuthenticatedCaller {
  readonly actor: Actor
  readonly tenantStatus: TenantStatus
}

export interface AuthenticatorOptions {
  readonly verifier: TokenVerifier
  readonly tenantStatusCache: TenantStatusCache
  readonly limits: Limits
  /** Makes the user row of a person an external issuer vouches for, the first time this process sees them. */
  readonly onFirstLogin: (token: VerifiedToken) => Promise<void>
}

const SCHEME = /^Bearer +([^\s]+)$/i

export interface Authenticator {
  /** At once when token and standing are known, as for almost every request: waiting for nothing costs something too. */
  authenticate(
    header: string | undefined,
    connection: object,
    address: string,
  ): AuthenticatedCaller | Promise<AuthenticatedCaller>
  /** What a caller is told who floods a limit, where it is known whose token this is; see `Limits.floodOf`. */
  findFloodRefusal(header: string | undefined, connection: object): RateLimitRefusal | undefined
}

export function createAuthenticator({
  verifier,
  tenantStatusCache: standings,
  limits,
  onFirstLogin: onFirstSight,
}: AuthenticatorOptions): Authenticator {
  const rejectAnonymous = (address: string, problem: Problem): never => {
    limits.takeAnonymous(address)
    throw problem
  }

  /** What was last shown on a connection: shown again, it need not be looked up by its hash. Gone with the connection. */
  const lastTokenByConnection = new WeakMap<object, { readonly header: string; readonly known: CachedToken }>()

  const findCachedToken = (header: string, connection: object): VerifiedToken | undefined => {
    const last = lastTokenByConnection.get(connection)
    if (last && last.header === header && verifier.isStillValid(last.known)) return last.known.verified
    const text = SCHEME.exec(header)?.[1]
    const known = text === undefined ? undefined : verifier.getCached(text)
    if (known) lastTokenByConnection.set(connection, { header, known })
    return known?.verified
  }

  const verifyHeader = async (header: string, address: string): Promise<VerifiedToken> => {
    if (header === '') return rejectAnonymous(address, new Problem('token_missing'))
    const text = SCHEME.exec(header)?.[1]
    if (text === undefined) return rejectAnonymous(address, new Problem('token_invalid'))
    limits.assertAnonymousAllowed(address)
    try {
      return await verifier.verify(text)
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return rejectAnonymous(address, error)
      throw error
    }
  }

  const authorizeToken = (
    token: VerifiedToken,
    tenantStatus: TenantStatus | undefined,
    address: string,
  ): AuthenticatedCaller => {
    if (!tenantStatus) return rejectAnonymous(address, new Problem('token_invalid'))
    if (tenantStatus.state === 'suspended') return rejectAnonymous(address, new Problem('tenant_suspended'))
    if (isDenied(token, tenantStatus)) return rejectAnonymous(address, new Problem('token_revoked'))
    const actor: Actor = {
      principal: token.principal,
      tenant_id: token.tenant_id,
      roles: findEffectiveRoles(token, tenantStatus) as readonly Role[],
      name: token.display_name,
      token_id: token.token_id,
      issuer: token.issuer,
      issued_at_s: token.issued_at_s,
      expires_at_s: token.expires_at_s,
    }
    return { actor, tenantStatus }
  }

  const authenticateNew = async (header: string, address: string): Promise<AuthenticatedCaller> => {
    const token = await verifyHeader(header, address)
    const admission = authorizeToken(token, await standings.get(token.tenant_id), address)
    // Only now is it sure that the tenant exists and still wants to see this person.
    if (!token.built_in) await onFirstSight(token)
    return admission
  }

  return {
    authenticate: (header, connection, address) => {
      const token = findCachedToken(header ?? '', connection)
      if (!token) return authenticateNew(header ?? '', address)
      const tenantStatus = standings.get(token.tenant_id)
      if (tenantStatus instanceof Promise) return tenantStatus.then((loaded) => authorizeToken(token, loaded, address))
      return authorizeToken(token, tenantStatus, address)
    },
    findFloodRefusal: (header, connection) => {
      if (!limits.isFlooded()) return undefined
      const token = findCachedToken(header ?? '', connection)
      const tenantStatus = token && standings.get(token.tenant_id)
      if (!token || !tenantStatus || tenantStatus instanceof Promise) return undefined
      if (tenantStatus.state === 'suspended' || isDenied(token, tenantStatus)) return undefined
      return limits.findFloodRefusal(token.tenant_id, token.principal, tenantStatus)
    },
  }
}

const isDenied = ({ token_id, principal }: VerifiedToken, { denied }: TenantStatus): boolean =>
  denied.has(`token:${token_id}`) || denied.has(principal)

/**
 * The roles of a token that its principal still has. Whoever is not in the standing has had the same roles since the token was
 * made. Those of an external issuer are its own to give, for as long as the token lives.
 */
export function findEffectiveRoles(
  { built_in, principal, roles }: Pick<VerifiedToken, 'built_in' | 'principal' | 'roles'>,
  tenantStatus: Pick<TenantStatus, 'roles'>,
): readonly string[] {
  const present = built_in ? tenantStatus.roles.get(principal) : undefined
  // Almost every token still has all its roles: then nothing is allocated.
  if (present === undefined || roles.every((role) => present.includes(role))) return roles
  return roles.filter((role) => present.includes(role))
}

/** 403, naming the roles that would do. */
export function assertRole(route: Route, actor: Actor): void {
  if (actor.roles.some((role) => route.roles.includes(role))) return
  fail('role_required', {
    detail: `This operation needs one of the roles ${route.roles.join(', ')}.`,
    members: { required_roles: route.roles },
  })
}

const REFUSED = /;\s*q=0(\.0{0,3})?\s*(;|$)/i

/** 406 unless the caller takes something that the operation sends; a parameter may choose among several media types. */
export function assertAcceptable(accept: string | undefined, mediaTypes: readonly string[]): void {
  if (accept === undefined || accept === '' || accept === '*/*' || mediaTypes.includes(accept)) return
  const wanted = accept
    .split(',')
    .filter((part) => !REFUSED.test(part))
    .map((part) => (part.split(';')[0] as string).trim().toLowerCase())
  const sent = new Set(['*/*', '', ...mediaTypes.flatMap((name) => [name, `${name.split('/')[0]}/*`])])
  if (wanted.some((name) => sent.has(name))) return
  if (mediaTypes.includes('application/json') && wanted.includes('application/problem+json')) return
  fail('not_acceptable', `This operation answers ${mediaTypes.join(', ')}.`)
}
