/** SQL of the stage: rows of a new version in a temporary table, their delta against the head, and applying it. */
import type { Tx } from '#kernel/database/tx.ts'
import { OPEN_VERSION, type VersionRow } from '../versions/queries.ts'

export const createStage = async (tx: Tx): Promise<void> => {
  await tx.run('drop table if exists pg_temp.stage, pg_temp.delta')
  await tx.run(
    `create temporary table stage (key text collate "C" not null, op text not null, hash bytea not null, base_hash bytea,
       data text, row bigint not null, line bigint) on commit drop`,
  )
}

export const copyStage = (tx: Tx, source: AsyncIterable<Uint8Array>) =>
  tx.copy('copy pg_temp.stage (key, op, hash, base_hash, data, row, line) from stdin (format binary)', source)

/** A large stage is sorted or joined as a whole, which needs more memory than the default. */
export const raiseStageWorkMem = (tx: Tx) => tx.run(`select set_config('work_mem', '64MB', true)`)

/**
 * Without statistics the planner may choose a slow join. Only the key column is analysed, since analysing all columns is
 * slow.
 */
export const analyseStage = (tx: Tx) => tx.run('analyze pg_temp.stage (key)')

export interface DuplicateRow {
  readonly key: string
  readonly row: number
  readonly line: number | null
  readonly first_row: number
  /** One row of the key changes the entry, and the other removes it. */
  readonly is_contradiction: boolean
}

const repeated = `(select key, row, line, first_row, op <> first_op as is_contradiction from (
   select key, op, row, line, min(row) over k as first_row, first_value(op) over (k order by row) as first_op from pg_temp.stage
    where key in (select key from pg_temp.stage group by key having count(*) > 1) window k as (partition by key)) d
  where row > first_row) r`

/** Every row after the first with the same key. */
export const listStagedDuplicates = (tx: Tx, limit: number) =>
  tx.query<DuplicateRow>(`select * from ${repeated} order by row limit $1`, [limit])

export const countStagedDuplicates = async (tx: Tx): Promise<{ repeated: number; contradicting: number }> =>
  (await tx.find<{ repeated: number; contradicting: number }>(
    `select count(*) filter (where not is_contradiction) as repeated, count(*) filter (where is_contradiction) as contradicting
       from ${repeated}`,
  )) ?? { repeated: 0, contradicting: 0 }

/** Creates the delta of the staged content against the head. */
export const createDelta = (tx: Tx, dataset_id: string) =>
  tx.run(
    `create temporary table delta on commit drop as
     select coalesce(s.key, h.key) as key, case when h.key is null then 'added' when s.key is null then 'removed' else 'changed' end as what
       from pg_temp.stage s
       full join (select key, hash, op, base_hash from app.dataset_entry
                   where tenant_id = $1 and dataset_id = $2 and v_to = ${OPEN_VERSION}) h on h.key = s.key
      where s.hash is distinct from h.hash or s.op is distinct from h.op or s.base_hash is distinct from h.base_hash`,
    [tx.tenant_id, dataset_id],
  )

export const countDelta = async (tx: Tx): Promise<VersionRow['difference']> => {
  const rows = await tx.query<{ what: 'added' | 'removed' | 'changed' | 'restated'; n: number }>(
    'select what, count(*)::bigint as n from pg_temp.delta group by what',
  )
  const counts: { -readonly [K in keyof VersionRow['difference']]: VersionRow['difference'][K] } = {
    added: 0,
    removed: 0,
    changed: 0,
  }
  for (const { what, n } of rows) counts[what] = n
  return counts
}

const headEntry = `app.dataset_entry h on h.tenant_id = $1 and h.dataset_id = $2 and h.key = d.key and h.v_to = ${OPEN_VERSION}`

/** Changed entries in key order: the text in the head and the staged hash. */
export const listChanged = (tx: Tx, dataset_id: string, after: string, count: number) =>
  tx.query<{ key: string; before: string; hash: Buffer }>(
    `select d.key, h.data as before, s.hash from pg_temp.delta d
       join pg_temp.stage s on s.key = d.key join ${headEntry}
      where d.what = 'changed' and d.key > $3 order by d.key limit $4`,
    [tx.tenant_id, dataset_id, after, count],
  )

