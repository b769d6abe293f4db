/** People an external issuer vouches for get a row on first sight; calls by API keys are counted and added up now and then. */
import type { VerifiedToken } from '../../kernel/auth/token-verifier.ts'
import type { Transactions } from '../../kernel/kernel.ts'
import { addApiKeyUsage, insertUser, type UsageRow, updateSeenUser } from './queries.ts'

/** An issuer may call people by longer names than we show. */
const MAX_NAME = 200

/** Called when a process meets a token of an external issuer it has not verified lately. */
export function createFirstSight(transactions: Pick<Transactions, 'write'>) {
  return async (token: VerifiedToken): Promise<void> => {
    const user_id = token.principal.slice('user:'.length)
    const display_name = token.display_name && [...token.display_name].slice(0, MAX_NAME).join('')
    await transactions.write({ tenant_id: token.tenant_id, actor: token.principal }, async (tx) => {
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

/** Counts in memory, added to the database by `flush`; what a crash loses is a few seconds of a figure for people. */
export class KeyUsage {
  readonly #counts = new Map<string, Map<string, UsageRow & { key_id: string; calls: number }>>()

  observe(facts: { tenant_id: string; principal: string; operation: string; status: number }): void {
    if (!facts.principal.startsWith('key:')) return
    const key_id = facts.principal.slice('key:'.length)
    const used_on = new Date().toISOString().slice(0, 10)
    const tenant = this.#counts.get(facts.tenant_id) ?? new Map()
    this.#counts.set(facts.tenant_id, tenant)
    const id = `${key_id} ${used_on} ${facts.operation} ${facts.status}`
    const calls = (tenant.get(id)?.calls ?? 0) + 1
    tenant.set(id, { key_id, used_on, operation: facts.operation, status: facts.status, calls })
  }

  async flush(transactions: Pick<Transactions, 'write'>): Promise<void> {
    for (const [tenant_id, counts] of this.#counts) {
      this.#counts.delete(tenant_id)
      await transactions.write({ tenant_id, actor: 'job:usage' }, (tx) => addApiKeyUsage(tx, [...counts.values()]))
    }
  }
}
