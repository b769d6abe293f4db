/** SQL of golden cases, which apply to every version of a definition. */

import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { documentStore } from '#modules/definitions/index.ts'

import type { GoldenCase } from './golden-case.ts'

export interface CaseRow extends GoldenCase {
  readonly case_id: string
  readonly note: string | null
  readonly created_at: string
  readonly created_by: string
}
const columns = 'case_id, name, inputs, expected, note, created_at, created_by'

export const listCases = (tx: Tx, of: documentStore.DatasetId, after: PagePosition, count: number) =>
  tx.query<CaseRow>(
    `select ${columns} from app.definition_case where tenant_id = $1 and dataset_id = $2
        and ($3::uuid is null or case_id > $3) order by case_id limit $4`,
    [of.tenant_id, of.dataset_id, after?.[0] ?? null, count],
  )

export const countCases = async (tx: Tx, of: documentStore.DatasetId): Promise<number> =>
  (
    await tx.find<{ n: number }>(
      'select count(*)::bigint as n from app.definition_case where tenant_id = $1 and dataset_id = $2',
      [of.tenant_id, of.dataset_id],
    )
  )?.n ?? 0

export const insertCase = (
  tx: Tx,
  { dataset_id }: documentStore.DatasetId,
  golden_case: Omit<CaseRow, 'created_at' | 'created_by'>,
) =>
  tx.find<CaseRow>(
    `insert into app.definition_case (tenant_id, dataset_id, case_id, name, inputs, expected, note, created_by)
     values ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7, $8) returning ${columns}`,
    [
      tx.tenant_id,
      dataset_id,
      golden_case.case_id,
      golden_case.name,
      JSON.stringify(golden_case.inputs),
      JSON.stringify(golden_case.expected),
      golden_case.note,
      tx.actor,
    ],
  )

export const removeCase = (tx: Tx, { dataset_id }: documentStore.DatasetId, case_id: string) =>
  tx.find<CaseRow>(
    `delete from app.definition_case where tenant_id = $1 and dataset_id = $2 and case_id = $3 returning ${columns}`,
    [tx.tenant_id, dataset_id, case_id],
  )

export const caseErasure = createErasureClass('golden-cases', 'Golden cases that name the subject', [
  {
    table: 'definition_case',
    id: 'r.case_id',
    owner: null,
    text: `concat_ws(E'\\n', r.name, r.note, app.json_texts(r.inputs), app.json_texts(r.expected))`,
    json: 'r.inputs',
    set: null,
  },
])
