/**
 * The isolation self-test: tries to read, update, delete and insert rows of another tenant and reports the results. Also lists
 * the rules of an approval policy that the people of the tenant cannot meet.
 */
import type { Tx } from '#kernel/database/tx.ts'
import { findMakerRoles, findUnmetRules, type MissingApprovers } from '#kernel/request/approvers.ts'
import { listPrincipals } from '#kernel/request/queries.ts'
import type { Route } from '#kernel/route.ts'
import {
  createSavepoint,
  findDatabaseRole,
  findPoliciesDigest,
  listIsolatedTables,
  probeDelete,
  probeInsert,
  probeSelect,
  probeUpdate,
  probeWithoutTenant,
  rollBackToSavepoint,
} from './queries.ts'

/** Gets one row in every table when the database is seeded, and is used for nothing else. */
export const CANARY_TENANT = '00000000-0000-7000-8000-00000000ca7a'

/** Rules of a policy that the present people and keys cannot meet. */
export async function listUnmetRules(
  tx: Tx,
  routes: readonly Route[],
  rules: readonly { action: string; approvers: number; role: string }[],
): Promise<MissingApprovers[]> {
  return findUnmetRules(rules, await listPrincipals(tx), (action) => findMakerRoles(routes, action))
}

interface ProbeResult {
  readonly probe: string
  readonly attempt: string
  readonly expected: string
  readonly observed: string
  readonly passed: boolean
}

/** SQLSTATEs of a refusal. 42501: by a policy or a missing grant; PB002 to PB004: by triggers that protect history and order. */
const REFUSALS: Readonly<Record<string, string>> = {
  '42501': 'refused',
  PB002: 'refused',
  PB003: 'refused',
  PB004: 'refused',
}

async function attempt(
  tx: Tx,
  probe: { name: string; text: string; expected: '0 rows' | 'refused'; run: () => Promise<number> },
): Promise<ProbeResult> {
  await createSavepoint(tx)
  let observed: string
  try {
    observed = `${await probe.run()} rows`
  } catch (error) {
    const code = (error as { code?: string }).code ?? ''
    observed = REFUSALS[code] ?? `error ${code}`
  }
  await rollBackToSavepoint(tx)
  // A refusal is stronger evidence than an empty result.
  const passed = observed === probe.expected || (probe.expected === '0 rows' && observed === 'refused')
  return { probe: probe.name, attempt: probe.text, expected: probe.expected, observed, passed }
}

export async function checkIsolation(tx: Tx) {
  const tables = []
  for (const { table_name, kind } of await listIsolatedTables(tx)) {
    const other = CANARY_TENANT
    const probes = [
      await attempt(tx, {
        name: 'read',
        text: `read rows of ${other}`,
        expected: '0 rows',
        run: () => probeSelect(tx, table_name, other),
      }),
      await attempt(tx, {
        name: 'change',
        text: `change rows of ${other}`,
        expected: '0 rows',
        run: () => probeUpdate(tx, table_name, other),
      }),
      await attempt(tx, {
        name: 'remove',
        text: `remove rows of ${other}`,
        expected: '0 rows',
        run: () => probeDelete(tx, table_name, other),
      }),
      await attempt(tx, {
        name: 'plant',
        text: `insert a row for ${other}`,
        expected: 'refused',
        run: () => probeInsert(tx, table_name, other),
      }),
      await attempt(tx, {
        name: 'no_tenant',
        text: 'read without any tenant',
        expected: '0 rows',
        run: () => probeWithoutTenant(tx, table_name, other),
      }),
    ]
    tables.push({ table: table_name, kind, probes })
  }
  const all = tables.flatMap((table) => table.probes)
  const failed = all.filter((probe) => !probe.passed).length
  const role = await findDatabaseRole(tx)
  const digest = await findPoliciesDigest(tx)
  if (!role || !digest) throw new Error('the catalogue did not answer')
  const sound = !role.superuser && !role.bypasses_row_security && !role.owns_tables
  return {
    passed: failed === 0 && sound && all.length > 0,
    checked_at: new Date().toISOString(),
    tenant_id: tx.tenant_id,
    canary_tenant_id: CANARY_TENANT,
    database_role: role,
    probes: all.length,
    failed,
    tables,
    policies_sha256: digest.digest,
  }
}
