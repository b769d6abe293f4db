/** Sets an approval policy without the checks of the API, for tenants whose people exist only in their tokens. */
import type { Tx } from '#kernel/database/tx.ts'

export async function updateApprovalRules(tx: Tx, tenant_id: string, rules: readonly object[]): Promise<void> {
  await tx.run('update app.approval_policy set rules = $2::jsonb, revision = revision + 1 where tenant_id = $1', [
    tenant_id,
    JSON.stringify(rules),
  ])
}
