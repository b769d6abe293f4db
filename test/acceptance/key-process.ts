/** A process of the run key-rotation: does one of the operator's commands on keys, and may be killed at any moment. */
import type pg from 'pg'
import { rewrapAll } from '#app/keys/rewrap.ts'
import { rotateTenantKey } from '#app/keys/rotate-tenant.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'

export interface KeyWorkMessage {
  readonly connections: { readonly app: pg.PoolConfig; readonly steward: pg.PoolConfig }
  /** Master keys in hexadecimal digits, the current one first. */
  readonly master_keys: readonly string[]
  /** Null: wrap everything again; otherwise rotate the key of this tenant. */
  readonly tenant_id: string | null
}

process.once('message', async ({ connections, master_keys, tenant_id }: KeyWorkMessage) => {
  const connect = (connection: pg.PoolConfig) =>
    new Database({ connection, max: 2, prepared: false, statement_timeout_ms: 15_000, wait_ms: 10_000 })
  const context = {
    app: connect(connections.app),
    steward: connect(connections.steward),
    keyring: createKeyring(master_keys.map((key) => Buffer.from(key, 'hex'))),
  }
  process.send?.('begun')
  if (tenant_id === null) await rewrapAll(context, async () => {}, { chunk_tenants: 5 })
  else {
    const scope = fullScope(tenant_id, 'operator:acceptance')
    await rotateTenantKey(context, scope, { record: () => {}, chunk_keys: 10 })
  }
  process.send?.('done')
  process.exit(0)
})
process.on('disconnect', () => process.exit(1))
