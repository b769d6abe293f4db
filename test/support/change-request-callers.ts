/** People and API keys that propose and decide change requests in tests. */
import type { Role } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertApiKey } from '#modules/access/index.ts'
import type { TestApp } from './test-app.ts'

export interface Caller {
  readonly principal: `user:${string}` | `key:${string}`
  readonly token: string
}

export async function createPrincipal(
  w: TestApp,
  tenant_id: string,
  roles: Role[] = ['tenant_admin'],
  kind: 'user' | 'key' = 'user',
): Promise<Caller> {
  const principal = `${kind}:${uuidv7()}` as const
  return { principal, token: await w.token({ tenant_id, principal, roles }) }
}

/** An API key that is stored; `createPrincipal` stores none. */
export async function createKeyCaller(
  w: TestApp,
  tenant_id: string,
  actor: string,
): Promise<Caller & { readonly key_id: string }> {
  const caller = await createPrincipal(w, tenant_id, ['tenant_admin'], 'key')
  const key_id = caller.principal.slice('key:'.length)
  const key = { key_id, name: 'machine', roles: ['tenant_admin' as const], secret_hash: 'unused', expires_in_days: 30 }
  await w.runtime.database.write(fullScope(tenant_id, actor), (tx) => insertApiKey(tx, key))
  return { ...caller, key_id }
}

/** Inserts directly, to test what the database refuses. */
export const insertApprovalRow = (
  tx: Tx,
  { cr_id, created_by, approved_by }: Readonly<Record<'cr_id' | 'created_by' | 'approved_by', string>>,
) =>
  tx.run('insert into app.change_approval (tenant_id, cr_id, created_by, approved_by) values ($1, $2, $3, $4)', [
    tx.tenant_id,
    cr_id,
    created_by,
    approved_by,
  ])
