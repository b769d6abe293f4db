/**
 * The registry beside what one would use instead: an import beside a plain COPY of the same rows, a difference beside an
 * indexed count and beside two libraries, one entry by key beside an index read, resolution beside a one-row tenant read.
 */
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { copyIn } from '#kernel/database/copy.ts'
import { fullScope } from '#kernel/database/scope.ts'
import { Database, type Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  activationStore,
  type datasetStore,
  differenceStore,
  treeStore,
  typeStore,
  versionStore,
} from '#modules/definitions/index.ts'

import { exportVersion } from '#modules/reference-data/exports/read-lines.ts'

import { listFieldChanges } from '#registry/content/json-patch.ts'
import type { BenchDatabases } from './database.ts'
import { median } from './median.ts'
import {
  type Bench,
  type Comparison,
  compareTimes,
  createList,
  formatInteger,
  importFile,
  LARGE_ROUNDS,
  measureTime,
  readBytes,
  roundsFor,
  SMALL_ROUNDS,
} from './registry-bench.ts'
import { type ListFiles, partyContent, partyKey, TYPE_KEY, writeListFiles } from './registry-data.ts'
import { measureDelta } from './registry-delta.ts'

export interface MeasuredList {
  readonly list_key: string
  readonly entries: number
  /** Some keys of it, for look-ups. */
  readonly keys: readonly string[]
}

const PLAIN = 'bench.entry'
const LOOK_UPS = 1000

