/** Test support: two tenants with something in every table, files of backups, whole and forged, and databases to restore them into. */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { backup } from '#app/backup/backup.ts'
import { BackupReader, type SectionEnd } from '#app/backup/backup-file.ts'
import { restore } from '#app/backup/restore.ts'
import { createKeyring, type Keyring } from '#kernel/encryption/keyring.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { TEST_MASTER_KEY } from './database.ts'
import { createEmptyDatabase, type EmptyDatabase } from './empty-database.ts'
import { ExampleTenant } from './example-tenant.ts'
import { startTestApp, type TestApp } from './test-app.ts'

export const keyring = createKeyring(TEST_MASTER_KEY)

export class BackupFixture {
  readonly w: TestApp
  readonly one: ExampleTenant
  readonly two: ExampleTenant
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-backup-'))
  readonly #targets: EmptyDatabase[] = []
  #files = 0

  private constructor(w: TestApp, one: ExampleTenant, two: ExampleTenant) {
    this.w = w
    this.one = one
    this.two = two
  }

  static async create(): Promise<BackupFixture> {
    const w = await startTestApp()
    const made = new BackupFixture(w, await ExampleTenant.create(w), await ExampleTenant.create(w))
    for (const tenant of [made.one, made.two]) {
      await tenant.insertCanaryRows()
      for (const make of [tenant.key, tenant.upload, tenant.endedJob, tenant.changeRequest]) await make()
    }
    const odd = 'tab\t, quote ", backslash \\, line\nend, é, 漢字, 👩🏽‍💻, \u2028'
    await w.call('POST /users', {
      token: await made.one.token(),
      body: { name: odd, email: 'odd@example.com', roles: ['viewer'] },
    })
    const bytes = Buffer.from(Array.from({ length: 2_500_000 }, (_, index) => (index * 7919) % 256))
    const headers = { 'content-type': 'application/octet-stream' }
    await w.call('POST /uploads', { token: await made.two.token(), payload: bytes, headers })
    return made
  }

  async close(): Promise<void> {
    await Promise.all(this.#targets.map((target) => target.drop()))
    await this.w.close()
    fs.rmSync(this.folder, { recursive: true, force: true })
  }

  newFile(): string {
    this.#files += 1
    return path.join(this.folder, `${this.#files}.ndjson.gz`)
  }

  async newTarget(): Promise<EmptyDatabase> {
    const target = await createEmptyDatabase()
    this.#targets.push(target)
    return target
  }

  /** A job as a worker has it that dies in the next moment. */
  async runningJob(): Promise<string> {
    const { one } = this
    const job_id = await one.newJob()
    await one.write((tx) =>
      tx.run(
        `update app.job set state = 'running', attempts = 1, lease_token = $2, lease_until = now() + interval '1 min',
                worker = 'a worker', started_at = now() where tenant_id = $1 and job_id = $3`,
        [one.tenant_id, uuidv7(), job_id],
      ),
    )
    return job_id
  }

  take(file: string, options: { connections?: TestApp['clone']; onTenant?: () => Promise<void> } = {}) {
    return backup({ connections: this.w.clone, keyring, product_version: '0.0.0-test', file, ...options })
  }

  writeLines(lines: readonly string[]): string {
    const file = this.newFile()
    fs.writeFileSync(file, gzipSync(lines.map((line) => `${line}\n`).join('')))
    return file
  }

  /** A forger who knows the format but not the master key: every checksum is right again. */
  forge(lines: readonly string[]): string {
    const made: string[] = []
    let section: string[] = []
    let rows = 0
    for (const line of lines.slice(0, -1)) {
      if (line.startsWith('[')) section.push(line)
      if (line.startsWith('{"end"')) {
        made.push(...section, JSON.stringify({ end: { rows: section.length, sha256: sha256(section) } }))
        rows += section.length
        section = []
      } else if (!line.startsWith('[')) made.push(line)
    }
    const { trailer } = JSON.parse(lines.at(-1) as string)
    return this.writeLines([...made, JSON.stringify({ trailer: { ...trailer, rows, sha256: sha256(made) } })])
  }
}

export const restoreInto = (
  target: EmptyDatabase,
  file: string,
  options: { keyring?: Keyring; any_key?: boolean } = {},
) => restore({ connections: target, keyring, file, ...options })

export async function queryDatabase<R extends object>(
  connection: pg.ClientConfig,
  sql: string,
  values: unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return (await client.query(sql, values)).rows as R[]
  } finally {
    await client.end()
  }
}

/** Columns that do not come back as they were; what becomes of them has tests of its own. */
const excludedColumns: Readonly<Record<string, readonly string[]>> = {
  job: ['state', 'lease_token', 'lease_until'],
  audit_event: ['txid'],
  audit_head: ['last_txid', 'last_event_id'],
}

/** Each table's rows as PostgreSQL prints them, read as superuser and not by the code under test. */
export async function dumpTables(connection: pg.ClientConfig): Promise<Record<string, string[]>> {
  const names = await queryDatabase<{ table_name: string }>(
    connection,
    `select table_name from app.wall_register where kind <> 'system' order by 1`,
  )
  const client = new pg.Client(connection)
  await client.connect()
  try {
    const all: Record<string, string[]> = {}
    for (const { table_name } of names) {
      const { rows } = await client.query<{ row: string }>(
        `select (to_jsonb(t) - $1::text[])::text as row from app.${table_name} t order by 1`,
        [excludedColumns[table_name] ?? []],
      )
      all[table_name] = rows.map(({ row }) => row)
    }
    return all
  } finally {
    await client.end()
  }
}

export async function readSections(file: string): Promise<Record<string, SectionEnd>> {
  const { reader } = await BackupReader.open(file)
  const ends: Record<string, SectionEnd> = {}
  for (let part = await reader.next(); 'section' in part; part = await reader.next()) {
    const rows = reader.rows()
    for (let step = await rows.next(); ; step = await rows.next()) {
      if (!step.done) continue
      ends[`${part.section.tenant_id} ${part.section.table}`] = step.value
      break
    }
  }
  return ends
}

export const readLines = (file: string): string[] => gunzipSync(fs.readFileSync(file)).toString().trimEnd().split('\n')

const sha256 = (lines: readonly string[]): string =>
  createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex')
