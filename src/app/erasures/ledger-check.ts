/** The readiness check that compares the erasure ledger with the database: a restored older state must not be served. */
import { fullScope, unrestrictedScope } from '#kernel/database/scope.ts'
import type { Database } from '#kernel/database/tx.ts'
import { type ErasureLedger, isTenantDeletion, LedgerDamaged, type LedgerEntry } from '#kernel/erasure/ledger.ts'
import type { CheckFunction, CheckResult } from '#kernel/readiness.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { findOwnState, hasUnlisted, hasUnlistedAnywhere, listUnerased } from './queries.ts'

const ACTOR = 'operator:readiness'
/** How often everything is compared although the ledger did not change: the database may be another one. */
const FULL_CHECK_MS = 60_000

const replayNeeded: CheckResult = {
  status: 'failed',
  detail: 'the database has subjects that were erased: run "npx probity erasures replay"',
}
const tenantIsBack: CheckResult = {
  status: 'failed',
  detail: 'the database has a tenant that was deleted: suspend and delete it again',
}
const ledgerIncomplete: CheckResult = {
  status: 'failed',
  detail: 'the database has erasures that the erasure ledger does not have: look at PROBITY_ERASURE_LEDGER',
}

/**
 * `getEverywhere` connects as the role that sees the erasures of all tenants: a ledger that was lost names none. `onUnerased`
 * receives the tenants that have subjects that were erased, each time everything was compared.
 */
export function createLedgerCheck(
  ledger: ErasureLedger | null,
  database: Pick<Database, 'read'>,
  getEverywhere: () => Pick<Database, 'one'>,
  onUnerased: (tenant_ids: ReadonlySet<string>) => void = () => {},
): CheckFunction {
  let passed: { readonly version: string | null; readonly at_ms: number; readonly entries: number } | undefined
  return async () => {
    if (!ledger) return { status: 'not_configured', detail: 'nothing can be erased without PROBITY_ERASURE_LEDGER' }
    const version = await ledger.readVersion()
    if (passed?.version === version && performance.now() - passed.at_ms < FULL_CHECK_MS)
      return { status: 'ok', entries: passed.entries }
    try {
      const entries = await ledger.read()
      const { fault, unerased } = await compareTenants(entries, database)
      onUnerased(unerased)
      const isIncomplete = await getEverywhere().one(fullScope(SYSTEM_TENANT, ACTOR), (tx) =>
        hasUnlistedAnywhere(tx, entries),
      )
      if (isIncomplete) return ledgerIncomplete
      if (fault) return fault
      passed = { version, at_ms: performance.now(), entries: entries.length }
      return { status: 'ok', entries: entries.length }
    } catch (error) {
      if (error instanceof LedgerDamaged) return { status: 'failed', detail: error.message }
      throw error
    }
  }
}

async function compareTenants(
  entries: readonly LedgerEntry[],
  database: Pick<Database, 'read'>,
): Promise<{ readonly fault: CheckResult | null; readonly unerased: ReadonlySet<string> }> {
  let fault: CheckResult | null = null
  const tenants = new Set<string>()
  for (const tenant_id of new Set(entries.map((entry) => entry.tenant_id))) {
    const own = entries.filter((entry) => entry.tenant_id === tenant_id)
    const scope = unrestrictedScope(tenant_id, ACTOR)
    const { unerased, unlisted, state } = await database.read(scope, async (tx) => ({
      unerased: await listUnerased(tx, own),
      unlisted: await hasUnlisted(tx, own),
      state: await findOwnState(tx),
    }))
    if (unerased.size > 0) tenants.add(tenant_id)
    // One that is suspended serves nobody, and is perhaps being deleted.
    if (state === 'active' && own.some(isTenantDeletion)) fault ??= tenantIsBack
    if (unerased.size > 0) fault ??= replayNeeded
    if (unlisted) fault ??= ledgerIncomplete
  }
  return { fault, unerased: tenants }
}
