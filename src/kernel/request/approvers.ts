/**
 * Checks that an approval rule can be met: neither the author nor an API key may approve, so there must be enough other active
 * people with the role. A policy that cannot be met is refused, and so is a change that nobody could approve.
 */
import { isPerson } from '../auth/principal.ts'
import type { Tx } from '../database/tx.ts'
import { fail } from '../problem.ts'
import type { Route } from '../route.ts'
import { type ApprovalRule, countApprovers, type PrincipalRow } from './queries.ts'

type Rule = Pick<ApprovalRule, 'action' | 'approvers' | 'role'>

export interface MissingApprovers {
  readonly action: string
  readonly role: string
  /** How many people other than the author must approve. */
  readonly needed: number
  /** How many there are. */
  readonly available: number
}

/** The roles that may request a governed action. */
export const findMakerRoles = (routes: readonly Route[], action: string): ReadonlySet<string> =>
  new Set(
    routes
      .filter(({ governed, proposes }) => governed?.action === action || proposes === action)
      .flatMap((route) => route.roles),
  )

/** Rules that no author could get approved. Where nobody may request the action yet, the author is taken to be a new person. */
export function findUnmetRules(
  rules: readonly Rule[],
  principals: readonly PrincipalRow[],
  makerRoles: (action: string) => ReadonlySet<string>,
): MissingApprovers[] {
  const byName = new Map(principals.map((one) => [one.principal, one]))
  const findPerson = (principal: string, seen = new Set<string>()): string => {
    const key = principal.startsWith('key:') && !seen.has(principal) ? byName.get(principal) : undefined
    return key ? findPerson(key.created_by, seen.add(principal)) : principal
  }
  const active = principals.filter(({ is_active }) => is_active)
  return rules.flatMap(({ action, role, approvers: needed }) => {
    const approvers = active.filter(({ principal, roles }) => isPerson(principal) && roles.includes(role))
    const allowed = makerRoles(action)
    const authors = active.filter(({ roles }) => roles.some((held) => allowed.has(held)))
    const others = authors.map(({ principal }) => {
      const author = findPerson(principal)
      return approvers.filter((one) => one.principal !== author).length
    })
    const available = authors.length === 0 ? approvers.length : Math.max(...others)
    return available < needed ? [{ action, role, needed, available }] : []
  })
}

const formatPeople = (count: number): string => (count === 1 ? '1 other person' : `${count} other people`)

export const describeMissingApprovers = ({ action, role, needed, available }: MissingApprovers): string =>
  `The action ${action} needs the approval of ${formatPeople(needed)} with the role ${role}, and there ${available === 1 ? 'is' : 'are'} ${available || 'none'}.`

export function failMissingApprovers(missing: readonly MissingApprovers[], advice: string): never {
  return fail('approvers_missing', {
    detail: [...missing.map(describeMissingApprovers), advice].join(' '),
    members: { missing },
  })
}

/** While a tenant is being set up a change request may wait for people who are added later; afterwards it would wait for ever. */
export async function assertEnoughApprovers(tx: Tx, { action, role, approvers }: Rule): Promise<void> {
  const facts = await countApprovers(tx, role)
  if (!facts?.is_set_up || facts.available >= approvers) return
  failMissingApprovers(
    [{ action, role, needed: approvers, available: facts.available }],
    'Ask the operator to add or reactivate somebody: npx probity user add, npx probity user reactivate.',
  )
}
