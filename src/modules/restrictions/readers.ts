/** Who can make use of access, since a grant to anybody else would look like access and be none; and who may change it. */
import type { Role } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { hasEndingAccess, type PersonRow } from './queries.ts'

/** Roles that read something of what a restriction can protect; editors read quarantined payloads. */
export const restrictedReaders: readonly Role[] = ['analyst', 'compliance_officer', 'auditor', 'policy_editor']

/** 409 with the roles of the person. Those of people who sign in elsewhere are known only while they are signed in. */
export function assertReader({ origin, roles }: PersonRow, readers: readonly Role[] = restrictedReaders): void {
  if (origin === 'external' || roles.some((role) => readers.some((reader) => reader === role))) return
  const held = roles.length === 0 ? 'no role' : `the role ${roles.join(', ')}`
  fail(
    'transition_not_allowed',
    `The person has ${held} and can never read it. One of ${readers.join(', ')} is needed.`,
  )
}

/** Fails with 409 where the caller's access has an end: it permits reading, not changing access. A trigger refuses it too. */
export async function assertKeepsAccess(tx: Tx, restriction_id: string, principal: string): Promise<void> {
  if (await hasEndingAccess(tx, restriction_id, principal))
    fail('transition_not_allowed', 'Your access ends by itself: somebody whose access does not end changes who has it.')
}
