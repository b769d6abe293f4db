/** SQL of versions and their entries: insert, read and compare. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'

/** `v_to` of an entry that no later version replaces. */
export const OPEN_VERSION = 9007199254740991

export interface VersionRow {
  readonly tenant_id: string
  readonly dataset_id: string
  readonly version: number
  readonly label: string | null
  readonly type_tenant_id: string
  readonly type_key: string
  readonly type_version: number
  readonly content_hash: string
  readonly content_changed: boolean
  readonly entry_count: number
  readonly data_bytes: number
  readonly base_version: number | null
  readonly origin: 'import' | 'inline' | 'seed' | 'overlay' | 'rebase'
  readonly provenance: Record<string, unknown>
  readonly difference: {
    readonly added: number
    readonly removed: number
    readonly changed: number
    /** The same entries in the canonical form of a newer type version. */
    readonly restated?: number
  }
  readonly note: string | null
  readonly state: 'published' | 'deprecated' | 'withdrawn'
  readonly created_at: string
  readonly created_by: string
}

const columns = `tenant_id, dataset_id, version, label, type_tenant_id, type_key, type_version, content_hash, content_changed,
  entry_count, data_bytes, base_version, origin, provenance, difference, note, state, created_at, created_by`

interface DatasetId {
  readonly tenant_id: string
  readonly dataset_id: string
}

/** By number, or by label when the text is not one. */
export const findVersion = (tx: Tx, of: DatasetId, version: string | number) =>
  tx.find<VersionRow>(
    `select ${columns} from app.dataset_version where tenant_id = $1 and dataset_id = $2 and (version = $3 or label = $4)`,
    [of.tenant_id, of.dataset_id, /^[1-9]\d{0,14}$/.test(String(version)) ? Number(version) : null, String(version)],
  )

export const listVersions = (
  tx: Tx,
  { dataset, state }: { dataset: DatasetId; state: string | null },
  after: PagePosition,
  count: number,
) =>
  tx.query<VersionRow>(
    `select ${columns} from app.dataset_version where tenant_id = $1 and dataset_id = $2 and ($3::text is null or state = $3)
        and ($4::bigint is null or version < $4) order by version desc limit $5`,
    [dataset.tenant_id, dataset.dataset_id, state, after?.[0] ?? null, count],
  )

export const updateVersionState = (tx: Tx, of: DatasetId, version: number, state: 'deprecated' | 'withdrawn') =>
  tx.find<VersionRow>(
    `update app.dataset_version set state = $4 where tenant_id = $1 and dataset_id = $2 and version = $3 returning ${columns}`,
    [of.tenant_id, of.dataset_id, version, state],
  )

export interface EntryRow {
  readonly key: string
  readonly op: 'put' | 'merge' | 'remove'
  readonly hash: Buffer
  readonly base_hash: Buffer | null
  readonly data: string | null
}

/** In key order, after the key `after`. */
export const listEntries = (tx: Tx, of: DatasetId & { version: number }, after: string | null, count: number) =>
  tx.query<EntryRow>(
    `select key, op, hash, base_hash, data from app.dataset_entry
      where tenant_id = $1 and dataset_id = $2 and v_from <= $3 and v_to > $3 and key > $4 order by key limit $5`,
    [of.tenant_id, of.dataset_id, of.version, after ?? '', count],
  )

export const listEntriesWithPrefix = (
  tx: Tx,
  of: DatasetId & { version: number },
  { prefix, after }: { prefix: string; after: string | null },
  count: number,
) =>
  tx.query<EntryRow>(
    `select key, op, hash, base_hash, data from app.dataset_entry
      where tenant_id = $1 and dataset_id = $2 and v_from <= $3 and v_to > $3 and key > $4 and key >= $5 and key < $6
      order by key limit $7`,
    [of.tenant_id, of.dataset_id, of.version, after ?? '', prefix, `${prefix}\u{10FFFF}`, count],
  )

