/** `tenant create`: a tenant with its defaults and its first API key. */
import type { AuditKeys } from '#kernel/audit/chain.ts'
import { mintApiKey } from '#kernel/auth/api-key.ts'
import { isTenantId } from '#kernel/auth/token-verifier.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { insertApiKey } from '#modules/access/index.ts'
import { CANARY_TENANT } from '#modules/tenant/index.ts'
import { modules } from '../modules.ts'
import { findTenantBySlug, hasRows, isDeletedTenant, type TenantSummary, updateTenantState } from '../queries.ts'
import { createTenant, type NewTenant, type SeedContext } from '../seed.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { OPERATOR, type OperatorContext, withOperator } from './operator.ts'
import { recordAction } from './operator-actions.ts'

const SCOPE = fullScope(SYSTEM_TENANT, OPERATOR)
const SLUG = /^[a-z0-9][a-z0-9_-]{0,99}$/
const NAME_MAX = 200

export const tenantCreate: Command = {
  about: `
Prints the tenant id and, once, an API key with the role tenant_admin: POST /api/auth/token exchanges it for a token, and
POST /api/users invites the first people. Four eyes are on for the actions of db/seed/tenant-defaults/policies.json.
Broken off, it leaves at most a suspended tenant with nothing in it: give the command again, and it goes on from there.

Example:
  npx probity tenant create --slug acme --name 'Acme Bank'`,
  options: {
    slug: { type: 'string', value: 'SLUG', about: 'short name: lower-case letters, digits, - and _' },
    name: { type: 'string', value: 'NAME', about: 'name for people' },
    id: { type: 'string', value: 'UUID', about: 'tenant id, where your identity provider has one already' },
    json: { type: 'boolean', about: 'print JSON' },
  },
  run: async (invocation) => {
    const wanted = readTenantRequest(invocation)
    return withOperator(invocation, { name: 'tenant', needs_seed: true }, async (operator) => {
      const { guarded, keyring } = operator
      const seeding = { ...guarded, keyring, modules, project_root: invocation.project.root }
      const made = await createTenantWithKey({ guarded, seeding }, wanted)
      const { terminal, args } = invocation
      if (args.flag('json')) terminal.out(JSON.stringify(made, null, 2))
      else terminal.out(`tenant_id  ${made.tenant_id}\napi_key    ${made.api_key}`)
      terminal.note('The API key is not shown again. Delete it once the tenant has administrators of its own.')
      return 0
    })
  },
}

interface TenantRequest {
  readonly slug: string
  readonly name: string
  /** Only for a name that is not ours to choose. */
  readonly id?: string | undefined
}

interface TenantOperator {
  readonly seeding: SeedContext
  readonly guarded: Pick<OperatorContext['guarded'], 'app' | 'steward'>
}

/** The tenant becomes active only after all of its own rows have been created. */
export async function createTenantWithKey(operator: TenantOperator, wanted: TenantRequest) {
  const { slug, name } = wanted
  const tenant_id = await resolveTenantId(operator, wanted)
  const key_id = uuidv7()
  const minted = mintApiKey(tenant_id, key_id)
  let is_made = false
  const tenant: NewTenant = { tenant_id, slug, name, demo: false, four_eyes: true, state: 'suspended' }
  await createTenant(operator.seeding, tenant, OPERATOR, async (tx, keys) => {
    await insertFirstKey(tx, keys, key_id, minted.secret_hash)
    is_made = true
  })
  if (!is_made) throw new Error(`A tenant "${slug}" exists already (${tenant_id}): somebody else made it just now.`)
  await operator.guarded.steward.write(fullScope(tenant_id, OPERATOR), (tx) =>
    updateTenantState(tx, tenant_id, 'active'),
  )
  return { tenant_id, slug, key_id, api_key: minted.text }
}

async function insertFirstKey(tx: Tx, keys: AuditKeys, key_id: string, secret_hash: string): Promise<void> {
  const roles = ['tenant_admin']
  const name = 'First key, made with the tenant'
  await insertApiKey(tx, { key_id, name, roles, secret_hash, expires_in_days: null })
  recordAction(tx, keys, { operation: 'createApiKey', object_type: 'api-keys', object_id: key_id, detail: { roles } })
}

function readTenantRequest({ args }: Invocation): TenantRequest {
  const slug = args.required('slug')
  if (!SLUG.test(slug)) {
    throw new UsageError('--slug must be 1 to 100 lower-case letters, digits, - or _, starting with a letter or digit.')
  }
  const name = args.required('name').trim()
  if (name.length === 0 || name.length > NAME_MAX || /\p{Cc}/u.test(name)) {
    throw new UsageError(`--name must be 1 to ${NAME_MAX} characters on one line.`)
  }
  const id = args.text('id')
  if (id !== undefined && (!isTenantId(id) || id === CANARY_TENANT)) {
    throw new UsageError('--id must be a UUID in lower case, and not one that is reserved.')
  }
  return { slug, name, id }
}

/** The id to create it with: that of an empty tenant left by an interrupted run, or a new one. */
async function resolveTenantId(operator: TenantOperator, { slug, id }: TenantRequest): Promise<string> {
  const taken = await operator.guarded.steward.read(SCOPE, async (tx) => ({
    slug: await findTenantBySlug(tx, slug),
    id: id === undefined ? undefined : await findTenantBySlug(tx, id),
    is_deleted: id !== undefined && (await isDeletedTenant(tx, id)),
  }))
  const { slug: same } = taken
  if (same && [undefined, same.tenant_id].includes(id) && (await isEmptyTenant(operator, same))) return same.tenant_id
  if (same) throw new Error(`A tenant "${slug}" exists already (${same.tenant_id}, ${same.state}).`)
  if (taken.id) throw new Error(`A tenant with the id ${id} exists already ("${taken.id.slug}").`)
  if (taken.is_deleted) throw new Error(`The id ${id} was that of a tenant that was deleted; it is not used again.`)
  return id ?? uuidv7()
}

/** All of its own rows are created in one transaction, including the approval policy. */
const isEmptyTenant = async ({ guarded }: TenantOperator, { tenant_id, state }: TenantSummary): Promise<boolean> =>
  state === 'suspended' &&
  guarded.app.read(fullScope(tenant_id, OPERATOR), async (tx) => !(await hasRows(tx, 'approval_policy')))
