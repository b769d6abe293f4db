/** What measures of the registry share: a list to import into, an import as a job does it, and lines of the table. */
import fs from 'node:fs'
import path from 'node:path'
import type pg from 'pg'
import type { Scope } from '#kernel/database/scope.ts'
import type { Database, Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { datasetStore, typeStore, versionStore } from '#modules/definitions/index.ts'

import { resolveDelta } from '#modules/reference-data/deltas/resolve-delta.ts'
import { importRows, readSource } from '#modules/reference-data/imports/import-source.ts'

import type { BenchDatabases } from './database.ts'
import { median } from './median.ts'

/** One line of the table: how often per second ours does it, and what it is compared with. */
export interface Comparison {
  readonly label: string
  readonly entries: number
  readonly ours: string
  readonly baseline: string
  /** Ours ÷ the other, as speeds: above 1 ours is faster. Null: could not be measured. */
  readonly ratio: number | null
  readonly aim?: number
  readonly floor?: number
}

export interface Bench {
  readonly databases: BenchDatabases
  readonly database: Database
  readonly client: pg.Client
  readonly scope: Scope
  readonly type: typeStore.TypeRow
  readonly log: (text: string) => void
}

export const SMALL_ROUNDS = 9
export const LARGE_ROUNDS = 3
export const roundsFor = (entries: number): number =>
  entries > 500_000 ? 1 : entries > 10_000 ? LARGE_ROUNDS : SMALL_ROUNDS

export async function measureTime(body: () => Promise<unknown>): Promise<number> {
  const from_ms = performance.now()
  await body()
  return performance.now() - from_ms
}

/** The script of the worker thread lies beside this bundle. */
const threadScripts = { threads: { scriptPath: (name: string) => path.join(import.meta.dirname, `${name}.mjs`) } }
export const readBytes = (file: string) => fs.createReadStream(file, { highWaterMark: 256 * 1024 })

export const createList = (tx: Tx, { type }: Bench) =>
  datasetStore.insertDataset(tx, {
    dataset_id: uuidv7(),
    family: 'list',
    list_key: `bench-${uuidv7()}`,
    role: 'base',
    type_tenant_id: type.tenant_id,
    type_key: type.type_key,
    title: 'Measured',
  }) as Promise<datasetStore.DatasetRow>

/**
 * What an import job does with its source: read, check and hash in the thread, stage, publish, commit. With `base_version` the file
 * holds changes to that version only.
 */
export const importFile = (
  { database, scope, type }: Bench,
  list: datasetStore.DatasetRow,
  file: string,
  base_version: number | null = null,
): Promise<unknown> => {
  const run = { strict: true, onRejects: async () => {}, onProgress: async () => {} }
  const outputs = readSource(threadScripts, readBytes(file), {
    adapter_key: 'ndjson',
    options: {},
    type: typeStore.toTypeDefinition(type),
    strict: true,
    drop: [],
    hash: [],
    hash_key: null,
    filled: [],
    ...(base_version !== null && { delta: { marker: null } }),
  })
  return importRows<unknown>(
    { ...run, outputs },
    (body) => database.write(scope, body),
    async (tx, totals, tree) => {
      const { root, accepted, data_bytes, filled, is_ordered } = totals
      const resolved =
        base_version === null
          ? null
          : await resolveDelta(tx, {
              dataset: { ...list, guards: {} },
              type,
              delta: { base_version, removed: { marker: null, keys: [] } },
              privacy: { drop: [], hash: [] },
              totals,
              run,
            })
      const content = { content_hash: root as string, entry_count: accepted, data_bytes, filled, is_ordered, tree }
      return versionStore.publishStaged(
        tx,
        {
          dataset: list,
          type,
          content: resolved?.content ?? content,
          origin: 'import',
          provenance: resolved ? { delta: resolved.counts } : {},
          guards: null,
        },
        resolved?.writer,
      )
    },
  )
}

export const compareTimes = (
  what: string,
  entries: number,
  times_ms: readonly number[],
  name: string,
  others_ms: readonly number[],
): Comparison => ({
  label: what,
  entries,
  ours: `${median(times_ms).toFixed(1)} ms`,
  baseline: `${name} ${median(others_ms).toFixed(1)} ms`,
  ratio: median(others_ms) / median(times_ms),
})

export const formatInteger = (value: number): string => Math.round(value).toLocaleString('en')

export function renderComparisonTable(
  part: string,
  unit: string,
  comparisons: readonly Comparison[],
  plainTable: (head: string[], rows: string[][]) => string,
) {
  return plainTable(
    [part, unit, 'measured', 'beside it', 'ratio of speeds', 'aim', 'floor', ''],
    comparisons.map(({ label: what, entries, ours, baseline: beside, ratio, aim, floor }) => [
      what,
      formatInteger(entries),
      ours,
      beside,
      ratio === null ? '–' : ratio >= 10 ? formatInteger(ratio) : ratio.toFixed(2),
      String(aim ?? '–'),
      String(floor ?? '–'),
      verdict(ratio, aim, floor),
    ]),
  )
}

function verdict(ratio: number | null, aim?: number, floor?: number): string {
  if (ratio === null || aim === undefined || floor === undefined) return '–'
  return ratio >= aim ? 'aim met' : ratio >= floor ? 'floor met' : 'below the floor'
}