/** Lists of these sizes, imported and measured in the database; the last step leaves each in force for the measures over HTTP. */
export async function measureRegistry(
  databases: BenchDatabases,
  tenant_id: string,
  sizes: readonly number[],
  log: (text: string) => void,
): Promise<{ comparisons: Comparison[]; lists: MeasuredList[] }> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-registry-'))
  const database = new Database({
    connection: databases.isolated('app'),
    max: 2,
    prepared: true,
    statement_timeout_ms: 120_000,
    wait_ms: 5000,
  })
  const plain = new pg.Client(databases.isolated('app'))
  // Ended by the database when a failure elsewhere stops it: that failure is the one to report.
  plain.on('error', () => {})
  await plain.connect()
  const scope = fullScope(tenant_id, 'operator:bench')
  const comparisons: Comparison[] = []
  const lists: MeasuredList[] = []
  try {
    await databases.runAsAdmin(`
      create schema if not exists bench;
      grant usage on schema bench to app;
      create table ${PLAIN} (like app.dataset_entry including defaults);
      alter table ${PLAIN} add primary key (tenant_id, dataset_id, key, v_from);
      grant all on ${PLAIN} to app`)
    const type = await database.write(scope, defineType)
    const bench: Bench = { databases, database, client: plain, scope, type, log }
    for (const entries of sizes) {
      log(`registry: ${entries} entries`)
      const files = await writeListFiles(folder, entries, { tenant_id, dataset_id: uuidv7() })
      const { list, imports } = await measureImport(bench, files)
      comparisons.push(
        ...imports,
        await measureExport(bench, list, files),
        ...(await measureDifference(bench, list, files)),
        await measureProof(bench, list, files),
        await measureDelta(bench, list, files, 4),
        await measureEntry(bench, list, files),
      )
      const list_key = list.list_key
      await database.write(scope, (tx) =>
        activationStore.activateVersion(tx, { list_key, version: 2, reason: 'To be measured.' }),
      )
      lists.push({ list_key, entries, keys: sampleKeys(entries, 32) })
    }
    return { comparisons, lists }
  } finally {
    await Promise.all([database.end(), plain.end()])
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function defineType(tx: Tx): Promise<typeStore.TypeRow> {
  const definition = partyContent as unknown as typeStore.TypeRow['definition']
  const definition_hash = typeStore.hashTypeContent(definition as never)
  await typeStore.insertType(tx, {
    type_key: TYPE_KEY,
    type_version: 1,
    definition,
    definition_hash,
    compatibility: 'backward',
  })
  return (await typeStore.findType(tx, TYPE_KEY)) as typeStore.TypeRow
}

const sampleKeys = (entries: number, count: number): string[] =>
  Array.from({ length: count }, (_, n) => partyKey(Math.floor(((n + 0.5) / count) * entries)))

/** Each round a list of its own and an empty table of its own, one after the other. */
async function measureImport(
  bench: Bench,
  files: ListFiles,
): Promise<{ list: datasetStore.DatasetRow; imports: readonly Comparison[] }> {
  const { databases, database, client: plain, scope } = bench
  const { entries } = files
  const first_ms: number[] = []
  const second_ms: number[] = []
  const copy_ms: number[] = []
  let list: datasetStore.DatasetRow | undefined
  for (let round = 0; round < roundsFor(entries); round++) {
    const fresh = await database.write(scope, (tx) => createList(tx, bench))
    await databases.runAsAdmin(`truncate ${PLAIN}`)
    await databases.runAsAdmin('checkpoint')
    copy_ms.push(
      await measureTime(() =>
        copyIn(
          plain,
          `copy ${PLAIN} (tenant_id, dataset_id, key, v_from, hash, data) from stdin`,
          readBytes(files.rows),
        ),
      ),
    )
    await databases.runAsAdmin('checkpoint')
    first_ms.push(await measureTime(() => importFile(bench, fresh, files.first)))
    await databases.runAsAdmin('checkpoint')
    second_ms.push(await measureTime(() => importFile(bench, fresh, files.second)))
    list = fresh
  }
  await databases.runAsAdmin('vacuum analyze app.dataset_entry')
  await databases.runAsAdmin(`vacuum analyze ${PLAIN}`)
  const rate = (times_ms: readonly number[]) => `${formatInteger((entries / median(times_ms)) * 1000)} rows/s`
  const row = (what: string, times_ms: readonly number[]) => ({
    label: what,
    entries,
    ours: rate(times_ms),
    baseline: `plain COPY ${rate(copy_ms)}`,
    ratio: median(copy_ms.map((ms, n) => ms / (times_ms[n] as number))),
  })
  // The thread that reads takes some time to start, which is all one sees of a short list.
  const wanted = entries >= 100_000 ? { aim: 0.4, floor: 0.3 } : {}
  return {
    list: list as datasetStore.DatasetRow,
    imports: [
      { ...row('import, first version', first_ms), ...wanted },
      row('import, next version, 0.1 % changed', second_ms),
    ],
  }
}

/** The first page as a client gets it: summary or what is known of it, and 50 keys with their fields. */
async function readFirstPage(
  { database, scope }: Bench,
  list: datasetStore.DatasetRow,
  range: { from: number; to: number },
) {
  return database.read(scope, async (tx) => {
    const [from, to] = [
      await versionStore.findVersion(tx, list, range.from),
      await versionStore.findVersion(tx, list, range.to),
    ]
    const { summary } = await differenceStore.getDifferenceSummary(
      tx,
      from as versionStore.VersionRow,
      to as versionStore.VersionRow,
    )
    const rows = await versionStore.listDifferences(tx, list, range, { after: null, prefix: null, count: 51 })
    for (const row of rows) listFieldChanges(...(versionStore.parseDifference(row) as [object, object]))
    return summary
  })
}

/** Versions 1 and 2 differ in one entry of a thousand, 2 and 3 in one of fifty, 3 and 4 in every second. */
async function measureDifference(bench: Bench, list: datasetStore.DatasetRow, files: ListFiles): Promise<Comparison[]> {
  const { database, databases, scope } = bench
  const { entries, changed } = files
  for (const next of [files.third, files.fourth]) await importFile(bench, list, next)
  await databases.runAsAdmin('vacuum analyze app.dataset_entry')
  const pages: Comparison[] = []
  for (const [name, from, expected] of [
    ['0.1 %', 1, changed],
    ['2 %', 2, files.changed_third],
    ['50 %', 3, files.changed_fourth],
  ] as const) {
    const range = { from, to: from + 1 }
    const page_ms: number[] = []
    const count_ms: number[] = []
    for (let round = 0; round < SMALL_ROUNDS; round++) {
      count_ms.push(await measureTime(() => countIndexed(bench, list, range.to)))
      page_ms.push(
        await measureTime(async () => {
          const summary = await readFirstPage(bench, list, range)
          if (summary?.changed !== expected) throw new Error(`${summary?.changed} keys differ, not ${expected}`)
        }),
      )
    }
    pages.push(compareTimes(`difference, first page, ${name} changed`, entries, page_ms, 'one indexed count', count_ms))
  }
  const fields_ms: number[] = []
  for (let round = 0; round < SMALL_ROUNDS; round++) {
    fields_ms.push(
      await measureTime(() =>
        differenceStore.countDifferences(
          (body) => database.read(scope, body),
          { ...list, version: 1 },
          { ...list, version: 2 },
        ),
      ),
    )
  }
  const fields = 'difference field by field, all keys, 0.1 % changed'
  const libraries = await measureLibraries(files).catch((error: Error) => error)
  const missing = (error: Error): Comparison => ({
    label: fields,
    entries,
    ours: `${median(fields_ms).toFixed(1)} ms`,
    baseline: `libraries not measured: ${error.message.split('\n')[0]?.slice(0, 100)}`,
    ratio: null,
  })
  return [
    ...pages,
    ...(libraries instanceof Error
      ? [missing(libraries)]
      : Object.entries(libraries).map(([name, { times_ms }]) =>
          compareTimes(fields, entries, fields_ms, `${name}, both lists in memory`, times_ms),
        )),
  ]
}

const countIndexed = ({ database, scope }: Bench, list: datasetStore.DatasetRow, version: number) =>
  database.one(scope, (tx) =>
    tx.query(
      'select count(*) from app.dataset_entry where tenant_id = $1 and dataset_id = $2 and v_from > 1 and v_from = $3',
      [list.tenant_id, list.dataset_id, version],
    ),
  )

/** A proof from the stored tree beside one from a tree that is built for it, which is what it took before. */
async function measureProof(bench: Bench, list: datasetStore.DatasetRow, { entries }: ListFiles): Promise<Comparison> {
  const { database, scope } = bench
  const read = <T>(body: (tx: Tx) => Promise<T>) => database.read(scope, body)
  const version = (await read((tx) => versionStore.findVersion(tx, list, 4))) as versionStore.VersionRow
  const stored_ms: number[] = []
  const built_ms: number[] = []
  for (const key of sampleKeys(entries, SMALL_ROUNDS))
    stored_ms.push(await measureTime(() => treeStore.createProver(read, version)(key)))
  for (let round = 0; round < (entries > 500_000 ? 1 : LARGE_ROUNDS); round++) {
    built_ms.push(await measureTime(() => treeStore.buildTree(read, version)))
  }
  return compareTimes('proof of one key', entries, stored_ms, 'tree built from the hashes of all entries', built_ms)
}

/** The whole version as NDJSON, checked against its hashes, beside COPY TO of the same rows in the same order. */
async function measureExport(bench: Bench, list: datasetStore.DatasetRow, { entries }: ListFiles): Promise<Comparison> {
  const { database, scope, type, client: plain } = bench
  const read = <T>(body: (tx: Tx) => Promise<T>) => database.read(scope, body)
  const version = (await read((tx) => versionStore.findVersion(tx, list, 1))) as versionStore.VersionRow
  const own_ms: number[] = []
  const copy_ms: number[] = []
  for (let round = 0; round < roundsFor(entries); round++) {
    copy_ms.push(
      await measureTime(async () => {
        for await (const _ of plain.query(
          copyTo(`copy (select key, hash, data from ${PLAIN} order by key) to stdout`),
        ));
      }),
    )
    own_ms.push(
      await measureTime(async () => {
        for await (const _ of exportVersion(read, version, type, { format: 'ndjson', formula_guard: true }));
      }),
    )
  }
  const rate = (times_ms: readonly number[]) => `${formatInteger((entries / median(times_ms)) * 1000)} rows/s`
  return {
    label: 'export as NDJSON',
    entries,
    ours: rate(own_ms),
    baseline: `COPY TO ${rate(copy_ms)}`,
    ratio: median(copy_ms) / median(own_ms),
    ...(entries >= 100_000 && { aim: 0.3, floor: 0.15 }),
  }
}

type Libraries = Readonly<Record<'jsondiffpatch' | 'microdiff', { times_ms: number[]; changed: number }>>
const libraryFolder = path.join(os.tmpdir(), 'registry-bench')
const libraryVersions = { jsondiffpatch: '0.7.7', microdiff: '1.6.0' }
const LIBRARY_MEMORY_MB = 8192

/** Installed at the time of measurement, outside the project. */
async function measureLibraries({ first, second, changed, entries }: ListFiles): Promise<Libraries> {
  fs.mkdirSync(libraryFolder, { recursive: true })
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies: libraryVersions })
  const file = path.join(libraryFolder, 'package.json')
  const is_there = fs.existsSync(file) && fs.readFileSync(file, 'utf8') === manifest
  if (!is_there || !fs.existsSync(path.join(libraryFolder, 'node_modules/microdiff'))) {
    fs.writeFileSync(file, manifest)
    const command = ['install', '--no-audit', '--no-fund', '--no-package-lock']
    await promisify(execFile)('npm', command, { cwd: libraryFolder, timeout: 120_000 })
  }
  const script = path.join(libraryFolder, 'diff-libraries.mjs')
  fs.copyFileSync(path.join(process.cwd(), 'bench/registry-diff-libraries.mjs'), script)
  const rounds = String(entries > 10_000 ? LARGE_ROUNDS : SMALL_ROUNDS)
  const argv = [`--max-old-space-size=${LIBRARY_MEMORY_MB}`, script, first, second, 'party_id', rounds]
  const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: libraryFolder, timeout: 300_000 })
  const result = JSON.parse(stdout) as Libraries
  for (const [name, found] of Object.entries(result)) {
    if (found.changed !== changed) throw new Error(`${name} found ${found.changed} keys, not ${changed}`)
  }
  return result
}

