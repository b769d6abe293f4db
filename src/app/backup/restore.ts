/**
 * Fills an empty, migrated database from a backup file. The file is read to its end and checked before anything is written; rows
 * are inserted under row-level security; each tenant is compared with the file before it is committed; tenants stay suspended
 * until all of them are restored.
 */
import type { Keyring } from '#kernel/encryption/keyring.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import type { Connections } from '../environment.ts'
import { type BackupTotals, iterateRowScopes, type RecordBackup, type RowScope, readSchemaInfo } from './backup.ts'
import {
  BackupError,
  BackupReader,
  getSealKeyId,
  type Header,
  isAuthentic,
  isSameSectionEnd,
  SectionDigest,
  type SectionEnd,
} from './backup-file.ts'
import {
  type BackupTable,
  CREATE_STAGING,
  DROP_STAGING,
  hasTenantRows,
  INSERT_STAGING,
  insertFromStaging,
  insertRowsSql,
  listTables,
  SUSPEND_TENANTS,
  selectRowsSql,
  updateRowsSql,
} from './queries.ts'
import { Session, type SessionTransaction } from './session.ts'
import type { TableGroup } from './table-order.ts'

export interface RestoreOptions {
  readonly connections: Pick<Connections, 'app' | 'steward'>
  readonly keyring: Keyring
  readonly file: string
  /** Also accept a file whose master key is lost; then only its checksums are verified. */
  readonly any_key?: boolean
  readonly onTenant?: (tenant_id: string, number: number, count: number) => void | Promise<void>
  /** Called when everything is restored and all tenants are still suspended: if it fails, they stay so. */
  readonly record?: RecordBackup
  /** Asked after `record`: tenants that stay suspended although everything is there. */
  readonly listUnready?: () => readonly string[]
}

const ACTOR = 'operator:restore'

export async function restore(options: RestoreOptions): Promise<BackupTotals> {
  const header = await checkFile(options)
  const steward = await Session.open(options.connections.steward)
  try {
    const app = await Session.open(options.connections.app)
    try {
      const tables = await assertCompatible(header, steward, app)
      return await restoreAll(options, header, tables, { steward, app })
    } finally {
      await app.close()
    }
  } finally {
    await steward.close()
  }
}

/** Reads the whole file without a database. */
async function checkFile({ file, keyring, any_key }: RestoreOptions): Promise<Header> {
  const { reader, header } = await BackupReader.open(file)
  try {
    for (;;) {
      const part = await reader.next()
      if ('section' in part) {
        await drain(reader.rows(), () => {})
        continue
      }
      if (any_key || (await isAuthentic(keyring, part.trailer))) return header
      throw new BackupError(
        `${file} was sealed with a master key that is not configured, or was altered. It names the master key ` +
          `${getSealKeyId(part.trailer)}; the configured ones are ${keyring.key_ids.join(', ')}. Add the file of that key to ` +
          'PROBITY_MASTER_KEY_FILE, or its name to PROBITY_KEY_COMMAND_ID; without it the signing keys, tenant keys and ' +
          'credentials in the backup could not be opened either. If the key is lost for good, --any-key restores what needs ' +
          'no key.',
      )
    }
  } finally {
    await reader.close()
  }
}

async function drain<P, R>(pieces: AsyncGenerator<P, R>, take: (piece: P) => unknown): Promise<R> {
  for (;;) {
    const step = await pieces.next()
    if (step.done) return step.value
    await take(step.value)
  }
}

/** The database must have the schema of the backup and no rows. */
async function assertCompatible(header: Header, steward: Session, app: Session): Promise<readonly BackupTable[]> {
  const entry = { tenant_id: SYSTEM_TENANT, actor: ACTOR, mode: 'read' } as const
  const findFilled = async (tx: SessionTransaction, tables: readonly BackupTable[]): Promise<void> => {
    for (const table of tables) if (await hasTenantRows(tx, table, SYSTEM_TENANT)) throw notEmptyError(table)
  }
  const tables = await steward.transaction(entry, async (tx) => {
    const found = await listTables(tx)
    const facts = await readSchemaInfo(tx, found)
    if (facts.schema_version !== header.schema_version) throw schemaVersionError(header, facts.schema_version)
    const isSame =
      facts.schema_sha256 === header.schema_sha256 && JSON.stringify(facts.tables) === JSON.stringify(header.tables)
    if (!isSame) {
      throw new BackupError(
        `The backup and the database are both at schema ${header.schema_version}, but their tables differ: the schema of ` +
          'one of them was changed by hand. Migrate an empty database with the release that took the backup.',
      )
    }
    await findFilled(tx, [...found.filter(isDirectory), ...found.filter(isShared)])
    return found
  })
  await app.transaction(entry, (tx) =>
    findFilled(
      tx,
      tables.filter((table) => !isStewardTable(table)),
    ),
  )
  return tables
}

const isDirectory = ({ kind }: BackupTable): boolean => kind === 'directory'
const isShared = ({ kind }: BackupTable): boolean => kind === 'shared'
const isStewardTable = (table: BackupTable): boolean => isDirectory(table) || isShared(table)

const notEmptyError = ({ name }: BackupTable) =>
  new BackupError(
    `The database is not empty: ${name} has rows. A backup is restored into a new database on which only ` +
      '"npx probity migrate" was run, neither "seed" nor "start".',
  )

const schemaVersionError = (header: Header, current: string) =>
  new BackupError(
    `The backup was taken at schema ${header.schema_version} (Probity ${header.product_version}), but the database is at ` +
      `${current}. Migrate an empty database with the release that took the backup, restore into it, then upgrade.`,
  )

