/**
 * Encryption: a credential encrypted and decrypted under its owner's key, beside bare AES-256-GCM of the same bytes, in process; and the
 * keys of 10,000 tenants wrapped again by a new master key, in the database, audit record included.
 */
import { createCipheriv, createDecipheriv, createSecretKey, randomBytes } from 'node:crypto'
import { recordAction } from '#app/cli/operator-actions.ts'
import { loadAuditKeys } from '#app/integrity-keys.ts'
import { listMasterKeyUses, rewrapAll } from '#app/keys/rewrap.ts'
import { Database } from '#kernel/database/tx.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { createOwnerKey, unwrapOwnerKey } from '#kernel/encryption/owner-keys.ts'
import { toTenantKeyContext } from '#kernel/encryption/tenant-keys.ts'
import { decryptValue, encryptValue } from '#kernel/encryption/value-format.ts'
import { SYSTEM_TENANT, uuidv7 } from '#kernel/uuid.ts'
import { type BenchDatabases, MASTER_KEY_HEX } from './database.ts'
import { median } from './median.ts'
import { readPostgresCpu } from './postgres-cpu.ts'
import { type Comparison, measureTime } from './registry-bench.ts'

const ROUNDS = 9
const PASSES = 5_000
const CREDENTIAL_BYTES = 200
const TENANTS = 10_000
const LIMIT_S = 10

export async function measureKeys(databases: BenchDatabases, log: (text: string) => void): Promise<Comparison[]> {
  return [measureCredential(), await measureRewrap(databases, log)]
}

/** The owner key is unwrapped each time, as it is for every value; reading its row is not counted. */
function measureCredential(): Comparison {
  const tenantKey = { key_no: 1, key: createSecretKey(randomBytes(32)) }
  const tenant_id = uuidv7()
  const owner = { tenant_id, ...createOwnerKey(tenantKey, { tenant_id, kind: 'object', id: uuidv7() }) }
  const at = { table: 'provider_credential_version', row_id: `${uuidv7()}/1`, column: 'secret' }
  const plaintext = randomBytes(CREDENTIAL_BYTES)
  const ours = () => {
    const open = () => ({ tenant_id, key_no: 1, key: unwrapOwnerKey(tenantKey.key, owner) })
    const stored = encryptValue(open(), at, plaintext)
    if (decryptValue(open(), at, stored).length !== CREDENTIAL_BYTES) throw new Error('decrypted to something else')
  }
  const bareKey = createSecretKey(randomBytes(32))
  const bare = () => {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', bareKey, nonce)
    const stored = Buffer.concat([cipher.update(plaintext), cipher.final()])
    const decipher = createDecipheriv('aes-256-gcm', bareKey, nonce).setAuthTag(cipher.getAuthTag())
    if (Buffer.concat([decipher.update(stored), decipher.final()]).length !== CREDENTIAL_BYTES) throw new Error('lost')
  }
  const rounds = Array.from({ length: ROUNDS + 1 }, () => ({ ours_us: timeEach(ours), bare_us: timeEach(bare) })).slice(
    1,
  )
  return {
    label: 'encrypt and decrypt a credential under its owner key',
    entries: 1,
    ours: `${median(rounds.map(({ ours_us }) => ours_us)).toFixed(1)} µs`,
    baseline: `bare AES-256-GCM ${median(rounds.map(({ bare_us }) => bare_us)).toFixed(1)} µs`,
    ratio: median(rounds.map(({ ours_us, bare_us }) => bare_us / ours_us)),
    aim: 0.33,
    floor: 0.33,
  }
}

function timeEach(body: () => void): number {
  const from_ms = performance.now()
  for (let pass = 0; pass < PASSES; pass++) body()
  return ((performance.now() - from_ms) * 1000) / PASSES
}

async function measureRewrap(databases: BenchDatabases, log: (text: string) => void): Promise<Comparison> {
  log(`wrapping the keys of ${TENANTS} tenants`)
  const old = Buffer.from(MASTER_KEY_HEX, 'hex')
  await insertTenantsWithKeys(databases, createKeyring(old))
  const connect = (role: 'app' | 'steward') =>
    new Database({
      connection: databases.isolated(role),
      max: 2,
      prepared: false,
      statement_timeout_ms: 60_000,
      wait_ms: 5000,
    })
  const [app, steward] = [connect('app'), connect('steward')]
  try {
    const keyring = createKeyring([randomBytes(32), old])
    const audit = await loadAuditKeys({ app, keyring })
    const operation = { operation: 'rewrapKeys', object_type: 'integrity-keys' }
    const before_us = readPostgresCpu()
    const took_ms = await measureTime(() =>
      rewrapAll({ steward, keyring }, async (tx, tenant_id, detail) => {
        if (tenant_id !== SYSTEM_TENANT) recordAction(tx, audit, { ...operation, object_id: tenant_id, detail })
      }),
    )
    const cpu_s = (readPostgresCpu() - before_us) / 1e6
    const [use, ...others] = await listMasterKeyUses({ steward })
    if (others.length > 0 || !use || use.tenant_keys < TENANTS) throw new Error('not every key was wrapped again')
    return {
      label: 'wrap the keys of tenants again with a new master key, audited',
      entries: TENANTS,
      ours: `${(took_ms / 1000).toFixed(1)} s (CPU of PostgreSQL ${cpu_s.toFixed(1)} s)`,
      baseline: `limit ${LIMIT_S} s`,
      ratio: (LIMIT_S * 1000) / took_ms,
      aim: 1,
      floor: 1,
    }
  } finally {
    await Promise.all([app.end(), steward.end()])
  }
}

async function insertTenantsWithKeys(databases: BenchDatabases, keyring: ReturnType<typeof createKeyring>) {
  const rows = Array.from({ length: TENANTS }, () => {
    const tenant_id = uuidv7()
    return `('${tenant_id}'::uuid, '${keyring.encrypt(randomBytes(32), toTenantKeyContext(tenant_id, 1))}')`
  })
  await databases.runAsAdmin(`
    create temporary table made (tenant_id uuid, wrapped text);
    insert into made values ${rows.join(', ')};
    insert into app.tenant (tenant_id, slug, name, demo, state)
      select tenant_id, 'bench-' || tenant_id, 'Measured', false, 'active' from made;
    insert into app.tenant_key (tenant_id, key_no, wrapped, wrapped_by)
      select tenant_id, 1, wrapped, '${keyring.key_id}' from made;
    analyze app.tenant_key`)
}
