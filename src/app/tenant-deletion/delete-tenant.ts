/**
 * Deletes everything a tenant has, table by table, in transactions of bounded size. Each transaction leaves a state from which
 * another run goes on, so the process may be killed at any moment.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { fullScope } from '#kernel/database/scope.ts'
import { type ConnectionConfig, openClient } from '#kernel/database/servers.ts'
import type { Transactions } from '#kernel/database/tx.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { listTables, type QueryRunner } from '../backup/queries.ts'
import type { TableGroup } from '../backup/table-order.ts'
import { sortForDeletion } from './deletion-order.ts'
import {
  areOlderEnded,
  closeRows,
  countRows,
  declareRows,
  deleteAllRows,
  deleteRows,
  deleteTenantRow,
  fetchRows,
  findAuditEnd,
  findTenantState,
  findTransactionId,
  insertTenantDeletion,
  listFilledTables,
  listReferences,
  type Reference,
  SET_OWNER_CONTEXT,
  SET_REMOVAL_CONTEXT,
  type TenantTable,
  tryLockDeletion,
  updateFinished,
  updateToDeleting,
  vacuum,
} from './queries.ts'

/** What was committed just now. */
export interface DeletionStep {
  readonly step: 'recorded' | 'locked' | 'rows' | 'tenant' | 'finished'
  readonly table?: string
  readonly rows?: number
}

export interface DeletionOptions {
  /** As the role migrator, which may become the owner of the tables. */
  readonly migrator: ConnectionConfig
  readonly steward: Pick<Transactions, 'write'>
  readonly tenant_id: string
  readonly actor: string
  readonly batch_rows?: number
  readonly onStep?: (step: DeletionStep) => unknown
}

const BATCH_ROWS = 5000
/** After that many rows of one table: until then each check of a reference to it reads the index entries of removed rows. */
const VACUUM_AFTER_ROWS = 10_000
const WAIT_MS = 100
const MAX_WAITS = 600
const MAX_SWEEPS = 20

/** One connection as app_owner; each transaction is inside the tenant. */
class OwnerSession {
  readonly #client: pg.Client
  readonly #options: DeletionOptions

  private constructor(client: pg.Client, options: DeletionOptions) {
    this.#client = client
    this.#options = options
  }

  static async open(options: DeletionOptions): Promise<OwnerSession> {
    const session = new OwnerSession(await openClient(options.migrator), options)
    try {
      await session.direct.run('set role app_owner')
      return session
    } catch (error) {
      await session.close()
      throw error
    }
  }

