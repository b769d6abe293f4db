/**
 * What a tenant could try against another one's rows with SQL, as the role `app`: each probe names what went through, and
 * nothing is the only good answer. Used against the isolation policies as they are, and against policies broken on purpose.
 */
import type pg from 'pg'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { attemptAll, buildInsertSql, findRow, type Row, type Table } from './support.ts'

export interface ProbeTenants {
  /** Has a row in every table a tenant can have rows in. */
  readonly victim: string
  /** So has this one, who attacks. */
  readonly attacker: string
  /** This one has nothing, so that no key of its own is in the way of a planted row. */
  readonly newcomer: string
}

/** Every tenant has schedules of the service, whose names would be in the way. */
const ownNames: Readonly<Record<string, Row>> = { job_schedule: { name: 'of the newcomer' } }

interface Probe {
  readonly name: string
  readonly text: string
  readonly values?: readonly unknown[]
  /** Whose context: a tenant, or nobody's. */
  readonly as: string | null
  readonly actor?: string | null
  /** SQLSTATEs or row counts that mean: nothing happened. */
  readonly safe: readonly (number | string)[]
}

const NONE_OR_REFUSED = [0, '42501', 'PB002'] as const
/** Triggers that keep the order of versions and activations run before the isolation policy is checked. */
const REFUSED = ['42501', 'PB002', 'PB003', 'PB004'] as const

function buildProbes(table: Table, row: Row, { victim, attacker, newcomer }: ProbeTenants): Probe[] {
  const name = `app.${table.name}`
  const column = table.columns.find(({ writable }) => writable)?.name ?? 'tenant_id'
  const touch = `update ${name} set "${column}" = "${column}"`
  const theirs = [victim]
  return [
    { name: 'read', as: attacker, text: `select 1 from ${name} where tenant_id = $1`, values: theirs, safe: [0] },
    {
      name: 'read whatever is not its own',
      as: attacker,
      text: `select 1 from ${name} where tenant_id not in ($1, $2)`,
      values: [attacker, SYSTEM_TENANT],
      safe: [0],
    },
    { name: 'change', as: attacker, text: `${touch} where tenant_id = $1`, values: theirs, safe: NONE_OR_REFUSED },
    {
      name: 'change whatever is not its own',
      as: attacker,
      text: `${touch} where tenant_id <> $1`,
      values: [attacker],
      safe: NONE_OR_REFUSED,
    },
    {
      name: 'remove',
      as: attacker,
      text: `delete from ${name} where tenant_id <> $1`,
      values: [attacker],
      safe: NONE_OR_REFUSED,
    },
    { name: 'plant', as: attacker, text: buildInsertSql(table), values: [row], safe: REFUSED },
    {
      name: 'give away',
      as: attacker,
      text: `update ${name} set tenant_id = $2 where tenant_id = $1`,
      values: [attacker, victim],
      // A table without rows of tenants has none to give away.
      safe: table.kind === 'shared' ? NONE_OR_REFUSED : ['42501', 'PB002', 'PB004'],
    },
    ...table.references.map(({ constraint }) => ({
      name: `refer by ${constraint}`,
      as: newcomer,
      text: buildInsertSql(table),
      values: [{ ...row, tenant_id: newcomer, ...ownNames[table.name] }],
      safe: ['23503', '23514', ...REFUSED],
    })),
    { name: 'read for nobody', as: null, text: `select 1 from ${name}`, safe: [0] },
    { name: 'change for nobody', as: null, text: touch, safe: NONE_OR_REFUSED },
    { name: 'remove for nobody', as: null, text: `delete from ${name}`, safe: NONE_OR_REFUSED },
    { name: 'plant for nobody', as: null, text: buildInsertSql(table), values: [row], safe: REFUSED },
    {
      name: 'write anonymously',
      as: attacker,
      actor: null,
      text: buildInsertSql(table),
      values: [{ ...row, tenant_id: attacker }],
      safe: ['PB001', '42501'],
    },
    { name: 'empty the table', as: attacker, text: `truncate ${name} cascade`, safe: REFUSED },
    ...(table.kind === 'shared' ? buildSharedProbes(table, row, touch) : []),
  ]
}

/** Only steward writes what everybody reads, whatever tenant app claims to speak for. */
function buildSharedProbes(table: Table, row: Row, touch: string): Probe[] {
  const everybody = [SYSTEM_TENANT]
  const name = `app.${table.name}`
  return [
    { name: 'change a shared row', as: SYSTEM_TENANT, text: `${touch} where tenant_id = $1`, values: everybody },
    {
      name: 'remove a shared row',
      as: SYSTEM_TENANT,
      text: `delete from ${name} where tenant_id = $1`,
      values: everybody,
    },
    {
      name: 'plant a shared row',
      as: SYSTEM_TENANT,
      text: buildInsertSql(table),
      values: [{ ...row, tenant_id: SYSTEM_TENANT }],
    },
  ].map((probe) => ({ ...probe, safe: probe.name.startsWith('plant') ? REFUSED : NONE_OR_REFUSED }))
}

/**
 * Tries everything inside the open transaction of `client`, which must run as app; gives `table: probe → observed` for
 * each probe that got through.
 */
export async function findBreaches(
  client: pg.Client,
  tables: readonly Table[],
  rows: ReadonlyMap<string, Row>,
  tenants: ProbeTenants,
): Promise<{ tried: number; breaches: string[] }> {
  const probes = tables.flatMap((table) =>
    buildProbes(table, rows.get(table.name) as Row, tenants).map((probe) => ({ table: table.name, ...probe })),
  )
  const observed = await attemptAll(
    client,
    probes.map(({ text, values = [], as: tenant_id, actor = 'user:probe' }) => ({
      text,
      values,
      as: { tenant_id, actor },
    })),
  )
  const breaches = probes.flatMap(({ table, name, safe }, place) => {
    const outcome = observed[place] as number | string
    return safe.includes(outcome) ? [] : [`${table}: ${name} → ${outcome}`]
  })
  return { tried: probes.length, breaches }
}

/**
 * The rows the probes aim at, by table name: one of the victim each, with all its references set; where only the system
 * tenant may have rows, the system's in the victim's name.
 */
export async function readVictimRows(
  superuser: pg.Client,
  tables: readonly Table[],
  victim: string,
): Promise<ReadonlyMap<string, Row>> {
  const rows = new Map<string, Row>()
  for (const { name } of tables) {
    const row = (await findRow(superuser, name, victim)) ?? (await findRow(superuser, name, SYSTEM_TENANT))
    if (!row) throw new Error(`no row to attack in ${name}: a module's canary() leaves it out`)
    rows.set(name, { ...row, tenant_id: victim })
  }
  for (const { name, references } of tables) {
    const targets = references.flatMap(({ table, columns }) =>
      columns.map((column) => [column.name, rows.get(table)?.[column.target]] as const),
    )
    rows.set(name, { ...rows.get(name), ...Object.fromEntries(targets) })
  }
  return rows
}
