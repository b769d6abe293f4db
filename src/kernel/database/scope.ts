/**
 * Scopes of transactions: tenant, actor and sight. Modules receive a transaction and cannot choose its sight; only
 * `job/execution.ts` sets another one, for the body of a job.
 */

/**
 * What a transaction sees of rows that belong to a restriction in force: what a person may see, what one restriction holds,
 * nothing, or everything.
 */
export type Sight = 'all' | 'none' | `principal:${string}` | `restriction:${string}`

/** Tenant, actor and sight of a transaction. `actor` is written to every row and required by the database. */
export interface Scope {
  readonly tenant_id: string
  readonly actor: string
  readonly sight: Sight
}

/** A request: its caller sees what the caller may see. */
export const requestScope = ({ tenant_id, principal }: { tenant_id: string; principal: string }): Scope => ({
  tenant_id,
  actor: principal,
  sight: `principal:${principal}`,
})

/** A later transaction with the tenant, actor and sight of this one. */
export const scopeOfTransaction = ({ tenant_id, actor, sight }: Scope): Scope => ({ tenant_id, actor, sight })

/** Work of the service that concerns no restricted object: it sees none. */
export const unrestrictedScope = (tenant_id: string, actor: string): Scope => ({ tenant_id, actor, sight: 'none' })

/**
 * Work that must see every row: queue, audit chain, verification, retention, backup and commands of the operator. Not for
 * modules.
 */
export const fullScope = (tenant_id: string, actor: string): Scope => ({ tenant_id, actor, sight: 'all' })
