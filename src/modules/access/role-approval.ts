/**
 * Who may give roles without approval, which roles a principal holds now, provisioning of users from external issuers, and
 * use of API keys and accounts.
 */
import type { Role } from '#kernel/auth/roles.ts'
import type { VerifiedToken } from '#kernel/auth/token-verifier.ts'
import { requestScope, unrestrictedScope } from '#kernel/database/scope.ts'
import type { Transactions, Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { type ApprovalRule, findApprovalRule } from '#kernel/request/queries.ts'
import {
  type ApiKeyRow,
  addApiKeyUsage,
  countOthersWithRole,
  findApiKey,
  findUser,
  insertUser,
  isApprovalSetUp,
  lockApprovalPolicy,
  type UsageRow,
  updateSeenUser,
  updateUsersSeen,
} from './queries.ts'

/** The action of the approval policy that covers giving roles. */
export const ROLES_ACTION = 'roles'

/**
 * A new tenant has nobody who could approve, so until there are enough approvers its users and keys are created at once.
 * Afterwards every change waits for approval, even when too few approvers are left.
 */
export async function needsApproval(tx: Tx, rule: ApprovalRule): Promise<boolean> {
  const isDue = async () => (await isApprovalSetUp(tx)) || (await countOthersWithRole(tx, rule.role)) >= rule.approvers
  if (await isDue()) return true
  await lockApprovalPolicy(tx)
  return isDue()
}

/** A new secret gives its reader the roles of the key. Where roles need approval, only the principal they were approved for may get one. */
export async function assertKeyHolder(tx: Tx, key: ApiKeyRow): Promise<void> {
  const rule = await findApprovalRule(tx, ROLES_ACTION)
  if (!rule || tx.actor === key.created_by || tx.actor === `key:${key.key_id}`) return
  if (!(await needsApproval(tx, rule))) return
  fail(
    'transition_not_allowed',
    'Roles are given with approval here: only who asked for this key, or the key itself, gets a new secret. Ask for another key.',
  )
}

/** For a key, the person who requested it, directly or through other keys; for anybody else, the principal itself. */
export async function findRequester(tx: Tx, principal: string): Promise<string> {
  if (!principal.startsWith('key:')) return principal
  const key = await findApiKey(tx, principal.slice('key:'.length))
  return key ? findRequester(tx, key.created_by) : principal
}

/**
 * The roles a principal holds now, empty when it was deactivated or revoked. Undefined where only tokens hold the roles: for
 * users of an external issuer, and for principals without a row.
 */
export async function findPresentRoles(tx: Tx, principal: string): Promise<readonly Role[] | undefined> {
  const [kind, id = ''] = principal.split(':')
  if (kind === 'key') {
    const key = await findApiKey(tx, id)
    if (!key) return undefined
    const isExpired = key.expires_at !== null && Date.parse(key.expires_at) <= Date.now()
    return key.state === 'active' && !isExpired ? key.roles : []
  }
  const user = kind === 'user' ? await findUser(tx, id) : undefined
  if (user?.state === 'inactive') return []
  return user?.origin === 'built_in' ? user.roles : undefined
}

/** External issuers may send longer names than we store. */
const MAX_NAME = 200

/** Called when a process verifies a token of an external issuer that is not in its cache. */
export function createUserProvisioning(transactions: Pick<Transactions, 'write'>) {
  return async (token: VerifiedToken): Promise<void> => {
    const user_id = token.principal.slice('user:'.length)
    const display_name = token.display_name && [...token.display_name].slice(0, MAX_NAME).join('')
    await transactions.write(requestScope(token), async (tx) => {
      const inserted = await insertUser(
        tx,
        {
          user_id,
          issuer: token.issuer,
          subject: token.subject,
          email: null,
          name: display_name ?? [...token.subject].slice(0, MAX_NAME).join(''),
          team: null,
          locale: null,
          roles: token.roles,
          origin: 'external',
          state: 'active',
        },
        'keep',
      )
      if (!inserted) await updateSeenUser(tx, user_id, token.roles, display_name)
    })
  }
}

/**
 * Counts calls of API keys and notes when each user was last seen, in memory; `flush` writes both to the database. A crash loses
 * a few seconds.
 */
export class UsageCounter {
  /** Users by tenant, with the instant of their last request. */
  readonly #seen = new Map<string, Map<string, number>>()
  readonly #counts = new Map<string, Map<string, UsageRow & { key_id: string; calls: number }>>()

  observe(facts: { tenant_id: string; principal: string; operation: string; status: number }): void {
    if (facts.principal.startsWith('user:')) this.#noteUser(facts.tenant_id, facts.principal.slice('user:'.length))
    if (!facts.principal.startsWith('key:')) return
    const key_id = facts.principal.slice('key:'.length)
    const used_on = new Date().toISOString().slice(0, 10)
    const tenant = this.#counts.get(facts.tenant_id) ?? new Map()
    this.#counts.set(facts.tenant_id, tenant)
    const id = `${key_id} ${used_on} ${facts.operation} ${facts.status}`
    const calls = (tenant.get(id)?.calls ?? 0) + 1
    tenant.set(id, { key_id, used_on, operation: facts.operation, status: facts.status, calls })
  }

  #noteUser(tenant_id: string, user_id: string): void {
    const users = this.#seen.get(tenant_id) ?? new Map<string, number>()
    this.#seen.set(tenant_id, users.set(user_id, Date.now()))
  }

  async flush(transactions: Pick<Transactions, 'write'>): Promise<void> {
    for (const [tenant_id, users] of this.#seen) {
      this.#seen.delete(tenant_id)
      const seen = [...users].map(([user_id, at_ms]) => ({ user_id, at: new Date(at_ms).toISOString() }))
      await transactions.write(unrestrictedScope(tenant_id, 'job:usage'), (tx) => updateUsersSeen(tx, seen))
    }
    for (const [tenant_id, counts] of this.#counts) {
      this.#counts.delete(tenant_id)
      await transactions.write(unrestrictedScope(tenant_id, 'job:usage'), (tx) =>
        addApiKeyUsage(tx, [...counts.values()]),
      )
    }
  }
}
