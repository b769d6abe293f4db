/** `keys list` and `keys rotate`: the signing keys of the built-in issuer. Private keys are never shown. */
import type { AuditKeys } from '#kernel/audit/chain.ts'
import { BUILT_IN_ISSUER } from '#kernel/auth/built-in-issuer.ts'
import { listSigningKeys } from '#kernel/auth/queries.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { listTenants } from '../queries.ts'
import { rotateSigningKey } from '../seed.ts'
import type { Command } from './command.ts'
import { formatTable } from './format-table.ts'
import { OPERATOR, withOperator } from './operator.ts'
import { recordActionForAll } from './operator-actions.ts'

const SCOPE = fullScope(SYSTEM_TENANT, OPERATOR)

export const keysList: Command = {
  about: 'A retired key still verifies tokens until the last one it signed has expired; then it is no longer listed.',
  options: { json: { type: 'boolean', about: 'print JSON' } },
  run: (invocation) =>
    withOperator(invocation, { name: 'keys' }, async ({ guarded }) => {
      const rows = await guarded.app.one(SCOPE, listSigningKeys)
      const listed = rows.map(({ kid, alg, state, created_at, retired_at }) => ({
        kid,
        alg,
        state,
        created_at,
        retired_at,
      }))
      invocation.terminal.out(invocation.args.flag('json') ? JSON.stringify(listed, null, 2) : formatTable(listed))
      return 0
    }),
}

export const keysRotate: Command = {
  about: `
The new key is sealed with the first file of PROBITY_MASTER_KEY_FILE. Running processes sign with it within five seconds,
and tokens signed before stay valid until they expire. The audit record of every tenant says that it was done.`,
  run: (invocation) =>
    withOperator(invocation, { name: 'keys' }, async (operator) => {
      const keys = await operator.audit()
      const record = (tx: Tx, retires: readonly string[]) => recordRotation(tx, keys, retires)
      invocation.terminal.out(
        await rotateSigningKey({ steward: operator.guarded.steward, keyring: operator.keyring }, record),
      )
      return 0
    }),
}

/** The key signs tokens for all tenants, so each of them gets an audit event. */
async function recordRotation(tx: Tx, keys: AuditKeys, retires: readonly string[]): Promise<void> {
  const tenants = await listTenants(tx)
  recordActionForAll(
    tx,
    keys,
    tenants.map(({ tenant_id }) => tenant_id),
    {
      operation: 'rotateSigningKey',
      object_type: 'signing-keys',
      object_id: BUILT_IN_ISSUER,
      detail: { retires },
    },
  )
}
