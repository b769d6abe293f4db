/** SQL of payloads, their admissions, the quarantine and the readers of facts. */

import type { Note, Violation } from '#contract/model.ts'
import { restrictionInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'

// Payloads ---------------------------------------------------------------------------------------------------------

export interface PayloadRow {
  readonly payload_id: string
  readonly contract_key: string
  readonly owner_kind: 'subject' | 'object'
  readonly owner_id: string
  readonly media_type: string
  readonly byte_size: number
  readonly payload_hash: string
  readonly source_kind: string
  readonly source_id: string
  readonly restriction_id: string | null
  readonly received_at: string
  readonly created_at: string
}

const payloadColumns = `payload_id, contract_key, owner_kind, owner_id, media_type, byte_size, payload_hash, source_kind, source_id,
  restriction_id, received_at, created_at`
const prefixColumns = (prefix: string, columns: string): string =>
  columns
    .split(',')
    .map((column) => `${prefix}.${column.trim()}`)
    .join(', ')

/** Returns nothing when the source has a payload already. */
export const insertPayload = (tx: Tx, payload: Omit<PayloadRow, 'created_at'>) =>
  tx.find<PayloadRow>(
    `insert into app.source_payload (tenant_id, payload_id, contract_key, owner_kind, owner_id, media_type, byte_size, payload_hash,
       source_kind, source_id, restriction_id, received_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
     on conflict on constraint source_payload_source_key do nothing returning ${payloadColumns}`,
    [
      ...[tx.tenant_id, payload.payload_id, payload.contract_key, payload.owner_kind, payload.owner_id],
      ...[payload.media_type, payload.byte_size, payload.payload_hash, payload.source_kind, payload.source_id],
      ...[payload.restriction_id, payload.received_at, tx.actor],
    ],
  )

/** Sent together with COMMIT. */
export const deferPayloadContent = (tx: Tx, payload_id: string, content: Buffer, received_at: string): void =>
  tx.defer(
    'insert into app.source_payload_content (tenant_id, payload_id, content, received_at) values ($1, $2, $3, $4)',
    [tx.tenant_id, payload_id, content, received_at],
  )

export const findPayload = (tx: Tx, payload_id: string) =>
  tx.find<PayloadRow>(`select ${payloadColumns} from app.source_payload where tenant_id = $1 and payload_id = $2`, [
    tx.tenant_id,
    payload_id,
  ])

export const findPayloadOfSource = (tx: Tx, source_kind: string, source_id: string) =>
  tx.find<PayloadRow>(
    `select ${payloadColumns} from app.source_payload where tenant_id = $1 and source_kind = $2 and source_id = $3`,
    [tx.tenant_id, source_kind, source_id],
  )

export type StoredPayload = PayloadRow & { readonly content: Buffer | null }

/** With the encrypted bytes; null once retention has removed them. */
export const findStoredPayloads = (tx: Tx, payload_ids: readonly string[]) =>
  tx.query<StoredPayload>(
    `select ${prefixColumns('p', payloadColumns)}, c.content from app.source_payload p
       left join app.source_payload_content c on c.tenant_id = p.tenant_id and c.payload_id = p.payload_id
      where p.tenant_id = $1 and p.payload_id = any ($2) order by p.payload_id`,
    [tx.tenant_id, payload_ids],
  )

/** The newest judged payloads of a contract whose bytes are stored. An answer that says "not found" is judged by no contract. */
export const listRecentPayloads = (tx: Tx, contract_key: string, count: number) =>
  tx.query<{ payload_id: string; admitted: boolean }>(
    `select p.payload_id, a.admitted
       from app.source_payload p
      cross join lateral (select admitted from app.payload_admission
                           where tenant_id = p.tenant_id and payload_id = p.payload_id order by admission_id desc limit 1) a
      where p.tenant_id = $1 and p.contract_key = $2
        and exists (select 1 from app.source_payload_content c where c.tenant_id = p.tenant_id and c.payload_id = p.payload_id)
      order by p.payload_id desc limit $3`,
    [tx.tenant_id, contract_key, count],
  )

// Admissions -------------------------------------------------------------------------------------------------------

export interface AdmissionRow {
  readonly admission_id: string
  readonly payload_id: string
  readonly contract_key: string
  readonly contract_origin: 'own' | 'shared'
  readonly contract_version: number
  readonly contract_hash: string
  readonly result: 'admitted' | 'admitted_with_notes' | 'quarantined'
  readonly admitted: boolean
  readonly incomplete: boolean
  readonly record_count: number
  readonly violations: readonly Violation[]
  readonly more_violations: number
  readonly notes: readonly Note[]
  readonly provenance: { readonly source: string | null; readonly as_of: string | null }
  readonly list_receipt: readonly Readonly<Record<string, unknown>>[]
  readonly replaces_admission_id: string | null
  readonly created_at: string
  readonly created_by: string
}
export type NewAdmission = Omit<AdmissionRow, 'admitted' | 'created_at' | 'created_by'> & {
  readonly facts: Buffer | null
}

const admissionColumns = `admission_id, payload_id, contract_key, contract_origin, contract_version, contract_hash, result, admitted,
  incomplete, record_count, violations, more_violations, notes, provenance, list_receipt, replaces_admission_id, created_at, created_by`

/** Returns nothing when the payload, or the admission that it replaces, has one already. */
export const insertAdmission = (tx: Tx, admission: NewAdmission) =>
  tx.find<AdmissionRow>(
    `insert into app.payload_admission (tenant_id, admission_id, payload_id, contract_key, contract_origin, contract_version,
       contract_hash, result, incomplete, record_count, violations, more_violations, notes, provenance, list_receipt, facts,
       replaces_admission_id, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12, $13::jsonb, $14::jsonb, $15::jsonb, $16, $17, $18)
     on conflict do nothing returning ${admissionColumns}`,
    [
      ...[tx.tenant_id, admission.admission_id, admission.payload_id, admission.contract_key],
      ...[admission.contract_origin, admission.contract_version, admission.contract_hash, admission.result],
      ...[admission.incomplete, admission.record_count, JSON.stringify(admission.violations)],
      ...[admission.more_violations, JSON.stringify(admission.notes), JSON.stringify(admission.provenance)],
      ...[JSON.stringify(admission.list_receipt), admission.facts, admission.replaces_admission_id, tx.actor],
    ],
  )

/** The last admission of a payload. */
export const findLastAdmission = (tx: Tx, payload_id: string) =>
  tx.find<AdmissionRow>(
    `select ${admissionColumns} from app.payload_admission where tenant_id = $1 and payload_id = $2
      order by admission_id desc limit 1`,
    [tx.tenant_id, payload_id],
  )

/** The last admission of each of these payloads that has one. */
export const findLastAdmissions = (tx: Tx, payload_ids: readonly string[]) =>
  tx.query<Pick<AdmissionRow, 'payload_id' | 'admission_id' | 'admitted'>>(
    `select distinct on (payload_id) payload_id, admission_id, admitted from app.payload_admission
      where tenant_id = $1 and payload_id = any ($2::uuid[]) order by payload_id, admission_id desc`,
    [tx.tenant_id, payload_ids],
  )

export const listAdmissions = (tx: Tx, payload_id: string) =>
  tx.query<AdmissionRow>(
    `select ${admissionColumns} from app.payload_admission where tenant_id = $1 and payload_id = $2
      order by admission_id desc limit 100`,
    [tx.tenant_id, payload_id],
  )

export const findAdmission = (tx: Tx, admission_id: string) =>
  tx.find<
    AdmissionRow &
      Pick<PayloadRow, 'owner_kind' | 'owner_id' | 'payload_hash' | 'received_at'> & { facts: Buffer | null }
  >(
    `select ${prefixColumns('a', admissionColumns)}, a.facts, p.owner_kind, p.owner_id, p.payload_hash, p.received_at
       from app.payload_admission a join app.source_payload p on p.tenant_id = a.tenant_id and p.payload_id = a.payload_id
      where a.tenant_id = $1 and a.admission_id = $2`,
    [tx.tenant_id, admission_id],
  )

/** The database refuses an admission that is quarantined. */
export const insertEvidence = (
  tx: Tx,
  { consumer_kind, consumer_id, admission_id }: { consumer_kind: string; consumer_id: string; admission_id: string },
) =>
  tx.run(
    `insert into app.admission_evidence (tenant_id, consumer_kind, consumer_id, admission_id, created_by) values ($1, $2, $3, $4, $5)
     on conflict on constraint admission_evidence_pkey do nothing`,
    [tx.tenant_id, consumer_kind, consumer_id, admission_id, tx.actor],
  )

/** What a consumer was decided on, in the order of the contracts. */
export const listEvidence = (
  tx: Tx,
  { consumer_kind, consumer_id }: { readonly consumer_kind: string; readonly consumer_id: string },
) =>
  tx.query<Pick<AdmissionRow, 'admission_id' | 'payload_id' | 'contract_key'>>(
    `select a.admission_id, a.payload_id, a.contract_key
       from app.admission_evidence e
       join app.payload_admission a on a.tenant_id = e.tenant_id and a.admission_id = e.admission_id
      where e.tenant_id = $1 and e.consumer_kind = $2 and e.consumer_id = $3 order by a.contract_key`,
    [tx.tenant_id, consumer_kind, consumer_id],
  )

// Quarantine -------------------------------------------------------------------------------------------------------

export interface QuarantineRow {
  readonly payload_id: string
  readonly admission_id: string
  readonly contract_key: string
  readonly state: 'open' | 'resolved'
  readonly resolution: 'widened' | 'provider_fault' | 'discarded' | 'reprocessed' | null
  readonly reason: string | null
  readonly resolved_at: string | null
  readonly resolved_by: string | null
  readonly revision: number
  readonly created_at: string
}
const quarantineColumns =
  'payload_id, admission_id, contract_key, state, resolution, reason, resolved_at, resolved_by, revision, created_at'

/** A payload that is refused again keeps its item, with the newer admission. */
export const upsertQuarantineItem = (
  tx: Tx,
  item: Pick<QuarantineRow, 'payload_id' | 'admission_id' | 'contract_key'>,
) =>
  tx.run(
    `insert into app.quarantine_item as q (tenant_id, payload_id, admission_id, contract_key) values ($1, $2, $3, $4)
     on conflict on constraint quarantine_item_pkey do update
        set admission_id = excluded.admission_id, revision = q.revision + 1`,
    [tx.tenant_id, item.payload_id, item.admission_id, item.contract_key],
  )

export const findQuarantineItem = (tx: Tx, payload_id: string) =>
  tx.find<QuarantineRow>(
    `select ${quarantineColumns} from app.quarantine_item where tenant_id = $1 and payload_id = $2`,
    [tx.tenant_id, payload_id],
  )

export const lockQuarantineItem = (tx: Tx, payload_id: string) =>
  tx.find<QuarantineRow>(
    `select ${quarantineColumns} from app.quarantine_item where tenant_id = $1 and payload_id = $2 for update`,
    [tx.tenant_id, payload_id],
  )

export const resolveQuarantineItem = (
  tx: Tx,
  payload_id: string,
  resolution: NonNullable<QuarantineRow['resolution']>,
  reason: string | null,
) =>
  tx.find<QuarantineRow>(
    `update app.quarantine_item set state = 'resolved', resolution = $3, reason = $4, resolved_at = now(), resolved_by = $5,
            revision = revision + 1
      where tenant_id = $1 and payload_id = $2 returning ${quarantineColumns}`,
    [tx.tenant_id, payload_id, resolution, reason, tx.actor],
  )

export interface QuarantineViewRow
  extends QuarantineRow,
    Pick<AdmissionRow, 'contract_version' | 'violations' | 'more_violations' | 'record_count'>,
    Pick<PayloadRow, 'source_kind' | 'source_id' | 'received_at' | 'byte_size' | 'media_type' | 'restriction_id'> {
  /** The first call that the payload answers: recorded answers share it. */
  readonly call_id: string | null
}

const selectQuarantine = (items: string): string =>
  `select ${prefixColumns('q', quarantineColumns)}, ${restrictionInForce('p')}, a.contract_version, a.violations, a.more_violations,
          a.record_count, (select call_id from app.provider_answer where tenant_id = $1 and payload_id = q.payload_id
                            order by call_id limit 1) as call_id, p.source_kind, p.source_id, p.received_at, p.byte_size, p.media_type
     from (${items}) q
     join app.payload_admission a on a.tenant_id = $1 and a.admission_id = q.admission_id
     join app.source_payload p on p.tenant_id = $1 and p.payload_id = q.payload_id`

export interface QuarantineFilter {
  readonly contract_key: string | null
  readonly state: string | null
  /** Of a violation of the newest admission. */
  readonly keyword: string | null
}

const HAS_VIOLATION = `(select a.violations from app.payload_admission a
      where a.tenant_id = $1 and a.admission_id = quarantine_item.admission_id) @>`

/** Newest first. The items are limited before they are joined, so that an index gives them. */
export const listQuarantine = (
  tx: Tx,
  { keyword, ...filter }: QuarantineFilter,
  after: PagePosition,
  count: number,
) => {
  const values: unknown[] = [tx.tenant_id, count]
  const conditions = [
    ...Object.entries(filter).map(([column, value]) => ({ sql: `${column} =`, value })),
    { sql: HAS_VIOLATION, value: keyword === null ? null : JSON.stringify([{ keyword }]) },
    { sql: 'payload_id <', value: after?.[0] ?? null },
  ].flatMap(({ sql, value }) => (value === null ? [] : [`and ${sql} $${values.push(value)}`]))
  const items = `select ${quarantineColumns} from app.quarantine_item
      where tenant_id = $1 ${conditions.join(' ')} order by payload_id desc limit $2`
  return tx.query<QuarantineViewRow>(`${selectQuarantine(items)} order by q.payload_id desc`, values)
}

export const findQuarantineView = (tx: Tx, payload_id: string) =>
  tx.find<QuarantineViewRow>(
    selectQuarantine(`select ${quarantineColumns} from app.quarantine_item where tenant_id = $1 and payload_id = $2`),
    [tx.tenant_id, payload_id],
  )

export interface ContractActivityRow {
  readonly contract_key: string
  readonly open_quarantine: number
  readonly drift_findings: number
  readonly last_payload_at: string | null
  readonly last_result: AdmissionRow['result'] | null
}

/** What arrives and what waits, of each contract that the tenant sees. At most so many items of the quarantine are counted. */
export const listContractActivity = (tx: Tx, since: string, most: number) =>
  tx.query<ContractActivityRow>(
    `with waiting as (
       select contract_key, count(*)::int as items
         from (select contract_key from app.quarantine_item where tenant_id = $1 and state = 'open' order by payload_id desc limit $3) q
        group by contract_key)
     select d.list_key as contract_key, coalesce(w.items, 0) as open_quarantine, f.findings as drift_findings,
            p.received_at as last_payload_at, a.result as last_result
       from (select distinct list_key from app.dataset
              where tenant_id in ($1, app.system_tenant()) and family = 'contract' and role = 'base') d
       left join waiting w on w.contract_key = d.list_key
      cross join lateral (select count(*)::int as findings from app.drift_finding
                           where tenant_id = $1 and contract_key = d.list_key and created_at >= $2) f
       left join lateral (select payload_id, received_at from app.source_payload
                           where tenant_id = $1 and contract_key = d.list_key order by payload_id desc limit 1) p on true
       left join lateral (select result from app.payload_admission
                           where tenant_id = $1 and payload_id = p.payload_id order by admission_id desc limit 1) a on true
      order by d.list_key limit 5000`,
    [tx.tenant_id, since, most],
  )

// Readers of facts -------------------------------------------------------------------------------------------------

/** An input of a published version that reads a fact. */
export interface FactReaderRow {
  readonly family: string
  readonly key: string
  readonly version: number
  readonly input: string
  readonly fact: string
  /** The version is in force or comes into force later. */
  readonly is_active: boolean
}

export const insertFactReaders = (
  tx: Tx,
  definition: { readonly dataset_id: string; readonly version: number },
  reads: readonly { readonly contract_key: string; readonly fact: string; readonly input: string }[],
) =>
  tx.run(
    `insert into app.definition_fact (tenant_id, dataset_id, version, contract_key, fact, input)
     select $1, $2, $3, r.contract_key, r.fact, r.input from unnest($4::text[], $5::text[], $6::text[]) as r (contract_key, fact, input)
     on conflict do nothing`,
    [
      ...[tx.tenant_id, definition.dataset_id, definition.version],
      ...[reads.map(({ contract_key }) => contract_key), reads.map(({ fact }) => fact)],
      reads.map(({ input }) => input),
    ],
  )

/** Readers among the tenant's definitions and the shared ones. */
export const listFactReaders = (tx: Tx, contract_key: string) =>
  tx.query<FactReaderRow>(
    `select d.family, d.list_key as key, r.version, r.input, r.fact,
            exists (select 1 from app.activation a
                     where a.tenant_id in ($1, app.system_tenant()) and a.dataset_tenant_id = r.tenant_id and a.dataset_id = r.dataset_id
                       and a.version = r.version and a.revoked_at is null and a.family = d.family and a.list_key = d.list_key
                       and (a.effective_from > statement_timestamp() or exists (
                         select 1 from app.resolve_lists(d.family, array[d.list_key], statement_timestamp(), null) l
                          where l.dataset_id = r.dataset_id and l.version = r.version))) as is_active
       from app.definition_fact r join app.dataset d on d.tenant_id = r.tenant_id and d.dataset_id = r.dataset_id
      where r.tenant_id in ($1, app.system_tenant()) and r.contract_key = $2
      order by d.family, d.list_key, r.version, r.fact, r.input limit 1000`,
    [tx.tenant_id, contract_key],
  )

const payloadSubject = `(select p.owner_id from app.source_payload p
  where p.tenant_id = r.tenant_id and p.payload_id = r.payload_id and p.owner_kind = 'subject')`
export const quarantineErasure = createErasureClass('quarantine', 'Reasons of decisions about quarantined payloads', [
  {
    ...{ table: 'quarantine_item', id: 'r.payload_id', owner: payloadSubject, restriction: 'r.restriction_id' },
    ...{ text: 'r.reason', where: 'r.reason is not null', set: 'reason = null' },
  },
])
