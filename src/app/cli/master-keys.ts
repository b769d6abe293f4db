/** `keys rewrap`, `keys retire`, `keys renew` and `keys rotate-tenant`: master keys, and the keys that they wrap. */
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { renewIntegrityKeys } from '../integrity-keys.ts'
import { listMasterKeyUses, type MasterKeyUse, rewrapAll } from '../keys/rewrap.ts'
import { type RotationResult, renewLostTenantKey, rotateTenantKey } from '../keys/rotate-tenant.ts'
import { listTenants } from '../queries.ts'
import { type Command, UsageError } from './command.ts'
import { OPERATOR, type OperatorContext, withOperator } from './operator.ts'
import { recordAction, recordActionForAll } from './operator-actions.ts'
import { requireTenant } from './require-tenant.ts'

const SCOPE = fullScope(SYSTEM_TENANT, OPERATOR)

const pluralize = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`

export function describeUse({ integrity_keys, tenant_keys, signing_keys }: MasterKeyUse): string {
  const parts = [
    integrity_keys > 0 && pluralize(integrity_keys, 'integrity key'),
    tenant_keys > 0 && pluralize(tenant_keys, 'tenant key'),
    signing_keys > 0 && pluralize(signing_keys, 'signing key'),
  ].filter((part) => part !== false)
  return [parts.slice(0, -1).join(', '), ...parts.slice(-1)].filter((part) => part !== '').join(' and ')
}

const listTenantIds = async (tx: Tx): Promise<string[]> => (await listTenants(tx)).map(({ tenant_id }) => tenant_id)

export const keysRewrap: Command = {
  about: `
After a new master key was put first in PROBITY_MASTER_KEY_FILE or PROBITY_KEY_COMMAND_ID, or PROBITY_MASTER_KEY_SOURCE was
changed, in all processes. Everything may go on running: the keys themselves stay as they are, and with them every value,
code, signature and hash that they have made. Broken off and run again, it goes on with what is left. The audit record of
every tenant says that it was done.`,
  run: (invocation) =>
    withOperator(invocation, { name: 'keys' }, async (operator) => {
      const audit = await operator.audit()
      const operation = { operation: 'rewrapKeys', object_type: 'integrity-keys' }
      const { rewrapped, unopened, damaged } = await rewrapAll(
        { ...operator.guarded, keyring: operator.keyring },
        async (tx, tenant_id, detail) => {
          const act = { ...operation, object_id: tenant_id, detail }
          if (tenant_id === SYSTEM_TENANT) recordActionForAll(tx, audit, await listTenantIds(tx), act)
          else recordAction(tx, audit, act)
        },
      )
      const { terminal } = invocation
      terminal.out(`${pluralize(rewrapped, 'key')} encrypted under the master key ${operator.keyring.key_id}.`)
      if (unopened > 0) {
        terminal.out(
          `${pluralize(unopened, 'key')} could not be opened: their master key is neither in PROBITY_MASTER_KEY_FILE nor in PROBITY_KEY_COMMAND_ID.`,
        )
      }
      if (damaged > 0) {
        const remedy = 'Restore them from a backup, or run "npx probity keys renew".'
        terminal.out(`${pluralize(damaged, 'key')} could not be opened: the stored text is damaged. ${remedy}`)
      }
      return unopened + damaged > 0 ? 1 : 0
    }),
}

export const keysRetire: Command = {
  about: `
KEY_ID names the master key, as "npx probity doctor" shows it. While anything in the database is encrypted under it, the
answer says what, and the exit code is 1. Run it while PROBITY_MASTER_KEY_FILE or PROBITY_KEY_COMMAND_ID still names it: an
id that is neither there nor in the database is refused. Backups that were taken under it are not looked at: they stay
sealed with it, so keep a copy of its file with them, or keep the key in the key management service.`,
  positionals: ['KEY_ID'],
  run: (invocation) =>
    withOperator(invocation, { name: 'keys' }, async (operator) => {
      const [key_id] = invocation.args.positionals as [string]
      const { terminal } = invocation
      if (!/^[A-Za-z0-9_:-]{1,63}$/.test(key_id)) {
        throw new UsageError('KEY_ID has 8 hexadecimal digits, or is a name of PROBITY_KEY_COMMAND_ID.')
      }
      if (key_id === operator.keyring.key_id) {
        const settings = 'PROBITY_MASTER_KEY_FILE or PROBITY_KEY_COMMAND_ID'
        terminal.out(`${key_id} is the current master key: put another one first in ${settings}.`)
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
        terminal.out(`There is no master key ${key_id}: the configuration and the database know ${known.join(', ')}.`)
        return 1
      }
      await recordForAllTenants(operator, {
        operation: 'retireMasterKey',
        object_type: 'master-keys',
        object_id: key_id,
        detail: {},
      })
      const setting = /^[0-9a-f]{8}$/.test(key_id)
        ? 'its file out of PROBITY_MASTER_KEY_FILE'
        : 'it out of PROBITY_KEY_COMMAND_ID'
      terminal.out(`Nothing in the database needs ${key_id}. Take ${setting} of all processes.`)
      return 0
    }),
}

export const keysRenew: Command = {
  about: `
