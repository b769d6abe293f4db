/** The idempotent initial data: signing key, canary tenant and, for evaluation, two demo tenants with one user per role. */
import fs from 'node:fs'
import path from 'node:path'
import type { AuditKeys } from '#kernel/audit/chain.ts'
import { recordEvent } from '#kernel/audit/record.ts'
import { BUILT_IN_ISSUER, signingKeyContext } from '#kernel/auth/built-in-issuer.ts'
import { listSigningKeys } from '#kernel/auth/queries.ts'
import { type Role, roles } from '#kernel/auth/roles.ts'
import { generateSigningKey } from '#kernel/auth/token-minter.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Scope, Transactions, Tx } from '#kernel/database/tx.ts'
import type { Keyring, KeyWrapper } from '#kernel/encryption/keyring.ts'
import { createOwnerKey } from '#kernel/encryption/owner-keys.ts'
import { insertOwnerKey, insertTenantKey } from '#kernel/encryption/queries.ts'
import { createTenantKey } from '#kernel/encryption/tenant-keys.ts'
import { createTenantKeys } from '#kernel/integrity/keys.ts'
import { insertIntegrityKeys } from '#kernel/integrity/queries.ts'
import { insertRecurringSchedules } from '#kernel/job/schedules/recurring.ts'
import type { Module } from '#kernel/module.ts'
import { ThreadAdmission } from '#kernel/thread-admission.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { WorkerThreads } from '#kernel/worker-threads.ts'
import { insertUser } from '#modules/access/index.ts'
import { seeding } from '#modules/definitions/index.ts'

import { seedPlaybooks } from '#modules/playbooks/index.ts'
import { seedPlugins } from '#modules/plugins/index.ts'
import { seedProviders } from '#modules/providers/index.ts'
import { readDefinitionSeeds, seedDefinitions } from '#modules/risk-matrices/index.ts'
import { readContractSeeds, seedContracts } from '#modules/source-contracts/index.ts'
import {
  type ApprovalRuleRow,
  CANARY_TENANT,
  insertApprovalPolicy,
  insertRetentionPolicy,
  type RetentionClassRow,
} from '#modules/tenant/index.ts'
import { loadAuditKeys, prepareIntegrityKeys } from './integrity-keys.ts'
import {
  countActiveSigningKeys,
  hasRows,
  insertSigningKey,
  insertTenant,
  isDeletedTenant,
  lockSeeding,
  retireSigningKeys,
} from './queries.ts'

export interface SeedContext {
  /** As app, inside one tenant. */
  readonly app: Pick<Transactions, 'one' | 'write'>
  /** As steward: tenants and shared rows. */
  readonly steward: Pick<Transactions, 'write'>
  readonly keyring: Keyring
  readonly modules: readonly Module[]
  readonly project_root: string
  /** Absent: shared plugins stay as they are. */
  readonly plugins?: PluginSeedOptions
}

export interface PluginSeedOptions {
  /** The operator's folder; null: none. */
  readonly folder: string | null
  /** Directory of the scripts of worker threads. */
  readonly scripts_dir: string
  /** A package that was not seeded or cannot run; the service starts nevertheless. */
  readonly onFault: (text: string) => void
}

const SEED_SCOPE: Scope = fullScope(SYSTEM_TENANT, 'seed:start')

export interface DemoUser {
  readonly user_id: string
  readonly name: string
  readonly roles: readonly Role[]
}
export interface DemoTenant {
  readonly tenant_id: string
  readonly slug: string
  readonly name: string
  readonly users: readonly DemoUser[]
}

const demoNames: Readonly<Record<Role, string>> = {
  viewer: 'Vera Viewer',
  analyst: 'Anton Analyst',
  policy_editor: 'Petra Policy',
  compliance_officer: 'Clara Compliance',
  auditor: 'Udo Auditor',
  tenant_admin: 'Tara Admin',
  service: 'Sven Service',
}

