/** SQL of drift: windows of statistics and findings. */
import type { DriftFinding } from '#contract/drift-findings.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import { uuidv7 } from '#kernel/uuid.ts'

export interface WindowRow {
  readonly window_id: string
  readonly contract_key: string
  readonly contract_version: number
  readonly state: 'open' | 'closed'
  readonly is_baseline: boolean
  readonly payload_count: number
  readonly record_count: number
  readonly sketch: Buffer
  readonly last_admission_id: string
  readonly opened_at: string
  readonly closed_at: string | null
}
const columns = `window_id, contract_key, contract_version, state, is_baseline, payload_count, record_count, sketch,
  last_admission_id, opened_at, closed_at`

export type NewWindow = Pick<
  WindowRow,
  | 'window_id'
  | 'contract_key'
  | 'contract_version'
  | 'payload_count'
  | 'record_count'
  | 'sketch'
  | 'last_admission_id'
  | 'opened_at'
>

export const insertWindow = (tx: Tx, window: NewWindow) =>
  tx.run(
    `insert into app.drift_window (tenant_id, window_id, contract_key, contract_version, state, payload_count, record_count, sketch,
       last_admission_id, opened_at)
     values ($1, $2, $3, $4, 'open', $5, $6, $7, $8, $9)`,
    [
      ...[tx.tenant_id, window.window_id, window.contract_key, window.contract_version, window.payload_count],
      ...[window.record_count, window.sketch, window.last_admission_id, window.opened_at],
    ],
  )

export const updateWindow = (
  tx: Tx,
  window: Pick<WindowRow, 'window_id' | 'payload_count' | 'record_count' | 'sketch' | 'last_admission_id'>,
) =>
  tx.run(
    `update app.drift_window set payload_count = $3, record_count = $4, sketch = $5, last_admission_id = $6, revision = revision + 1
      where tenant_id = $1 and window_id = $2 and state = 'open'`,
    [
      ...[tx.tenant_id, window.window_id, window.payload_count, window.record_count],
      ...[window.sketch, window.last_admission_id],
    ],
  )

export const closeWindow = (tx: Tx, window_id: string, is_baseline: boolean) =>
  tx.run(
    `update app.drift_window set state = 'closed', closed_at = now(), is_baseline = $3, revision = revision + 1
      where tenant_id = $1 and window_id = $2 and state = 'open'`,
    [tx.tenant_id, window_id, is_baseline],
  )

export const findOpenWindow = (tx: Tx, contract_key: string, contract_version: number) =>
  tx.find<WindowRow>(
    `select ${columns} from app.drift_window
      where tenant_id = $1 and contract_key = $2 and contract_version = $3 and state = 'open'`,
    [tx.tenant_id, contract_key, contract_version],
  )

export const findBaseline = (tx: Tx, contract_key: string, contract_version: number) =>
  tx.find<WindowRow>(
    `select ${columns} from app.drift_window
      where tenant_id = $1 and contract_key = $2 and contract_version = $3 and is_baseline`,
    [tx.tenant_id, contract_key, contract_version],
  )

export const findLastWindow = (tx: Tx, contract_key: string, contract_version: number) =>
  tx.find<WindowRow>(
    `select ${columns} from app.drift_window where tenant_id = $1 and contract_key = $2 and contract_version = $3
      order by window_id desc limit 1`,
    [tx.tenant_id, contract_key, contract_version],
  )

/** Newest first. */
export const listWindows = (tx: Tx, contract_key: string, since: string, count: number) =>
  tx.query<WindowRow>(
    `select ${columns} from app.drift_window
      where tenant_id = $1 and contract_key = $2 and coalesce(closed_at, now()) >= $3 order by window_id desc limit $4`,
    [tx.tenant_id, contract_key, since, count],
  )

/** Versions of contracts that admitted or refused something after an admission id. */
export const listActiveVersions = (tx: Tx, after_admission_id: string) =>
  tx.query<{ contract_key: string; contract_version: number; contract_origin: 'own' | 'shared' }>(
    `select distinct contract_key, contract_version, contract_origin from app.payload_admission
      where tenant_id = $1 and admission_id > $2 and replaces_admission_id is null order by 1, 2`,
    [tx.tenant_id, after_admission_id],
  )

/** First admissions of a version in the order they were made. Reprocessed payloads are not counted twice. */
export const listAdmissionsAfter = (
  tx: Tx,
  of: { readonly contract_key: string; readonly contract_version: number; readonly after: string },
  count: number,
) =>
  tx.query<{ admission_id: string; payload_id: string }>(
    `select admission_id, payload_id from app.payload_admission
      where tenant_id = $1 and contract_key = $2 and contract_version = $3 and admission_id > $4 and replaces_admission_id is null
      order by admission_id limit $5`,
    [tx.tenant_id, of.contract_key, of.contract_version, of.after, count],
  )

export interface DriftFindingRow extends DriftFinding {
  readonly finding_id: string
  readonly contract_key: string
  readonly contract_version: number
  readonly window_id: string
  readonly created_at: string
  /** Null while nobody has looked at it. */
  readonly acknowledged_at: string | null
  readonly acknowledged_by: string | null
  readonly acknowledgement_note: string | null
}