No api, worker or start may run meanwhile: each reads the keys when it starts. New codes and signatures are made with the new
keys; the earlier ones go on verifying what they have made, where they can still be opened. With --distrust-earlier they do
not: do that after a leak, when the audit record was exported, since earlier events and decisions are then called altered.
The keys that members of lists are hashed with are only renewed where they are lost, since every hashed value becomes another.
A tenant whose own key is lost gets a new one: what was encrypted for it before cannot be decrypted any more, so store its
credentials again.`,
  options: { 'distrust-earlier': { type: 'boolean', about: 'reject signatures made with earlier keys' } },
  run: (invocation) =>
    withOperator(invocation, { name: 'keys' }, async (operator) => {
      const distrust = invocation.args.flag('distrust-earlier')
      const renewed = await renewIntegrityKeys(
        { ...operator.guarded, keyring: operator.keyring },
        { which: 'all', distrust },
      )
      const tenant_keys = await renewLostTenantKeys(operator)
      const detail = { keys: renewed, tenant_keys, distrust_earlier: distrust }
      await recordForAllTenants(operator, {
        operation: 'renewKeys',
        object_type: 'integrity-keys',
        object_id: SYSTEM_TENANT,
        detail,
      })
      invocation.terminal.out(`${pluralize(renewed, 'integrity key')} made.`)
      if (tenant_keys > 0) {
        invocation.terminal.out(`${pluralize(tenant_keys, 'tenant key')} made in place of lost ones.`)
      }
      return 0
    }),
}

/** Of every tenant whose own key no configured master key unwraps; the number of new keys. */
export async function renewLostTenantKeys({ guarded, keyring }: Pick<OperatorContext, 'guarded' | 'keyring'>) {
  let renewed = 0
  for (const tenant_id of await guarded.steward.write(SCOPE, listTenantIds)) {
    renewed += await renewLostTenantKey({ ...guarded, keyring }, fullScope(tenant_id, OPERATOR), () => {})
  }
  return renewed
}

export const keysRotateTenant: Command = {
  about: `
Makes a new key for the tenant and wraps the keys of its subjects and objects with it, in chunks, while everything goes on
running; then the old key is destroyed. Encrypted values stay as they are. Broken off and run again, it goes on with what is
left. Each step is in the audit record of the tenant. Backups from before hold the old key, wrapped by the master key.

Example:
  npx probity keys rotate-tenant acme`,
  positionals: ['SLUG'],
  run: (invocation) =>
    withOperator(invocation, { name: 'keys' }, async (operator) => {
      const [slug] = invocation.args.positionals as [string]
      const { tenant_id } = await requireTenant(operator, slug)
      const audit = await operator.audit()
      const context = { ...operator.guarded, keyring: operator.keyring }
      const result = await rotateTenantKey(context, fullScope(tenant_id, OPERATOR), {
        record: (tx, detail) =>
          recordAction(tx, audit, {
            operation: 'rotateTenantKey',
            object_type: 'tenant-keys',
            object_id: tenant_id,
            detail,
          }),
      })
      for (const line of describeRotation(slug, result)) invocation.terminal.out(line)
      return result.unopened > 0 ? 1 : 0
    }),
}

function describeRotation(slug: string, result: RotationResult): string[] {
  const { active_key_no, owner_keys, destroyed_key_nos, unopened } = result
  const destroyed = destroyed_key_nos.length > 0 ? `; destroyed key ${destroyed_key_nos.join(', ')}` : ''
  const done = `${slug}: key ${active_key_no} is active; ${pluralize(owner_keys, 'owner key')} wrapped by it${destroyed}.`
  if (unopened === 0) return [done]
  return [
    done,
    `${pluralize(unopened, 'owner key')} could not be opened, so the tenant key that they need stays: its master key is not ` +
      'configured, or they were altered.',
  ]
}

async function recordForAllTenants(operator: OperatorContext, act: Parameters<typeof recordAction>[2]): Promise<void> {
  const audit = await operator.audit()
  await operator.guarded.steward.write(SCOPE, async (tx) => recordActionForAll(tx, audit, await listTenantIds(tx), act))
}