/** A single key is a scalar parameter: PostgreSQL may plan an array of unknown length again each time. */
export const listEntriesByKey = (tx: Tx, of: DatasetId & { version: number }, keys: readonly string[]) =>
  tx.query<EntryRow>(
    `select key, op, hash, base_hash, data from app.dataset_entry
      where tenant_id = $1 and dataset_id = $2 and key = ${keys.length === 1 ? '$4' : 'any ($4)'} and v_from <= $3 and v_to > $3`,
    [of.tenant_id, of.dataset_id, of.version, keys.length === 1 ? keys[0] : keys],
  )

export interface TextBatch {
  readonly count: number
  readonly last_key: string | null
  /** Whether every entry still matches its hash. */
  readonly intact: boolean | null
  /** The canonical texts in key order, one per line; none contains a line break. */
  readonly lines: string | null
}

/** Many entries as one text for exports, where one row per entry would be much slower. */
export const findTextBatch = (tx: Tx, of: DatasetId & { version: number }, after: string | null, count: number) =>
  tx.find<TextBatch>(
    `select count(*)::bigint as count, max(key) as last_key, string_agg(data, chr(10) order by key) as lines,
            bool_and(hash = sha256(convert_to('probity.entry.1' || chr(10) || data, 'UTF8'))) as intact
       from (select key, hash, data from app.dataset_entry
              where tenant_id = $1 and dataset_id = $2 and v_from <= $3 and v_to > $3 and key > $4 order by key limit $5) e`,
    [of.tenant_id, of.dataset_id, of.version, after ?? '', count],
  )

/** Keys and hashes only, for the tree of a large version. */
export const listEntryHashes = (tx: Tx, of: DatasetId & { version: number }, after: string | null, count: number) =>
  tx.query<{ key: string; hash: Buffer }>(
    `select key, hash from app.dataset_entry
      where tenant_id = $1 and dataset_id = $2 and v_from <= $3 and v_to > $3 and key > $4 order by key limit $5`,
    [of.tenant_id, of.dataset_id, of.version, after ?? '', count],
  )

/**
 * The revision of key `t.key` in a version. The limit forces an index read per key: without statistics of a new import the
 * planner would scan the whole list.
 */
const selectRevision = (version: string): string =>
  `(select key, data, hash from app.dataset_entry
     where tenant_id = $1 and dataset_id = $2 and key = t.key and v_from <= ${version} and v_to > ${version} limit 1)`

export interface DifferenceRow {
  readonly key: string
  readonly before: string | null
  readonly before_hash: Buffer | null
  readonly after: string | null
  readonly after_hash: Buffer | null
}

interface DifferencePage {
  readonly after: string | null
  readonly prefix: string | null
  readonly count: number
}

/**
 * Keys that changed between two versions, in key order: for each version in between, the first entries that started and that
 * ended. Each part reads an index in order and stops at the limit, so the cost depends on the page and not on the
 * difference.
 */
const listTouched = (
  tx: Tx,
  of: DatasetId,
  range: { from: number; to: number },
  { after, prefix, count }: DifferencePage,
) =>
  tx.query<DifferenceRow>(
    `with touched as (
       select key from (
         select began.key from generate_series(least($3::bigint, $4::bigint) + 1, greatest($3::bigint, $4::bigint)) as v (n),
           lateral (select key from app.dataset_entry
                     where tenant_id = $1 and dataset_id = $2 and v_from > 1 and v_from = v.n and key > $5
                       and ($6::text is null or (key >= $6 and key < $6 || U&'\\+10FFFF')) order by key limit $7) began
         union
         select ended.key from generate_series(least($3::bigint, $4::bigint) + 1, greatest($3::bigint, $4::bigint)) as v (n),
           lateral (select key from app.dataset_entry
                     where tenant_id = $1 and dataset_id = $2 and v_to < ${OPEN_VERSION} and v_to = v.n and key > $5
                       and ($6::text is null or (key >= $6 and key < $6 || U&'\\+10FFFF')) order by key limit $7) ended) k
        order by key limit $7)
     select t.key, b.data as before, b.hash as before_hash, a.data as after, a.hash as after_hash
       from touched t
       left join lateral ${selectRevision('$3')} b on true
       left join lateral ${selectRevision('$4')} a on true
      order by t.key`,
    [of.tenant_id, of.dataset_id, range.from, range.to, after ?? '', prefix, count],
  )

