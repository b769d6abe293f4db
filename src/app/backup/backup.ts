/**
 * Writes all data that is not derived into one file, as of one instant: one snapshot for all connections, the list of tenants
 * and the shared rows read as steward, each tenant's rows as app inside the tenant. No role bypasses row-level security.
 */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import type { Keyring } from '#kernel/encryption/keyring.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import type { Connections } from '../environment.ts'
import { type BackupCounts, BackupError, BackupWriter } from './backup-file.ts'
import {
  type BackupTable,
  exportSnapshot,
  listMigrations,
  listTables,
  listTenantIds,
  selectRowsSql,
} from './queries.ts'
import { Session, type SessionTransaction } from './session.ts'
import { sortByDependency, type TableGroup } from './table-order.ts'

export interface BackupOptions {
  readonly connections: Pick<Connections, 'app' | 'steward'>
  readonly keyring: Keyring
  readonly product_version: string
  readonly file: string
  /** Checked between chunks: an aborted backup leaves nothing behind. */
  readonly signal?: AbortSignal
  /** Called before the rows of each tenant. */
  readonly onTenant?: (tenant_id: string, number: number, count: number) => void | Promise<void>
  /** Called when the file is complete and has no name yet: if it fails there is no backup. */
  readonly record?: RecordBackup
}

/** `any_key`: the master key of what was restored may be lost. */
export type RecordBackup = (tenant_ids: readonly string[], sha256: string, any_key?: boolean) => Promise<void>

export interface BackupTotals extends BackupCounts {
  readonly tenants: number
}

const ACTOR = 'operator:backup'

export async function backup(options: BackupOptions): Promise<BackupTotals> {
  const { connections, file } = options
  if (fs.existsSync(file)) throw new BackupError(`${file} exists already; a backup replaces no file.`)
  const steward = await Session.open(connections.steward)
  try {
    const app = await Session.open(connections.app)
    try {
      return await steward.transaction({ tenant_id: SYSTEM_TENANT, actor: ACTOR, mode: 'read' }, (tx) =>
        writeAll(options, tx, app),
      )
    } finally {
      await app.close()
    }
  } finally {
    await steward.close()
  }
}

async function writeAll(options: BackupOptions, steward: SessionTransaction, app: Session): Promise<BackupTotals> {
  const { file, keyring, onTenant, signal } = options
  const snapshot = await exportSnapshot(steward)
  const tables = await listTables(steward)
  const tenants = await listTenantIds(steward)
  // Under a temporary name until it is complete: whatever ends this process, no partial file looks like a backup.
  const part = `${file}.part-${process.pid}`
  const writer = new BackupWriter(part)
  try {
    await writer.writeHeader({
      ...(await readSchemaInfo(steward, tables)),
      ...backupMetadata(options),
      tenants: tenants.length,
    })
    let number = 0
    for (const { role, tenant_id, groups } of iterateRowScopes(tables, tenants)) {
      const write = async (tx: SessionTransaction) => {
        for (const table of groups.flatMap((group) => group.tables)) {
          const rows = tx.stream(selectRowsSql(table, 'stored'), [tenant_id])
          await writer.writeSection({ tenant_id, table: table.name }, withAbort(rows, signal))
        }
      }
      if (tenant_id !== SYSTEM_TENANT) await onTenant?.(tenant_id, ++number, tenants.length)
      if (role === 'steward') await write(steward)
      else await app.transaction({ tenant_id, actor: ACTOR, mode: 'read', snapshot }, write)
    }
    const totals = await writer.finish(keyring)
    await options.record?.(tenants, totals.sha256)
    moveIntoPlace(part, file)
    return { ...totals, tenants: tenants.length }
  } catch (error) {
    await writer.abort()
    fs.rmSync(part, { force: true })
    throw error
  }
}

async function* withAbort<T>(pieces: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  signal?.throwIfAborted()
  for await (const piece of pieces) {
    yield piece
    signal?.throwIfAborted()
  }
}

/** A hard link never replaces a file that was created meanwhile; not every file system supports links. */
function moveIntoPlace(part: string, file: string): void {
  try {
    fs.linkSync(part, file)
    fs.unlinkSync(part)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new BackupError(`${file} exists already; a backup replaces no file.`)
    }
    fs.renameSync(part, file)
  }
}

const backupMetadata = ({ product_version }: BackupOptions) => ({ product_version, taken_at: new Date().toISOString() })

/** What the target database must have in common with the source. */
export async function readSchemaInfo(tx: SessionTransaction, tables: readonly BackupTable[]) {
  const migrations = await listMigrations(tx)
  return {
    schema_version: migrations.at(-1)?.version ?? '0000',
    schema_sha256: createHash('sha256').update(JSON.stringify(migrations)).digest('hex'),
    tables: tables.map(({ name, kind, columns }) => ({ name, kind, columns: [...columns] })),
  }
}

export interface RowScope {
  readonly role: 'steward' | 'app'
  readonly tenant_id: string
  readonly groups: readonly TableGroup[]
}

/** Which role reads and writes which rows, in an order in which every row follows those it references. */
export function* iterateRowScopes(tables: readonly BackupTable[], tenants: Iterable<string>): Generator<RowScope> {
  const ordered = sortByDependency(tables)
  const those = (wanted: (table: BackupTable) => boolean): TableGroup[] =>
    ordered.map((group) => ({ ...group, tables: group.tables.filter(wanted) }))
  const directories = { tables: tables.filter(({ kind }) => kind === 'directory'), entangled: false }
  const shared = those(({ kind }) => kind === 'shared')
  yield { role: 'steward', tenant_id: SYSTEM_TENANT, groups: [directories, ...shared] }
  yield { role: 'app', tenant_id: SYSTEM_TENANT, groups: those(({ kind }) => kind !== 'shared') }
  for (const tenant_id of tenants) yield { role: 'app', tenant_id, groups: ordered }
}