/** One that is known for this version is not repeated. */
export const insertDriftFindings = (
  tx: Tx,
  of: { readonly window_id: string; readonly contract_key: string; readonly contract_version: number },
  findings: readonly DriftFinding[],
) =>
  tx.run(
    `insert into app.drift_finding (tenant_id, finding_id, contract_key, contract_version, window_id, kind, pointer, item, facts,
       first_payload_id)
     select $1, f.finding_id, $2, $3, $4, f.kind, f.pointer, f.item, f.facts, f.first_payload_id
       from jsonb_to_recordset($5::jsonb) as f (finding_id uuid, kind text, pointer text, item text, facts jsonb, first_payload_id uuid)
     on conflict on constraint drift_finding_once_key do nothing`,
    [
      ...[tx.tenant_id, of.contract_key, of.contract_version, of.window_id],
      JSON.stringify(findings.map((finding) => ({ finding_id: uuidv7(), ...finding }))),
    ],
  )

/** Statistical findings name only the first payload that showed them, to readers who may see it. */
const findingColumns = `f.finding_id, f.contract_key, f.contract_version, f.window_id, f.kind, f.pointer, f.item, f.facts,
  (select p.payload_id from app.source_payload p where p.tenant_id = f.tenant_id and p.payload_id = f.first_payload_id) as first_payload_id,
  f.created_at, a.acknowledged_at, a.acknowledged_by, a.note as acknowledgement_note`
const findings = `app.drift_finding f
  left join app.drift_acknowledgement a on a.tenant_id = f.tenant_id and a.finding_id = f.finding_id`

/** Newest first. */
export const listDriftFindings = (
  tx: Tx,
  { contract_key, acknowledged }: { readonly contract_key: string; readonly acknowledged: boolean | null },
  after: string | null,
  count: number,
) =>
  tx.query<DriftFindingRow>(
    `select ${findingColumns} from ${findings}
      where f.tenant_id = $1 and f.contract_key = $2 and ($3::uuid is null or f.finding_id < $3)
        and ($5::boolean is null or (a.finding_id is not null) = $5)
      order by f.finding_id desc limit $4`,
    [tx.tenant_id, contract_key, after, count, acknowledged],
  )

export const findDriftFinding = (tx: Tx, contract_key: string, finding_id: string) =>
  tx.find<DriftFindingRow>(
    `select ${findingColumns} from ${findings} where f.tenant_id = $1 and f.contract_key = $2 and f.finding_id = $3`,
    [tx.tenant_id, contract_key, finding_id],
  )

/** False where somebody did before. */
export const insertDriftAcknowledgement = async (tx: Tx, finding_id: string, note: string | null): Promise<boolean> =>
  (await tx.find(
    `insert into app.drift_acknowledgement (tenant_id, finding_id, note) values ($1, $2, $3)
     on conflict on constraint drift_acknowledgement_pkey do nothing returning finding_id`,
    [tx.tenant_id, finding_id, note],
  )) !== undefined

// Violations ---------------------------------------------------------------------------------------------------------

export interface ViolationGroupRow {
  readonly contract_key: string
  readonly contract_version: number
  readonly pointer: string
  readonly keyword: string
  readonly violations: number
  readonly first_seen: string
  readonly last_seen: string
  readonly samples: readonly string[]
}

/** Counts one payload at each place, apart from those of other restrictions. Sorted by the caller, so that concurrent admissions take row locks in one order. */
export const upsertViolationGroups = (
  tx: Tx,
  of: { readonly contract_key: string; readonly contract_version: number; readonly payload_id: string },
  groups: readonly { readonly pointer: string; readonly keyword: string }[],
) =>
  tx.run(
    `insert into app.violation_group as g (tenant_id, contract_key, contract_version, pointer, keyword, payload_id, violations, samples)
     select $1, $2, $3, v.pointer, v.keyword, $4::uuid, 1, array[$4::uuid] from unnest($5::text[], $6::text[]) as v (pointer, keyword)
     on conflict on constraint violation_group_once_key do update
        set violations = g.violations + 1, last_seen = now(),
            samples = case when cardinality(g.samples) < 5 then g.samples || excluded.samples else g.samples end`,
    [
      ...[tx.tenant_id, of.contract_key, of.contract_version, of.payload_id],
      ...[groups.map(({ pointer }) => pointer), groups.map(({ keyword }) => keyword)],
    ],
  )

/** The newest violations of a contract, as far as the caller may see the payloads. */
export const listViolationGroups = (tx: Tx, contract_key: string, count: number) =>
  tx.query<ViolationGroupRow>(
    `with seen as (
       select contract_key, contract_version, pointer, keyword, violations, first_seen, last_seen, samples
         from app.violation_group where tenant_id = $1 and contract_key = $2),
     groups as (
       select contract_key, contract_version, pointer, keyword, sum(violations)::bigint as violations, min(first_seen) as first_seen,
              max(last_seen) as last_seen
         from seen group by contract_key, contract_version, pointer, keyword
        order by max(last_seen) desc, sum(violations) desc, pointer, keyword limit $3)
     select g.*, s.samples from groups g
      cross join lateral (
        select (array_agg(sample order by sample))[1:5] as samples from seen s cross join unnest(s.samples) as one (sample)
         where (s.contract_version, s.pointer, s.keyword) = (g.contract_version, g.pointer, g.keyword)) s
      order by g.last_seen desc, g.violations desc, g.pointer, g.keyword`,
    [tx.tenant_id, contract_key, count],
  )

/** A finding is about a source and belongs to no subject. */
export const driftErasure = createErasureClass('drift-notes', 'Notes on drift findings', [
  {
    ...{ table: 'drift_acknowledgement', id: 'r.finding_id', owner: null },
    ...{ text: 'r.note', where: 'r.note is not null', set: `note = 'erased'` },
  },
])
