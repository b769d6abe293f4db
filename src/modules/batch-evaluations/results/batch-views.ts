/** Views of batches and their items, and the summary. */

import type { Static } from 'typebox'
import { readStoredJson } from '#kernel/database/stored-json.ts'
import { datasetStore, type resolver } from '#modules/definitions/index.ts'

import type { BatchRow, ItemTally } from '../batch.ts'
import { bandChanges, type ItemRow } from '../decide/item-results.ts'
import type { StoredFilter } from '../schema.ts'

/** The receipt holds the owner of the definition: two owners may have the same version number. */
function getDefinitionOrigin({ manifest, family }: BatchRow): datasetStore.Origin {
  const pins = JSON.parse(manifest) as unknown
  // A damaged receipt is reported when it is used to decide; the batch stays readable.
  const pin = Array.isArray(pins)
    ? (pins as readonly resolver.PinnedVersion[]).find((one) => one.family === family)
    : undefined
  return datasetStore.getOrigin(pin?.dataset_tenant_id ?? '')
}

export const toBatchView = (row: BatchRow) => {
  const file = 'file' in row.source ? row.source : null
  const filter = 'filter' in row.source ? row.source.filter : null
  return {
    batch_id: row.batch_id,
    job_id: row.job_id,
    state: row.state,
    family: row.family,
    definition_key: row.definition_key,
    definition_version: row.definition_version,
    definition_origin: getDefinitionOrigin(row),
    engine: row.engine,
    receipt_id: row.receipt_id,
    valid_at: row.valid_at,
    known_at: row.known_at,
    source: {
      kind: row.source_kind,
      upload_id: row.upload_id,
      file_name: file?.file_name ?? null,
      sha256: row.upload_sha256,
      filter: readStoredJson<Static<typeof StoredFilter> | null>(filter),
    },
    note: row.note,
    counts: { total: row.total, done: row.done, failed: row.failed },
    is_retry: row.stage === 'again',
    problem: row.problem,
    created_at: row.created_at,
    created_by: row.created_by,
    finished_at: row.state === 'queued' || row.state === 'running' ? null : row.finished_at,
  }
}

/** Without the salt, which would allow guessing the inputs from the hash. */
export const toItemView = ({
  failure_code: _code,
  document_salt: _salt,
  inputs,
  reason_codes,
  findings,
  ...item
}: ItemRow) => ({
  ...item,
  inputs: inputs as Record<string, unknown> | null,
  reason_codes: [...reason_codes],
  findings: [...findings],
})

/** Counts grouped by a text, largest first. */
function sumBy<T>(tallies: readonly ItemTally[], keyOf: (tally: ItemTally) => T | null): (T & { count: number })[] {
  const sums = new Map<string, { key: T; count: number }>()
  for (const tally of tallies) {
    const key = keyOf(tally)
    if (key === null) continue
    const id = JSON.stringify(key)
    const sum = sums.get(id) ?? { key, count: 0 }
    sums.set(id, { key, count: sum.count + tally.count })
  }
  return [...sums]
    .sort(([a, { count: m }], [b, { count: n }]) => n - m || (a < b ? -1 : 1))
    .map(([, { key, count }]) => ({ ...key, count }))
}

export function summarizeBatch({ batch_id, state, family }: BatchRow, tallies: readonly ItemTally[]) {
  const count = (fits: (tally: ItemTally) => boolean) =>
    tallies.filter(fits).reduce((sum, { count: one }) => sum + one, 0)
  return {
    batch_id,
    state,
    items: count(() => true),
    done: count((tally) => tally.state === 'done'),
    failed: count((tally) => tally.state === 'failed'),
    bands: sumBy(tallies, ({ band }) => (band === null ? null : { band })),
    hits:
      family === 'rule' ? { hit: count(({ hit }) => hit === true), no_hit: count(({ hit }) => hit === false) } : null,
    migration: sumBy(tallies, ({ known, previous_band: from, band: to }) =>
      known && to !== null ? { from, to } : null,
    ),
    changes: Object.fromEntries(
      bandChanges.map((change) => [change, count((tally) => tally.change === change)]),
    ) as Record<(typeof bandChanges)[number], number>,
    failures: sumBy(tallies, ({ failure_code: code }) => (code === null ? null : { code })),
  }
}