export const updateRestated = (tx: Tx, keys: readonly string[]) =>
  tx.run(`update pg_temp.delta set what = 'restated' where key = any ($1)`, [keys])

export interface DeltaMemberRow {
  readonly pointer: string
  /** Number of values, and of entries with any value, among the keys of the delta, before and after. */
  readonly values_before: number
  readonly values_after: number
  readonly entries_before: number
  readonly entries_after: number
  /** Values lost by entries that are in both versions, and entries that lost all of them. */
  readonly lost: number
  readonly emptied: number
}

/** Only entries that differ are read, so the cost depends on the difference and not on the list. */
export const countDeltaMembers = (
  tx: Tx,
  dataset_id: string,
  members: readonly { readonly pointer: string; readonly path: readonly string[]; readonly required: number }[],
) =>
  tx.query<DeltaMemberRow>(
    `with side as (
       select d.what, h.data::jsonb as before, s.data::jsonb as after
         from pg_temp.delta d left join pg_temp.stage s on s.key = d.key left join ${headEntry}),
     counted as (
       select m.pointer, what,
              case when jsonb_typeof(before #> m.path) = 'array'
                then greatest(0, jsonb_array_length(before #> m.path) - m.required) else 0 end as b,
              case when jsonb_typeof(after #> m.path) = 'array'
                then greatest(0, jsonb_array_length(after #> m.path) - m.required) else 0 end as a
         from side, jsonb_to_recordset($3::jsonb) as m (pointer text, path text[], required int))
     select pointer, sum(b)::bigint as values_before, sum(a)::bigint as values_after,
            count(*) filter (where b > 0) as entries_before, count(*) filter (where a > 0) as entries_after,
            coalesce(sum(b - a) filter (where b > a and what <> 'removed'), 0)::bigint as lost,
            count(*) filter (where b > 0 and a = 0 and what <> 'removed') as emptied
       from counted group by pointer order by pointer`,
    [tx.tenant_id, dataset_id, JSON.stringify(members)],
  )

export interface StagedEntryRow {
  readonly key: string
  readonly hash: Buffer
  readonly data: string
}

/** Staged entries in key order. */
export const listStaged = (tx: Tx, after: string, count: number) =>
  tx.query<StagedEntryRow>('select key, hash, data from pg_temp.stage where key > $1 order by key limit $2', [
    after,
    count,
  ])

/** Closes replaced entries and inserts new ones, in key order, so that a version is stored sequentially. */
export const applyDelta = async (tx: Tx, dataset_id: string, version: number): Promise<void> => {
  await tx.run(
    `update app.dataset_entry e set v_to = $3 from pg_temp.delta d
      where e.tenant_id = $1 and e.dataset_id = $2 and e.key = d.key and e.v_to = ${OPEN_VERSION} and d.what <> 'added'`,
    [tx.tenant_id, dataset_id, version],
  )
  await tx.run(
    `insert into app.dataset_entry (tenant_id, dataset_id, key, v_from, op, hash, base_hash, data)
     select $1, $2, s.key, $3, s.op, s.hash, s.base_hash, s.data
       from pg_temp.stage s join pg_temp.delta d on d.key = s.key where d.what <> 'removed' order by s.key`,
    [tx.tenant_id, dataset_id, version],
  )
}

/** Inserts the first version, also in key order. Rows staged in that order need no sort. */
export const insertStaged = (tx: Tx, dataset_id: string, version: number, is_ordered: boolean) =>
  tx.run(
    `insert into app.dataset_entry (tenant_id, dataset_id, key, v_from, op, hash, base_hash, data)
     select $1, $2, key, $3, op, hash, base_hash, data from pg_temp.stage${is_ordered ? '' : ' order by key'}`,
    [tx.tenant_id, dataset_id, version],
  )
