/**
 * Who may come in: the token, then the standing of its tenant and principal; then the role and what the caller accepts.
 * Gives the actor a handler works for, or the problem the fixed order of evaluation asks for.
 */
import type { Role } from '../auth/roles.ts'
import type { Standing, Standings } from '../auth/standing.ts'
import type { KnownToken, TokenVerifier, VerifiedToken } from '../auth/token-verifier.ts'
import type { Limits, Refusal } from '../limits.ts'
import { fail, Problem } from '../problem.ts'
import type { Actor, Route } from '../route.ts'

export interface Admission {
  readonly actor: Actor
  readonly standing: Standing
}

export interface AdmissionDeps {
  readonly verifier: TokenVerifier
  readonly standings: Standings
  readonly limits: Limits
  /** Makes the user row of a person an external issuer vouches for, the first time this process sees them. */
  readonly onFirstSight: (token: VerifiedToken) => Promise<void>
}

const SCHEME = /^Bearer +([^\s]+)$/i

export interface Admissions {
  /** At once when token and standing are known, as for almost every request: waiting for nothing costs something too. */
  admit(header: string | undefined, connection: object, address: string): Admission | Promise<Admission>
  /** What a caller is told who floods a limit, where it is known whose token this is; see `Limits.floodOf`. */
  floodOf(header: string | undefined, connection: object): Refusal | undefined
}

export function createAdmissions({ verifier, standings, limits, onFirstSight }: AdmissionDeps): Admissions {
  const refuse = (address: string, problem: Problem): never => {
    limits.takeAnonymous(address)
    throw problem
  }

  /** What was last shown on a connection: shown again, it need not be looked up by its hash. Gone with the connection. */
  const lastShown = new WeakMap<object, { readonly header: string; readonly known: KnownToken }>()

  const recall = (header: string, connection: object): VerifiedToken | undefined => {
    const last = lastShown.get(connection)
    if (last && last.header === header && verifier.holds(last.known)) return last.known.verified
    const text = SCHEME.exec(header)?.[1]
    const known = text === undefined ? undefined : verifier.recall(text)
    if (known) lastShown.set(connection, { header, known })
    return known?.verified
  }

  const verify = async (header: string, address: string): Promise<VerifiedToken> => {
    if (header === '') return refuse(address, new Problem('token_missing'))
    const text = SCHEME.exec(header)?.[1]
    if (text === undefined) return refuse(address, new Problem('token_invalid'))
    limits.expectAnonymousRoom(address)
    try {
      return await verifier.verify(text)
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return refuse(address, error)
      throw error
    }
  }

  const welcome = (token: VerifiedToken, standing: Standing | undefined, address: string): Admission => {
    if (!standing) return refuse(address, new Problem('token_invalid'))
    if (standing.state === 'suspended') return refuse(address, new Problem('tenant_suspended'))
    if (isDenied(token, standing)) return refuse(address, new Problem('token_revoked'))
    const actor: Actor = {
      principal: token.principal,
      tenant_id: token.tenant_id,
      roles: findEffectiveRoles(token, standing) as readonly Role[],
      name: token.display_name,
      token_id: token.token_id,
      issuer: token.issuer,
      issued_at_s: token.issued_at_s,
      expires_at_s: token.expires_at_s,
    }
    return { actor, standing }
  }

  const meet = async (header: string, address: string): Promise<Admission> => {
    const token = await verify(header, address)
    const admission = welcome(token, await standings.get(token.tenant_id), address)
    // Only now is it sure that the tenant exists and still wants to see this person.
    if (!token.built_in) await onFirstSight(token)
    return admission
  }

  return {
    admit: (header, connection, address) => {
      const token = recall(header ?? '', connection)
      if (!token) return meet(header ?? '', address)
      const standing = standings.get(token.tenant_id)
      if (standing instanceof Promise) return standing.then((loaded) => welcome(token, loaded, address))
      return welcome(token, standing, address)
    },
    floodOf: (header, connection) => {
      if (!limits.isFlooded()) return undefined
      const token = recall(header ?? '', connection)
      const standing = token && standings.get(token.tenant_id)
      if (!token || !standing || standing instanceof Promise) return undefined
      if (standing.state === 'suspended' || isDenied(token, standing)) return undefined
      return limits.floodOf(token.tenant_id, token.principal, standing)
    },
  }
}

const isDenied = ({ token_id, principal }: VerifiedToken, { denied }: Standing): boolean =>
  denied.has(`token:${token_id}`) || denied.has(principal)

/**
 * The roles of a token that its principal still has. Whoever is not in the standing has had the same roles since the token was
 * made. Those of an external issuer are its own to give, for as long as the token lives.
 */
export function findEffectiveRoles(
  { built_in, principal, roles }: Pick<VerifiedToken, 'built_in' | 'principal' | 'roles'>,
  standing: Pick<Standing, 'roles'>,
): readonly string[] {
  const present = built_in ? standing.roles.get(principal) : undefined
  // Almost every token still has all its roles: then nothing is allocated.
  if (present === undefined || roles.every((role) => present.includes(role))) return roles
  return roles.filter((role) => present.includes(role))
}

/** 403, naming the roles that would do. */
export function expectRole(route: Route, actor: Actor): void {
  if (actor.roles.some((role) => route.roles.includes(role))) return
  fail('role_required', {
    detail: `This operation needs one of the roles ${route.roles.join(', ')}.`,
    members: { required_roles: route.roles },
  })
}

const REFUSED = /;\s*q=0(\.0{0,3})?\s*(;|$)/i

/** 406 unless the caller takes what the operation sends. */
export function expectAcceptable(accept: string | undefined, mediaType: string): void {
  if (accept === undefined || accept === '' || accept === '*/*' || accept === mediaType) return
  const [type] = mediaType.split('/') as [string]
  const wanted = accept
    .split(',')
    .filter((part) => !REFUSED.test(part))
    .map((part) => (part.split(';')[0] as string).trim().toLowerCase())
  if (wanted.some((name) => name === '*/*' || name === `${type}/*` || name === mediaType || name === '')) return
  if (mediaType === 'application/json' && wanted.includes('application/problem+json')) return
  fail('not_acceptable', `This operation answers ${mediaType}.`)
}