function demoTenant(number: 1 | 2, slug: string, name: string): DemoTenant {
  const id = (user: number) => `00000000-0000-7000-8000-0000000d${number}${String(user).padStart(3, '0')}`
  const users: DemoUser[] = roles.map((role, index) => ({
    user_id: id(index + 1),
    name: demoNames[role],
    roles: [role],
  }))
  // A second checker and a second administrator, so that approvals can be demonstrated.
  users.push({ user_id: id(8), name: 'Cora Compliance', roles: ['compliance_officer'] })
  users.push({ user_id: id(9), name: 'Till Admin', roles: ['tenant_admin'] })
  return { tenant_id: id(0), slug, name, users }
}

/** Fixed ids, so that documentation and examples can name them. */
export const demoTenants: readonly DemoTenant[] = [
  demoTenant(1, 'demo', 'Demo Bank'),
  demoTenant(2, 'demo-two', 'Second Demo Bank'),
]

interface TenantDefaults {
  readonly approval_rules: ApprovalRuleRow[]
  readonly retention_classes: RetentionClassRow[]
}

function readTenantDefaults(project_root: string): TenantDefaults {
  const file = path.join(project_root, 'db/seed/tenant-defaults/policies.json')
  return JSON.parse(fs.readFileSync(file, 'utf8')) as TenantDefaults
}

/** Repeatable on any number of replicas at once: a lock serialises it, and existing rows are kept. */
export async function seed(
  context: SeedContext,
  options: { demo: boolean },
  onStep: (text: string) => void = () => {},
) {
  const isFirst = (await context.steward.write(SEED_SCOPE, countActiveSigningKeys)) === 0
  const signing = isFirst ? await createSigningKey(context.keyring) : null
  await context.steward.write(SEED_SCOPE, async (tx) => {
    await lockSeeding(tx)
    if (signing && (await countActiveSigningKeys(tx)) === 0) {
      onStep('creating the signing key of the built-in issuer')
      await insertSigningKey(tx, signing)
    }
    const folder = path.join(context.project_root, 'db/seed')
    await seeding.seedRegistry(tx, seeding.readRegistrySeeds(folder), onStep)
    await seedContracts(tx, readContractSeeds(folder), onStep)
    await seedDefinitions(tx, readDefinitionSeeds(folder), onStep)
    await seedProviders(tx, folder, onStep)
    await seedPlaybooks(tx, folder, onStep)
  })
  await seedSharedPlugins(context, onStep)
  await prepareIntegrityKeys(context)
  await seedCanary(context, onStep)
  if (!options.demo) return
  for (const tenant of demoTenants) {
    if (await context.steward.write(SEED_SCOPE, (tx) => isDeletedTenant(tx, tenant.tenant_id))) continue
    const made = await createTenant(context, { ...tenant, demo: true, four_eyes: false }, 'seed:demo')
    if (made) onStep(`demo tenant ${tenant.slug}`)
    await context.app.write(fullScope(tenant.tenant_id, 'seed:demo'), async (tx) => {
      for (const user of tenant.users) await insertDemoUser(tx, tenant.slug, user)
    })
  }
}

/** In threads of its own: plugin code runs in the sandbox only, and no transaction is open meanwhile. */
async function seedSharedPlugins({ steward, plugins }: SeedContext, onStep: (text: string) => void): Promise<void> {
  if (!plugins) return
  const threads = new WorkerThreads(new ThreadAdmission({ threads: 1 }), plugins.scripts_dir)
  try {
    await seedPlugins({ steward, threads, folder: plugins.folder, onStep, onFault: plugins.onFault })
  } finally {
    await threads.close()
  }
}

const insertDemoUser = (tx: Tx, slug: string, user: DemoUser) =>
  insertUser(
    tx,
    {
      user_id: user.user_id,
      issuer: BUILT_IN_ISSUER,
      subject: `user:${user.user_id}`,
      email: `${user.name.toLowerCase().replace(' ', '.')}@${slug}.example`,
      name: user.name,
      team: null,
      locale: 'en',
      roles: user.roles,
      origin: 'built_in',
      state: 'active',
    },
    'keep',
  )

/** Outside a transaction: wrapping may ask another program. */
async function createSigningKey(keyring: KeyWrapper) {
  const { kid, alg, public_jwk, private_jwk } = await generateSigningKey()
  const sealed_private = await keyring.wrap(Buffer.from(JSON.stringify(private_jwk)), signingKeyContext(kid))
  return { kid, alg, public_jwk, sealed_private }
}

