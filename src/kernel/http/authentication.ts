/**
 * Authenticates a request: the token, then the status of its tenant and principal. Also checks the role and the Accept header.
 * Returns the actor of the handler, or throws the problem that comes first in the fixed order of checks.
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
  /** Whether the token was issued for the tool protocol: it is then good for nothing else. */
  readonly isForTools: boolean
}

export interface AuthenticatorOptions {
  readonly verifier: TokenVerifier
  readonly tenantStatusCache: TenantStatusCache
  readonly limits: Limits
  /** Creates the row of a user of an external issuer, the first time this process sees the user. */
  readonly onFirstLogin: (token: VerifiedToken) => Promise<void>
}

const SCHEME = /^Bearer +([^\s]+)$/i

/** Authenticates callers by their bearer token. */
export class Authenticator {
  readonly #verifier: TokenVerifier
  readonly #statuses: TenantStatusCache
  readonly #limits: Limits
  readonly #onFirstLogin: AuthenticatorOptions['onFirstLogin']
  /** The last token of each connection, which a repeated header finds without hashing. Dropped with the connection. */
  readonly #lastTokens = new WeakMap<object, { readonly header: string; readonly known: CachedToken }>()

  constructor({ verifier, tenantStatusCache, limits, onFirstLogin }: AuthenticatorOptions) {
    this.#verifier = verifier
    this.#statuses = tenantStatusCache
    this.#limits = limits
    this.#onFirstLogin = onFirstLogin
  }

  /** Returns no promise when token and status are cached, as for almost every request. */
  authenticate(
    header: string | undefined,
    connection: object,
    address: string,
  ): AuthenticatedCaller | Promise<AuthenticatedCaller> {
    const token = this.#findCachedToken(header ?? '', connection)
    if (!token) return this.#authenticateNew(header ?? '', address)
    const status = this.#statuses.get(token.tenant_id)
    if (status instanceof Promise) return status.then((loaded) => this.#authorize(token, loaded, address))
    return this.#authorize(token, status, address)
  }

  /** The refusal of a caller who is far beyond a limit, where its token is cached; see `Limits.findFloodRefusal`. */
  findFloodRefusal(header: string | undefined, connection: object): RateLimitRefusal | undefined {
    if (!this.#limits.isFlooded()) return undefined
    const token = this.#findCachedToken(header ?? '', connection)
    const status = token && this.#statuses.get(token.tenant_id)
    if (!token || !status || status instanceof Promise) return undefined
    if (status.state !== 'active' || isDenied(token, status)) return undefined
    return this.#limits.findFloodRefusal(token.tenant_id, token.principal, status)
  }

  #findCachedToken(header: string, connection: object): VerifiedToken | undefined {
    const last = this.#lastTokens.get(connection)
    if (last && last.header === header && this.#verifier.isStillValid(last.known)) return last.known.verified
    const text = SCHEME.exec(header)?.[1]
    const known = text === undefined ? undefined : this.#verifier.getCached(text)
    if (known) this.#lastTokens.set(connection, { header, known })
    return known?.verified
  }

  async #authenticateNew(header: string, address: string): Promise<AuthenticatedCaller> {
    const token = await this.#verifyHeader(header, address)
    const caller = this.#authorize(token, await this.#statuses.get(token.tenant_id), address)
    // Only after the tenant is known to exist and not to deny this person.
    if (!token.built_in) await this.#onFirstLogin(token)
    return caller
  }

  async #verifyHeader(header: string, address: string): Promise<VerifiedToken> {
    if (header === '') return this.#rejectAnonymous(address, new Problem('token_missing'))
    const text = SCHEME.exec(header)?.[1]
    if (text === undefined) return this.#rejectAnonymous(address, new Problem('token_invalid'))
    this.#limits.assertAnonymousAllowed(address)
    // Not a guess about a wrong token: no token of ours begins so.
    if (text.startsWith('pk_'))
      return this.#rejectAnonymous(
        address,
        new Problem(
          'token_invalid',
          'This is an API key. Exchange it for a token with POST /api/auth/token, and send the token.',
        ),
      )
    try {
      return await this.#verifier.verify(text)
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return this.#rejectAnonymous(address, error)
      throw error
    }
  }

  #authorize(token: VerifiedToken, status: TenantStatus | undefined, address: string): AuthenticatedCaller {
    if (!status) return this.#rejectAnonymous(address, new Problem('token_invalid'))
    if (status.state !== 'active') return this.#rejectAnonymous(address, new Problem('tenant_suspended'))
    if (isDenied(token, status)) return this.#rejectAnonymous(address, new Problem('token_revoked'))
    const actor: Actor = {
      principal: token.principal,
      tenant_id: token.tenant_id,
      roles: findEffectiveRoles(token, status) as readonly Role[],
      name: token.display_name,
      token_id: token.token_id,
      issuer: token.issuer,
      issued_at_s: token.issued_at_s,
      expires_at_s: token.expires_at_s,
    }
    return { actor, tenantStatus: status, isForTools: token.is_for_tools }
  }

  /** A failed authentication counts against the limit of the address. */
  #rejectAnonymous(address: string, problem: Problem): never {
    this.#limits.takeAnonymous(address)
    throw problem
  }
}

const isDenied = ({ token_id, principal }: VerifiedToken, { denied }: TenantStatus): boolean =>
  denied.has(`token:${token_id}`) || denied.has(principal)

/**
 * The roles of a token that its principal still has. A principal without an entry in the status has had the same roles since the
 * token was issued. An external issuer decides about its roles itself, for the life of the token.
 */
export function findEffectiveRoles(
  { built_in, principal, roles }: Pick<VerifiedToken, 'built_in' | 'principal' | 'roles'>,
  tenantStatus: Pick<TenantStatus, 'roles'>,
): readonly string[] {
  const current = built_in ? tenantStatus.roles.get(principal) : undefined
  // Almost every token still has all its roles: then nothing is allocated.
  if (current === undefined || roles.every((role) => current.includes(role))) return roles
  return roles.filter((role) => current.includes(role))
}

/** 403, naming the roles of which one is needed. */
export function assertRole(route: Route, actor: Actor): void {
  if (actor.roles.some((role) => route.roles.includes(role))) return
  fail('role_required', {
    detail: `This operation needs one of the roles ${route.roles.join(', ')}.`,
    members: { required_roles: route.roles },
  })
}

const REFUSED = /;\s*q=0(\.0{0,3})?\s*(;|$)/i

/** 406 unless the caller accepts one of the media types of the operation. */
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
