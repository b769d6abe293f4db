/** SQL of sample widgets. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { IdRange } from '#kernel/search/source.ts'

export interface SampleWidgetRow {
  readonly sample_widget_id: string
  readonly name: string
  readonly note: string | null
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly updated_by: string
  readonly revision: number
}
export type NewSampleWidget = Pick<SampleWidgetRow, 'sample_widget_id' | 'name' | 'note'>

const columns = 'sample_widget_id, name, note, created_at, created_by, updated_at, updated_by, revision'

/** Oldest first. */
export const listSampleWidgets = (
  tx: Tx,
  filter: { readonly name: string | null },
  after: PagePosition,
  count: number,
) =>
  tx.query<SampleWidgetRow>(
    `select ${columns} from app.sample_widget
      where tenant_id = $1 and ($2::text is null or name = $2)
        and ($3::timestamptz is null or (created_at, sample_widget_id) > ($3, $4::uuid))
      order by created_at, sample_widget_id limit $5`,
    [tx.tenant_id, filter.name, after?.[0] ?? null, after?.[1] ?? null, count],
  )

/** For search: those whose name begins with a text. */
export const listSampleWidgetsByName = (tx: Tx, prefix: string, count: number) =>
  tx.query<SampleWidgetRow>(
    `select ${columns} from app.sample_widget
      where tenant_id = $1 and name >= $2 and name < $2 || U&'\\+10FFFF' order by name limit $3`,
    [tx.tenant_id, prefix, count],
  )

/** For search: those whose id begins with some digits. */
export const listSampleWidgetsInRange = (tx: Tx, { from, to }: IdRange, count: number) =>
  tx.query<SampleWidgetRow>(
    `select ${columns} from app.sample_widget
      where tenant_id = $1 and sample_widget_id >= $2::uuid and sample_widget_id <= $3::uuid
      order by sample_widget_id limit $4`,
    [tx.tenant_id, from, to, count],
  )

export const findSampleWidget = (tx: Tx, sample_widget_id: string) =>
  tx.find<SampleWidgetRow>(`select ${columns} from app.sample_widget where tenant_id = $1 and sample_widget_id = $2`, [
    tx.tenant_id,
    sample_widget_id,
  ])

export const lockSampleWidget = (tx: Tx, sample_widget_id: string) =>
  tx.find<SampleWidgetRow>(
    `select ${columns} from app.sample_widget where tenant_id = $1 and sample_widget_id = $2 for update`,
    [tx.tenant_id, sample_widget_id],
  )

export const insertSampleWidget = (tx: Tx, row: NewSampleWidget) =>
  tx.find<SampleWidgetRow>(
    `insert into app.sample_widget (tenant_id, sample_widget_id, name, note, created_by, updated_by)
     values ($1, $2, $3, $4, $5, $5) returning ${columns}`,
    [tx.tenant_id, row.sample_widget_id, row.name, row.note, tx.actor],
  )

export const updateSampleWidget = (tx: Tx, sample_widget_id: string, to: Pick<SampleWidgetRow, 'name' | 'note'>) =>
  tx.find<SampleWidgetRow>(
    `update app.sample_widget set name = $3, note = $4, updated_at = now(), updated_by = $5, revision = revision + 1
      where tenant_id = $1 and sample_widget_id = $2 returning ${columns}`,
    [tx.tenant_id, sample_widget_id, to.name, to.note, tx.actor],
  )

export const removeSampleWidget = (tx: Tx, sample_widget_id: string) =>
  tx.run('delete from app.sample_widget where tenant_id = $1 and sample_widget_id = $2', [
    tx.tenant_id,
    sample_widget_id,
  ])