/** `record` runs in the same transaction: if it fails nothing is rotated. */
export async function rotateSigningKey(
  context: Pick<SeedContext, 'steward' | 'keyring'>,
  record: (tx: Tx, retires: readonly string[]) => Promise<void> = async () => {},
): Promise<string> {
  const key = await createSigningKey(context.keyring)
  await context.steward.write(fullScope(SYSTEM_TENANT, 'operator:cli'), async (tx) => {
    await lockSeeding(tx)
    const active = (await listSigningKeys(tx)).filter(({ state }) => state === 'active')
    await retireSigningKeys(tx)
    await insertSigningKey(tx, key)
    await record(
      tx,
      active.map(({ kid }) => kid),
    )
  })
  return key.kid
}

export interface NewTenant {
  readonly tenant_id: string
  readonly slug: string
  readonly name: string
  readonly demo: boolean
  readonly four_eyes: boolean
  /** Active by default. */
  readonly state?: 'active' | 'suspended'
}

/**
 * False when the tenant existed already; then nothing of it is changed. `more` runs in the transaction that creates its own
 * rows, once.
 */
export async function createTenant(
  context: SeedContext,
  tenant: NewTenant,
  actor: string,
  onCreate: (tx: Tx, keys: AuditKeys) => Promise<unknown> = async () => {},
): Promise<boolean> {
  const inserted = await context.steward.write(fullScope(SYSTEM_TENANT, actor), (tx) =>
    insertTenant(tx, { state: 'active', ...tenant }),
  )
  const defaults = readTenantDefaults(context.project_root)
  const audit = await loadAuditKeys(context)
  // Those of an existing tenant that has none are created when they are needed, as its tenant key is.
  const integrity = inserted === 1 ? await createTenantKeys(context.keyring, tenant.tenant_id) : []
  // Repeated on purpose: a crash between the two transactions is repaired by the next run.
  await context.app.write(fullScope(tenant.tenant_id, actor), async (tx) => {
    const isNew = (await insertApprovalPolicy(tx, tenant.four_eyes ? defaults.approval_rules : [])) === 1
    if (isNew) {
      recordEvent(tx, audit, {
        operation: 'createTenant',
        object_type: 'tenant',
        object_id: tenant.tenant_id,
        request_id: null,
        restriction_id: null,
        detail: { slug: tenant.slug, four_eyes: tenant.four_eyes },
      })
      await onCreate(tx, audit)
    }
    await insertIntegrityKeys(tx, integrity)
    await insertRetentionPolicy(tx, defaults.retention_classes)
    await insertRecurringSchedules(
      tx,
      context.modules.flatMap(({ jobs = [] }) => jobs),
    )
  })
  return inserted === 1
}

/** One row in every table, owned by a tenant that has no users: isolation checks try to read them. */
async function seedCanary(context: SeedContext, onStep: (text: string) => void): Promise<void> {
  await context.steward.write(SEED_SCOPE, (tx) =>
    insertTenant(tx, {
      tenant_id: CANARY_TENANT,
      slug: 'canary',
      name: 'Isolation canary',
      demo: false,
      state: 'suspended',
    }),
  )
  const scope: Scope = fullScope(CANARY_TENANT, 'seed:canary')
  const isKeyed = await context.app.write(scope, (tx) => hasRows(tx, 'owner_key'))
  const integrity = isKeyed ? [] : await createTenantKeys(context.keyring, CANARY_TENANT)
  const tenantKey = isKeyed ? null : await createTenantKey(context.keyring, CANARY_TENANT, 1)
  await context.app.write(scope, async (tx) => {
    await lockSeeding(tx)
    await insertIntegrityKeys(tx, integrity)
    if (tenantKey && (await insertTenantKey(tx, tenantKey)) === 1) {
      onStep('planting the isolation canary of encryption keys')
      const owner = { tenant_id: CANARY_TENANT, kind: 'object', id: CANARY_TENANT } as const
      await insertOwnerKey(tx, createOwnerKey(tenantKey, owner))
    }
    // A module that was added by an upgrade has no canary rows yet, although the others do.
    for (const module of context.modules) {
      if (module.canary_table === undefined || (await hasRows(tx, module.canary_table))) continue
      onStep(`planting the isolation canary of ${module.name}`)
      await module.canary(tx)
    }
  })
}