/** One entry of one version by its key, one round trip each, one after the other. */
async function measureEntry(bench: Bench, list: datasetStore.DatasetRow, { entries }: ListFiles): Promise<Comparison> {
  const { database, client: plain, scope } = bench
  const keys = sampleKeys(entries, Math.min(entries, 100))
  const { rows } = await plain.query<{ dataset_id: string }>(`select dataset_id from ${PLAIN} limit 1`)
  const text = `select key, hash, data from ${PLAIN} where tenant_id = $1 and dataset_id = $2 and key = $3 and v_from = 1`
  const of = { tenant_id: list.tenant_id, dataset_id: list.dataset_id, version: 2 }
  const ours = async (key: string) => {
    const [row] = await database.one(scope, (tx) => versionStore.listEntriesByKey(tx, of, [key]))
    if (!row) throw new Error(`${key} is not there`)
    versionStore.parseEntry(row)
  }
  const theirs = async (key: string) => {
    const read = await plain.query({ name: 'entry', text, values: [scope.tenant_id, rows[0]?.dataset_id, key] })
    JSON.parse(read.rows[0].data)
  }
  const each_us = async (lookUp: (key: string) => Promise<void>) =>
    ((await measureTime(async () => {
      for (let n = 0; n < LOOK_UPS; n++) await lookUp(keys[n % keys.length] as string)
    })) *
      1000) /
    LOOK_UPS
  const [own_us, plain_us]: [number[], number[]] = [[], []]
  for (let round = 0; round < LARGE_ROUNDS + 1; round++) {
    own_us.push(await each_us(ours))
    plain_us.push(await each_us(theirs))
  }
  // The first round warms both.
  const [own, other] = [median(own_us.slice(1)), median(plain_us.slice(1))]
  return {
    label: 'one entry of a version by key, with its tenant and its hash checked',
    entries,
    ours: `${formatInteger(own)} µs`,
    baseline: `plain index read ${formatInteger(other)} µs`,
    ratio: other / own,
  }
}