  /** Outside a transaction. */
  get direct(): QueryRunner {
    return {
      query: async (text, values = []) => (await this.#client.query(text, [...values])).rows,
      run: async (text, values = []) => (await this.#client.query(text, [...values])).rowCount ?? 0,
    }
  }

  /** A failed transaction ends the session: nothing is retried on it. */
  async transaction<T>(body: (tx: QueryRunner) => Promise<T>): Promise<T> {
    const { tenant_id, actor } = this.#options
    try {
      await this.#client.query('begin')
      await this.#client.query(SET_OWNER_CONTEXT, [tenant_id, actor])
      const result = await body(this.direct)
      await this.#client.query('commit')
      return result
    } catch (error) {
      await this.close()
      throw error
    }
  }

  /** As `transaction`, and rows may be removed that are never removed otherwise. */
  removal<T>(body: (tx: QueryRunner) => Promise<T>): Promise<T> {
    return this.transaction(async (tx) => {
      await tx.run(SET_REMOVAL_CONTEXT, [this.#options.tenant_id])
      return body(tx)
    })
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => {})
  }
}

async function withOwner<T>(options: DeletionOptions, body: (owner: OwnerSession) => Promise<T>): Promise<T> {
  const owner = await OwnerSession.open(options)
  try {
    return await body(owner)
  } finally {
    await owner.close()
  }
}

/** Without the list of tenants, whose row goes last. */
const listOwnTables = async (tx: QueryRunner): Promise<readonly TenantTable[]> =>
  (await listTables(tx)).filter(({ kind }) => kind !== 'directory')

/** Rows of the tenant by table; tables without any are left out. */
export const countTenantRows = (options: DeletionOptions): Promise<Record<string, number>> =>
  withOwner(options, (owner) =>
    owner.transaction(async (tx) => countRows(tx, await listOwnTables(tx), options.tenant_id)),
  )

/** Also goes on where an earlier run was broken off, and removes what a late transaction added. */
export const deleteTenant = (options: DeletionOptions): Promise<void> =>
  withOwner(options, async (owner) => {
    const { tenant_id, onStep = () => {} } = options
    if (!(await tryLockDeletion(owner.direct, tenant_id))) {
      throw new Error('Another process deletes this tenant now.')
    }
    await begin(options, owner)
    const work = await planDeletion(options, owner)
    await empty(work)
    if ((await owner.removal((tx) => deleteTenantRow(tx, tenant_id))) > 0) await onStep({ step: 'tenant' })
    // From here on tables that refer to the tenant take no row; what was written before is removed from the others.
    await waitForOlder(owner)
    await empty(work)
    const scope = fullScope(SYSTEM_TENANT, options.actor)
    const finished = await options.steward.write(scope, (tx) => updateFinished(tx, tenant_id))
    if (finished > 0) await onStep({ step: 'finished' })
  })

/** Records what is going to be deleted, then locks the tenant for ever; nothing where both happened before. */
async function begin(options: DeletionOptions, owner: OwnerSession): Promise<void> {
  const { tenant_id, steward, onStep = () => {} } = options
  const state = await owner.transaction((tx) => findTenantState(tx, tenant_id))
  if (state === undefined || state === 'deleting') return
  const deletion = await owner.transaction(async (tx) => {
    const { seq, hash } = await findAuditEnd(tx, tenant_id)
    const row_counts = await countRows(tx, await listOwnTables(tx), tenant_id)
    return { deleted_tenant_id: tenant_id, audit_seq: seq, audit_hash: hash, row_counts }
  })
  await steward.write(fullScope(SYSTEM_TENANT, options.actor), (tx) => insertTenantDeletion(tx, deletion))
  await onStep({ step: 'recorded' })
  await owner.transaction((tx) => updateToDeleting(tx, tenant_id))
  await onStep({ step: 'locked' })
  await waitForOlder(owner)
}

/** Transactions that began before may still write rows of the tenant. */
async function waitForOlder(owner: OwnerSession): Promise<void> {
  const xid = await owner.transaction(findTransactionId)
  for (let waits = 0; waits < MAX_WAITS; waits++) {
    if (await areOlderEnded(owner.direct, xid)) return
    await sleep(WAIT_MS)
  }
  throw new Error(
    'A transaction on this server has been open for more than a minute. Run the command again when it has ended.',
  )
}

interface DeletionWork {
  readonly options: DeletionOptions
  readonly owner: OwnerSession
  readonly groups: readonly TableGroup[]
  readonly references: readonly Reference[]
}

async function planDeletion(options: DeletionOptions, owner: OwnerSession): Promise<DeletionWork> {
  const [tables, references] = await owner.transaction(async (tx) => [
    await listOwnTables(tx),
    await listReferences(tx),
  ])
  return { options, owner, groups: sortForDeletion(tables), references }
}

/** Repeated: another process may have added rows to a table that was empty already. */
async function empty(work: DeletionWork): Promise<void> {
  const { owner, groups, options } = work
  const tables = groups.flatMap((group) => group.tables)
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    const filled = await owner.transaction((tx) => listFilledTables(tx, tables, options.tenant_id))
    if (filled.size === 0) return
    for (const group of groups) {
      if (!group.tables.some(({ name }) => filled.has(name))) continue
      if (group.entangled) await emptyTogether(work, group)
      else for (const table of group.tables) await emptyTable(work, table, [])
    }
  }
  throw new Error('Rows of the tenant are still being added. Stop what writes them, then run the command again.')
}

/** `references`: rows that these name are left. Returns how many rows were removed. */
async function emptyTable(
  { owner, options }: DeletionWork,
  table: TenantTable,
  references: readonly Reference[],
): Promise<number> {
  const { tenant_id, batch_rows = BATCH_ROWS, onStep = () => {} } = options
  await owner.transaction((tx) => declareRows(tx, table, tenant_id, references))
  let removed = 0
  for (;;) {
    const places = await fetchRows(owner.direct, batch_rows)
    if (places.length === 0) break
    const rows = await owner.removal((tx) => deleteRows(tx, table, tenant_id, places))
    removed += rows
    await onStep({ step: 'rows', table: table.name, rows })
  }
  await closeRows(owner.direct)
  if (removed > VACUUM_AFTER_ROWS) await vacuum(owner.direct, table)
  return removed
}

/** Removes rows that nothing refers to until none is left; what remains refers to itself in a circle. */
async function emptyTogether(work: DeletionWork, { tables }: TableGroup): Promise<void> {
  const { owner, options, references } = work
  const names = new Set(tables.map(({ name }) => name))
  for (;;) {
    let removed = 0
    for (const table of tables) {
      const within = references.filter(({ from, to }) => to === table.name && names.has(from))
      removed += await emptyTable(work, table, within)
    }
    if (removed === 0) break
  }
  const left = await owner.transaction((tx) => listFilledTables(tx, tables, options.tenant_id))
  if (left.size === 0) return
  await owner.removal((tx) => deleteAllRows(tx, tables, options.tenant_id))
  for (const table of left) await options.onStep?.({ step: 'rows', table })
}