interface Sessions {
  readonly steward: Session
  readonly app: Session
}

async function restoreAll(
  options: RestoreOptions,
  header: Header,
  tables: readonly BackupTable[],
  sessions: Sessions,
): Promise<BackupTotals> {
  const { reader } = await BackupReader.open(options.file)
  const tenants: string[] = []
  let isBegun = false
  try {
    let number = 0
    for (const scope of iterateRowScopes(tables, tenants)) {
      const { role, tenant_id } = scope
      if (tenant_id !== SYSTEM_TENANT) await options.onTenant?.(tenant_id, ++number, header.tenants)
      await sessions[role].transaction({ tenant_id, actor: ACTOR, mode: 'write' }, (tx) =>
        restoreScope(tx, scope, reader, (id) => tenants.push(id)),
      )
      isBegun = true
    }
    const last = await reader.next()
    if (!('trailer' in last)) throw sectionOrderError(options.file)
    const { sections, rows, sha256 } = last.trailer
    await options.record?.(tenants, sha256, options.any_key ?? false)
    await sessions.steward.transaction({ tenant_id: SYSTEM_TENANT, actor: ACTOR, mode: 'write' }, async (tx) => {
      await activateTenants(tx, tables, options.file)
      await tx.run(SUSPEND_TENANTS, [options.listUnready?.() ?? []])
    })
    return { sections, rows, sha256, tenants: tenants.length }
  } catch (error) {
    throw isBegun ? partialRestoreError(error as Error) : error
  } finally {
    await reader.close()
  }
}

const sectionOrderError = (file: string) =>
  new BackupError(`${file} is damaged or was altered: its sections are out of order.`)

const partialRestoreError = (error: Error) =>
  new Error(
    `${error.message.replace(/\.$/, '')}. The database now holds a part of the backup, with every tenant suspended: drop ` +
      'it, create and migrate a new one, then try again.',
    { cause: error },
  )

/** All rows of one tenant in one transaction, compared with the file before it is committed. */
async function restoreScope(
  tx: SessionTransaction,
  scope: RowScope,
  reader: BackupReader,
  onTenant: (tenant_id: string) => void,
): Promise<void> {
  const ends: { table: BackupTable; end: SectionEnd }[] = []
  for (const group of scope.groups) {
    const insert = await createInserter(tx, group)
    for (const table of group.tables) {
      await assertNextSection(reader, scope.tenant_id, table)
      const place = table.columns.findIndex(({ name }) => name === 'tenant_id')
      const end = await drain(reader.rows(), async (lines) => {
        if (isDirectory(table)) for (const line of lines) onTenant(JSON.parse(line)[place])
        await insert.rows(table, lines).catch((error) => failRestore(scope, table, error))
      })
      ends.push({ table, end })
    }
    await insert.finish().catch((error) => failRestore(scope, group.tables[0] as BackupTable, error))
  }
  for (const { table, end } of ends) {
    // Their values are still held back.
    if (!isDirectory(table)) await assertSameRows(tx, scope, table, end)
  }
}

async function assertNextSection(reader: BackupReader, tenant_id: string, table: BackupTable): Promise<void> {
  const part = await reader.next()
  const isNext = 'section' in part && part.section.tenant_id === tenant_id && part.section.table === table.name
  if (!isNext) throw sectionOrderError(reader.file)
}

function failRestore(scope: RowScope, table: BackupTable, cause: Error): never {
  throw new Error(`${table.name} of tenant ${scope.tenant_id} could not be restored: ${cause.message}`, { cause })
}

interface Inserter {
  rows(table: BackupTable, lines: readonly string[]): Promise<unknown>
  finish(): Promise<unknown>
}

async function createInserter(tx: SessionTransaction, group: TableGroup): Promise<Inserter> {
  const parameter = (lines: readonly string[]) => `[${lines.join(',')}]`
  if (!group.entangled || group.tables.length === 0) {
    return { rows: (table, lines) => tx.run(insertRowsSql(table), [parameter(lines)]), finish: async () => {} }
  }
  await tx.run(CREATE_STAGING)
  return {
    rows: (table, lines) => tx.run(INSERT_STAGING, [parameter(lines), table.name]),
    finish: async () => {
      await tx.run(insertFromStaging(group.tables))
      await tx.run(DROP_STAGING)
    },
  }
}

async function assertSameRows(
  tx: SessionTransaction,
  scope: RowScope,
  table: BackupTable,
  end: SectionEnd,
): Promise<void> {
  const digest = new SectionDigest()
  for await (const rows of tx.stream(selectRowsSql(table, 'raw'), [scope.tenant_id])) {
    for (const row of rows) digest.add(JSON.stringify(row))
  }
  if (!isSameSectionEnd(digest.end(), end)) {
    throw new Error(`${table.name} of tenant ${scope.tenant_id} is not what the backup holds after it was restored`)
  }
}

/** The last step: restores the rows of the directories, and with them the state of the tenants. */
async function activateTenants(tx: SessionTransaction, tables: readonly BackupTable[], file: string): Promise<void> {
  const { reader } = await BackupReader.open(file)
  try {
    const scope: RowScope = { role: 'steward', tenant_id: SYSTEM_TENANT, groups: [] }
    for (const table of tables.filter(isDirectory)) {
      await assertNextSection(reader, SYSTEM_TENANT, table)
      const end = await drain(reader.rows(), (lines) => tx.run(updateRowsSql(table), [`[${lines.join(',')}]`]))
      await assertSameRows(tx, scope, table, end)
    }
  } finally {
    await reader.close()
  }
}
