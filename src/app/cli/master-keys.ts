/** `keys rewrap`, `keys retire` and `keys renew`: what is encrypted with the master keys, and the integrity keys themselves. */
import type { Tx } from '#kernel/database/tx.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { listMasterKeyUses, type MasterKeyUse, renewIntegrityKeys, rewrapAll } from '../integrity-keys.ts'
import { listTenants } from '../queries.ts'
import { type Command, UsageError } from './command.ts'
import { OPERATOR, type OperatorContext, withOperator } from './operator.ts'
import { recordAction, recordActionForAll } from './operator-actions.ts'

const SCOPE = { tenant_id: SYSTEM_TENANT, actor: OPERATOR }

const pluralize = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`

export const describeUse = ({ integrity_keys, signing_keys }: MasterKeyUse): string =>
  [
    integrity_keys > 0 && pluralize(integrity_keys, 'integrity key'),
    signing_keys > 0 && pluralize(signing_keys, 'signing key'),
  ]
    .filter(Boolean)
    .join(' and ')

const listTenantIds = async (tx: Tx): Promise<string[]> => (await listTenants(tx)).map(({ tenant_id }) => tenant_id)

export const keysRewrap: Command = {
  about: `
After a new master key was put first in PROBITY_MASTER_KEY_FILE in all processes. Everything may go on running: the keys
themselves stay as they are, and with them every code, signature and hash that they have made. Broken off and run again, it
goes on with what is left. The audit record of every tenant says that it was done.`,
  run: (invocation) =>
    withOperator(invocation, { name: 'keys' }, async (operator) => {
      const audit = await operator.audit()
      const operation = { operation: 'rewrapKeys', object_type: 'integrity-keys' }
      const { rewrapped, unopened } = await rewrapAll(
        { ...operator.guarded, keyring: operator.keyring },
        async (tx, tenant_id, detail) => {
          const act = { ...operation, object_id: tenant_id, detail }
          if (tenant_id === SYSTEM_TENANT) recordActionForAll(tx, audit, await listTenantIds(tx), act)
          else recordAction(tx, audit, act)
        },
      )
      const { terminal } = invocation
      terminal.out(`${pluralize(rewrapped, 'key')} encrypted under the master key ${operator.keyring.key_id}.`)
      if (unopened === 0) return 0
      terminal.out(
        `${pluralize(unopened, 'key')} could not be opened: their master key is not in PROBITY_MASTER_KEY_FILE.`,
      )
      return 1
    }),
}

export const keysRetire: Command = {
  about: `
KEY_ID names the master key, as "npx probity doctor" shows it. While anything in the database is encrypted under it, the
answer says what, and the exit code is 1. Run it while PROBITY_MASTER_KEY_FILE still names the file: an id that is neither
there nor in the database is refused. Backups that were taken under it are not looked at: they stay sealed with it, so
keep a copy of its file with them.`,
  positionals: ['KEY_ID'],
  run: (invocation) =>
    withOperator(invocation, { name: 'keys' }, async (operator) => {
      const [key_id] = invocation.args.positionals as [string]
      const { terminal } = invocation
      if (!/^[0-9a-f]{8}$/.test(key_id)) throw new UsageError('KEY_ID has 8 hexadecimal digits.')
      if (key_id === operator.keyring.key_id) {
        terminal.out(`${key_id} is the current master key: put another one first in PROBITY_MASTER_KEY_FILE.`)
        return 1
      }
      const uses = await listMasterKeyUses(operator.guarded)
      const use = uses.find((each) => each.key_id === key_id)
      if (use) {
        terminal.out(`${key_id} is needed by ${describeUse(use)}. Run "npx probity keys rewrap" first.`)
        return 1
      }
      if (!operator.keyring.key_ids.includes(key_id)) {
        const known = [...new Set([...operator.keyring.key_ids, ...uses.map((each) => each.key_id)])]
        terminal.out(
          `There is no master key ${key_id}: PROBITY_MASTER_KEY_FILE and the database know ${known.join(', ')}.`,
        )
        return 1
      }
      await recordForAllTenants(operator, {
        operation: 'retireMasterKey',
        object_type: 'master-keys',
        object_id: key_id,
        detail: {},
      })
      terminal.out(
        `Nothing in the database needs ${key_id}. Take its file out of PROBITY_MASTER_KEY_FILE of all processes.`,
      )
      return 0
    }),
}

export const keysRenew: Command = {
  about: `
No api, worker or start may run meanwhile: each reads the keys when it starts. New codes and signatures are made with the new
keys; the earlier ones go on verifying what they have made, where they can still be opened. With --distrust-earlier they do
not: do that after a leak, when the audit record was exported, since earlier events and decisions are then called altered.
The keys that members of lists are hashed with are only renewed where they are lost, since every hashed value becomes another.`,
  options: { 'distrust-earlier': { type: 'boolean', about: 'take nothing for authentic that earlier keys have made' } },
  run: (invocation) =>
    withOperator(invocation, { name: 'keys' }, async (operator) => {
      const distrust = invocation.args.flag('distrust-earlier')
      const renewed = await renewIntegrityKeys(
        { ...operator.guarded, keyring: operator.keyring },
        { which: 'all', distrust },
      )
      const detail = { keys: renewed, distrust_earlier: distrust }
      await recordForAllTenants(operator, {
        operation: 'renewKeys',
        object_type: 'integrity-keys',
        object_id: SYSTEM_TENANT,
        detail,
      })
      invocation.terminal.out(`${pluralize(renewed, 'integrity key')} made.`)
      return 0
    }),
}

async function recordForAllTenants(operator: OperatorContext, act: Parameters<typeof recordAction>[2]): Promise<void> {
  const audit = await operator.audit()
  await operator.guarded.steward.write(SCOPE, async (tx) => recordActionForAll(tx, audit, await listTenantIds(tx), act))
}
