/** Chains events until none of a tenant is left: transactions of other test files on the same server delay the oldest snapshot. */
import type { ExampleApp, ExampleTenant } from './example-tenant.ts'

const TRIES = 600

export async function chainAllEvents(w: Pick<ExampleApp, 'runtime'>, tenant: ExampleTenant): Promise<void> {
  for (let n = 0; n < TRIES; n++) {
    await w.runtime.createChainWriter().runOnce()
    const left = await tenant.write((tx) =>
      tx.query(
        `select 1 from app.audit_event e where tenant_id = $1
            and not exists (select 1 from app.audit_link l where l.tenant_id = $1 and l.event_id = e.event_id) limit 1`,
        [tenant.tenant_id],
      ),
    )
    if (left.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('a transaction somewhere never ends')
}
