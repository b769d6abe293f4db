/** `keys list` and `keys rotate`: the signing keys of the built-in issuer. Private halves are never shown. */
import { listSigningKeys } from '../../kernel/auth/queries.ts'
import { SYSTEM_TENANT } from '../../kernel/uuid.ts'
import { rotateSigningKey } from '../seed.ts'
import type { Command } from './command.ts'
import { OPERATOR, withOperator } from './operator.ts'
import { table } from './table.ts'

export const keysList: Command = {
  name: 'keys list',
  summary: 'List the signing keys of the built-in issuer',
  about: 'A retired key still verifies tokens until the last one it signed has expired; then it is no longer listed.',
  options: { json: { type: 'boolean', about: 'print JSON' } },
  run: (invocation) =>
    withOperator(invocation, { name: 'keys' }, async ({ guarded }) => {
      const rows = await guarded.app.one({ tenant_id: SYSTEM_TENANT, actor: OPERATOR }, listSigningKeys)
      const shown = rows.map(({ kid, alg, state, created_at, retired_at }) => ({
        kid,
        alg,
        state,
        created_at,
        retired_at,
      }))
      invocation.terminal.out(invocation.args.flag('json') ? JSON.stringify(shown, null, 2) : table(shown))
      return 0
    }),
}

export const keysRotate: Command = {
  name: 'keys rotate',
  summary: 'Make a new signing key and retire the current one',
  about: `
The new key is sealed with the first file of PROBITY_MASTER_KEY_FILE. Running processes sign with it within five seconds,
and tokens signed before stay valid until they expire.`,
  run: (invocation) =>
    withOperator(invocation, { name: 'keys' }, async ({ seeding }) => {
      invocation.terminal.out(await rotateSigningKey(seeding))
      return 0
    }),
}
