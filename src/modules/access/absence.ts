/** The absence of a person: who may set it, and whether it is now. */
import { fail } from '#kernel/problem.ts'
import type { Actor } from '#kernel/route.ts'
import type { UserRow } from './queries.ts'

export const absenceManagers = ['compliance_officer', 'tenant_admin'] as const

/** Whoever is away is given no work: an analyst would pass theirs on by saying that a colleague is back, or keep it from one. */
export function assertMaySetAbsence({ principal, roles }: Pick<Actor, 'principal' | 'roles'>, user_id: string): void {
  if (principal !== `user:${user_id}` && !absenceManagers.some((role) => roles.includes(role)))
    fail('role_required', 'The absence of somebody else is set by a compliance officer or an administrator.')
}

export function toAvailability({ user_id, away_from, away_until, away_reason }: UserRow) {
  const now = Date.now()
  const is_away =
    away_from !== null && away_until !== null && Date.parse(away_from) <= now && now <= Date.parse(away_until)
  return { user_id, away_from, away_until, away_reason, is_away }
}
