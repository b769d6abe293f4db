/** The roles of a tenant and what each is for. Deny by default: a route names every role that may call it. */

export const roles = [
  'viewer',
  'analyst',
  'policy_editor',
  'compliance_officer',
  'auditor',
  'tenant_admin',
  'service',
] as const
export type Role = (typeof roles)[number]
export type Roles = readonly [Role, ...Role[]]

export const roleDescriptions: Readonly<Record<Role, string>> = {
  viewer: 'Reads.',
  analyst: 'Works alerts, matches and investigations.',
  policy_editor: 'Maker: drafts and imports policy data.',
  compliance_officer: 'Checker: activates, approves, closes.',
  auditor: 'Reads everything, starts exports, reports, replays and verifications; changes no policy and no case.',
  tenant_admin: 'Manages users, API keys, credentials and settings.',
  service: 'Machine client.',
}

/** One person who holds both could approve their own change. Flagged, not forbidden. */
export const conflictingRoles: readonly (readonly [Role, Role, string])[] = [
  ['policy_editor', 'compliance_officer', 'The maker of a change must not be its checker.'],
  ['tenant_admin', 'compliance_officer', 'Whoever grants roles should not approve what those roles do.'],
  ['auditor', 'policy_editor', 'An auditor does not examine their own work.'],
  ['auditor', 'compliance_officer', 'An auditor does not examine their own work.'],
]

export const everyone: Roles = roles
export const isRole = (name: string): name is Role => (roles as readonly string[]).includes(name)

/**
 * Roles that work on cases or examine them: they read the texts written for them, and decisions exactly as stored. A person with
 * several roles gets the widest access.
 */
const caseRoles: readonly Role[] = ['analyst', 'compliance_officer', 'auditor']
export const canReadCases = (held: readonly Role[]): boolean => held.some((role) => caseRoles.includes(role))
