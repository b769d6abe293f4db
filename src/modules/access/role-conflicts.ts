/** Roles that one person should not hold together. */
import { conflictingRoles, type Role } from '#kernel/auth/roles.ts'

export const findRoleConflicts = (held: readonly Role[]): string[] =>
  conflictingRoles
    .filter(([one, two]) => held.includes(one) && held.includes(two))
    .map(([one, two, reason]) => `${one} and ${two}: ${reason}`)