const isDifferent = ({ before_hash, after_hash }: DifferenceRow): boolean =>
  before_hash === null || after_hash === null ? before_hash !== after_hash : !before_hash.equals(after_hash)

/** Keys that differ between two versions of one list, in key order. A key that was changed and restored does not differ. */
export async function listDifferences(
  tx: Tx,
  of: DatasetId,
  range: { from: number; to: number },
  page: DifferencePage,
): Promise<DifferenceRow[]> {
  const { count } = page
  const rows: DifferenceRow[] = []
  let { after } = page
  for (;;) {
    const touched: DifferenceRow[] = await listTouched(tx, of, range, { ...page, after })
    rows.push(...touched.filter(isDifferent))
    if (touched.length < count || rows.length >= count) return rows.slice(0, count)
    after = touched.at(-1)?.key ?? null
  }
}

/** The entries of the version given by the parameters owner, dataset and number. */
const selectEntries = (tenant_id: string, dataset_id: string, version: string, condition = ''): string =>
  `(select key, data, hash from app.dataset_entry
     where tenant_id = ${tenant_id} and dataset_id = ${dataset_id} and v_from <= ${version} and v_to > ${version}${condition})`

type VersionId = DatasetId & { readonly version: number }
const toVersionParameters = (from: VersionId, to: VersionId): unknown[] =>
  [from, to].flatMap(({ tenant_id, dataset_id, version }) => [tenant_id, dataset_id, version])

/** The same for versions of two lists, such as a tenant's own and the shared one with the same key. */
const listDifferencesBetween = (tx: Tx, from: VersionId, to: VersionId, { after, prefix, count }: DifferencePage) => {
  const wanted = ` and key > $7 and ($8::text is null or (key >= $8 and key < $8 || U&'\\+10FFFF'))`
  return tx.query<DifferenceRow>(
    `select coalesce(b.key, a.key) as key, b.data as before, b.hash as before_hash, a.data as after, a.hash as after_hash
       from ${selectEntries('$1', '$2', '$3', wanted)} b full join ${selectEntries('$4', '$5', '$6', wanted)} a on a.key = b.key
      where b.hash is distinct from a.hash order by 1 limit $9`,
    [...toVersionParameters(from, to), after ?? '', prefix, count],
  )
}

/** Keys that differ between two versions of one list, or of the tenant's own and the shared list with the same key. */
export const listVersionDifferences = (
  tx: Tx,
  from: VersionId,
  to: VersionId,
  page: DifferencePage,
): Promise<DifferenceRow[]> =>
  from.dataset_id === to.dataset_id
    ? listDifferences(tx, from, { from: from.version, to: to.version }, page)
    : listDifferencesBetween(tx, from, to, page)

/** The tenant and author come from the transaction; state and time from the database. */
export type NewVersion = Omit<VersionRow, 'tenant_id' | 'state' | 'created_at' | 'created_by'>

export const insertVersion = (tx: Tx, version: NewVersion) =>
  tx.find<VersionRow>(
    `insert into app.dataset_version (tenant_id, dataset_id, version, label, type_tenant_id, type_key, type_version, content_hash,
       content_changed, entry_count, data_bytes, base_version, origin, provenance, difference, note, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::jsonb, $15::jsonb, $16, $17) returning ${columns}`,
    [
      tx.tenant_id,
      version.dataset_id,
      version.version,
      version.label,
      version.type_tenant_id,
      version.type_key,
      version.type_version,
      version.content_hash,
      version.content_changed,
      version.entry_count,
      version.data_bytes,
      version.base_version,
      version.origin,
      JSON.stringify(version.provenance),
      JSON.stringify(version.difference),
      version.note,
      tx.actor,
    ],
  )
