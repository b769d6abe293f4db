/** SQL of erasures, their steps, and what the subjects router erases. */
import type { Tx } from '#kernel/database/tx.ts'
import type { ErasedSubject, NamedRow } from '#kernel/erasure/erasure-class.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { Type } from '#kernel/schema.ts'
import type { ErasureAnnex, ErasureCertificate, ErasurePreviewView } from './schema.ts'

export interface ErasureRow {
  readonly erasure_id: string
  readonly subject_id: string
  readonly origin: 'request' | 'ledger'
  readonly state: 'requested' | 'executing' | 'done' | 'withdrawn'
  readonly reason: string | null
  readonly requested_at: string
  readonly requested_by: string
  readonly confirmed_at: string | null
  readonly confirmed_by: string | null
  readonly job_id: string | null
  readonly also: readonly NamedRow[]
  readonly done_at: string | null
  readonly warnings: ErasurePreviewView['warnings'] | null
}

const columns = `erasure_id, subject_id, origin, state, reason, requested_at, requested_by, confirmed_at, confirmed_by, job_id, also, done_at,
  decision -> 'warnings' as warnings`

/** Newest first. */
export const listErasures = (
  tx: Tx,
  filter: { readonly state?: string | undefined; readonly subject_id?: string | undefined },
  after: PagePosition,
  count: number,
) =>
  tx.query<ErasureRow>(
    `select ${columns} from app.erasure
      where tenant_id = $1 and ($2::text is null or state = $2) and ($3::uuid is null or subject_id = $3)
        and ($4::timestamptz is null or (requested_at, erasure_id) < ($4, $5::uuid))
      order by requested_at desc, erasure_id desc limit $6`,
    [tx.tenant_id, filter.state ?? null, filter.subject_id ?? null, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const findErasure = (tx: Tx, erasure_id: string) =>
  tx.find<ErasureRow>(`select ${columns} from app.erasure where tenant_id = $1 and erasure_id = $2`, [
    tx.tenant_id,
    erasure_id,
  ])

export const lockErasure = (tx: Tx, erasure_id: string) =>
  tx.find<ErasureRow>(`select ${columns} from app.erasure where tenant_id = $1 and erasure_id = $2 for update`, [
    tx.tenant_id,
    erasure_id,
  ])

type Certificate = Omit<Type.Static<typeof ErasureCertificate>, 'annexes'>
type Annex = Type.Static<typeof ErasureAnnex>

export const findCertificate = (tx: Tx, erasure_id: string) =>
  tx.find<{ certificate: Certificate | null }>(
    'select certificate from app.erasure where tenant_id = $1 and erasure_id = $2',
    [tx.tenant_id, erasure_id],
  )

export const insertErasure = (
  tx: Tx,
  row: Pick<ErasureRow, 'erasure_id' | 'subject_id' | 'requested_by' | 'also'> & { readonly reason: string },
) =>
  tx.find<ErasureRow>(
    `insert into app.erasure (tenant_id, erasure_id, subject_id, reason, requested_by, also) values ($1, $2, $3, $4, $5, $6::jsonb)
     returning ${columns}`,
    [tx.tenant_id, row.erasure_id, row.subject_id, row.reason, row.requested_by, JSON.stringify(row.also)],
  )

export const updateConfirmed = (tx: Tx, erasure_id: string, job_id: string, decision: object) =>
  tx.find<ErasureRow>(
    `update app.erasure set state = 'executing', confirmed_at = now(), confirmed_by = $3, job_id = $4, decision = $5::jsonb
      where tenant_id = $1 and erasure_id = $2 returning ${columns}`,
    [tx.tenant_id, erasure_id, tx.actor, job_id, JSON.stringify(decision)],
  )

/** Nothing was changed yet: it waits to be confirmed again, or is withdrawn. */
export const updateUnconfirmed = (tx: Tx, erasure_id: string) =>
  tx.run(
    `update app.erasure set state = 'requested', confirmed_at = null, confirmed_by = null, decision = null, job_id = null
      where tenant_id = $1 and erasure_id = $2 and state = 'executing'`,
    [tx.tenant_id, erasure_id],
  )

export const updateWithdrawn = (tx: Tx, erasure_id: string) =>
  tx.find<ErasureRow>(
    `update app.erasure set state = 'withdrawn' where tenant_id = $1 and erasure_id = $2 returning ${columns}`,
    [tx.tenant_id, erasure_id],
  )

export interface ReplayedErasure {
  readonly erasure_id: string
  readonly subject_id: string
  readonly requested_by: string
  readonly confirmed_by: string
  readonly confirmed_at: string
  readonly also?: readonly NamedRow[]
}

/** Other open requests for the subject come to nothing. */
export const withdrawOtherErasures = (tx: Tx, { erasure_id, subject_id }: ReplayedErasure) =>
  tx.run(
    `update app.erasure set state = 'withdrawn' where tenant_id = $1 and subject_id = $2 and erasure_id <> $3 and state = 'requested'`,
    [tx.tenant_id, subject_id, erasure_id],
  )

/** As the ledger says it was confirmed, whatever the restored state of it is. */
export const upsertReplayedErasure = (tx: Tx, row: ReplayedErasure) =>
  tx.run(
    `insert into app.erasure as e (tenant_id, erasure_id, subject_id, origin, state, requested_by, requested_at, confirmed_by, confirmed_at, decision, also)
     values ($1, $2, $3, 'ledger', 'executing', $4, $6, $5, $6, '{"replayed": true}', $7::jsonb)
     on conflict on constraint erasure_pkey do update set origin = 'ledger', state = 'executing', confirmed_by = excluded.confirmed_by,
       confirmed_at = excluded.confirmed_at, decision = excluded.decision
     where e.state = 'requested'`,
    [
      ...[tx.tenant_id, row.erasure_id, row.subject_id, row.requested_by, row.confirmed_by, row.confirmed_at],
      JSON.stringify(row.also ?? []),
    ],
  )

// Steps -------------------------------------------------------------------------------------------------------------

/** Begins a step, and lets triggers know; false where it was done already. */
export async function beginStep(tx: Tx, erasure: { erasure_id: string; subject_id: string }, step: string) {
  const inserted = await tx.run(
    `insert into app.erasure_step (tenant_id, erasure_id, step, subject_id) values ($1, $2, $3, $4)
     on conflict on constraint erasure_step_pkey do nothing`,
    [tx.tenant_id, erasure.erasure_id, step, erasure.subject_id],
  )
  if (inserted === 1) await tx.run(`select set_config('app.erasing', $1, true)`, [erasure.erasure_id])
  return inserted === 1
}

export interface StepCounts {
  readonly count: number
  readonly left_for_review: number
  readonly kept_by_hold: number
}

export const updateStepCounts = (tx: Tx, erasure_id: string, step: string, counts: StepCounts) =>
  tx.run(
    `update app.erasure_step set erased = $4, left_for_review = $5, kept_by_hold = $6
      where tenant_id = $1 and erasure_id = $2 and step = $3`,
    [tx.tenant_id, erasure_id, step, counts.count, counts.left_for_review, counts.kept_by_hold],
  )

export const listSteps = (tx: Tx, erasure_id: string) =>
  tx.query<StepCounts & { class: string }>(
    `select step as class, erased as count, left_for_review, kept_by_hold
       from app.erasure_step where tenant_id = $1 and erasure_id = $2 order by step`,
    [tx.tenant_id, erasure_id],
  )

// Annexes -------------------------------------------------------------------------------------------------------------

/** Of rows that belong to all of these restrictions. */
interface AnnexKey {
  readonly restriction_id: string
  readonly named_restriction_ids: readonly string[]
}

export const addToAnnex = (tx: Tx, row: AnnexKey & { erasure_id: string; step: string; counts: StepCounts }) =>
  tx.run(
    `insert into app.erasure_annex as a (tenant_id, erasure_id, restriction_id, named_restriction_ids, counts) values ($1, $2, $3, $4, $5::jsonb)
     on conflict on constraint erasure_annex_pkey do update set counts = a.counts || excluded.counts`,
    [
      ...[tx.tenant_id, row.erasure_id, row.restriction_id, row.named_restriction_ids],
      JSON.stringify({ [row.step]: row.counts }),
    ],
  )

export const listAnnexCounts = (tx: Tx, erasure_id: string) =>
  tx.query<AnnexKey & { counts: Readonly<Record<string, StepCounts>> }>(
    `select restriction_id, named_restriction_ids::text[] as named_restriction_ids, counts from app.erasure_annex
      where tenant_id = $1 and erasure_id = $2 order by restriction_id, named_restriction_ids`,
    [tx.tenant_id, erasure_id],
  )

export const updateAnnexSigned = (tx: Tx, row: AnnexKey & { erasure_id: string; content: object }) =>
  tx.run(
    `update app.erasure_annex set content = $5::jsonb
      where tenant_id = $1 and erasure_id = $2 and restriction_id = $3 and named_restriction_ids = $4::uuid[]`,
    [...[tx.tenant_id, row.erasure_id, row.restriction_id, row.named_restriction_ids], JSON.stringify(row.content)],
  )

/** For the isolation canary only: of any restriction. */
export const insertCanaryAnnex = (tx: Tx, erasure_id: string) =>
  tx.run(
    `insert into app.erasure_annex (tenant_id, erasure_id, restriction_id, counts, content)
     select $1, $2, r.restriction_id, '{"note":"canary"}', '{"note":"canary"}' from app.restriction r where r.tenant_id = $1 limit 1`,
    [tx.tenant_id, erasure_id],
  )

/** Those that the caller may see. */
export const listAnnexes = async (tx: Tx, erasure_id: string): Promise<readonly Annex[]> =>
  (
    await tx.query<{ content: Annex }>(
      `select content from app.erasure_annex where tenant_id = $1 and erasure_id = $2 and content is not null
        order by restriction_id, named_restriction_ids limit 10000`,
      [tx.tenant_id, erasure_id],
    )
  ).map(({ content }) => content)

export const updateDone = (tx: Tx, erasure_id: string, end: { ledger_hash: string; certificate: object }) =>
  tx.run(
    `update app.erasure set state = 'done', done_at = now(), reason = null, ledger_hash = $3, certificate = $4::jsonb
      where tenant_id = $1 and erasure_id = $2`,
    [tx.tenant_id, erasure_id, end.ledger_hash, JSON.stringify(end.certificate)],
  )

// Marks ---------------------------------------------------------------------------------------------------------------

/** As the database compares them. */
export const foldTexts = async (tx: Tx, texts: readonly string[]): Promise<readonly string[]> =>
  (
    await tx.query<{ folded: string }>(
      'select btrim(app.fold_text(t.content)) as folded from unnest($1::text[]) with ordinality as t (content, place) order by t.place',
      [texts],
    )
  ).map(({ folded }) => folded)

/** Whether the name of another subject has all these words, in any order and among others. */
export const hasOtherName = async (tx: Tx, subject_id: string, words: readonly string[]): Promise<boolean> =>
  (await tx.find(
    `select w.subject_id from app.subject_word w where w.tenant_id = $1 and w.word = any ($3::text[]) and w.subject_id <> $2
      group by w.subject_id having count(*) = cardinality($3::text[]) limit 1`,
    [tx.tenant_id, subject_id, words],
  )) !== undefined

export const hasOtherExternalId = async (tx: Tx, subject_id: string, external_id: string): Promise<boolean> =>
  (await tx.find(
    'select 1 as found from app.subject where tenant_id = $1 and external_id = $3 and subject_id <> $2 limit 1',
    [tx.tenant_id, subject_id, external_id],
  )) !== undefined

// Content -----------------------------------------------------------------------------------------------------------

export const isHeld = async (tx: Tx, object_id: string): Promise<boolean> =>
  (await tx.find<{ held: boolean }>('select app.is_held($1) as held', [object_id]))?.held ?? false

/** Whether a hold names the subject or something that belongs to it, seen by the caller or not. */
export const isSubjectHeld = async (tx: Tx, subject_id: string): Promise<boolean> =>
  (await tx.find<{ held: boolean }>('select app.is_subject_held($1) as held', [subject_id]))?.held ?? false

export const findJurisdictions = async (tx: Tx): Promise<readonly string[]> =>
  (
    await tx.find<{ jurisdictions: string[] }>('select jurisdictions from app.tenant where tenant_id = $1', [
      tx.tenant_id,
    ])
  )?.jurisdictions ?? []

export const countSubjectCopies = async (tx: Tx, subject_id: string): Promise<number> =>
  (
    await tx.find<{ copies: number }>(
      `select (select count(*) from app.evaluation where tenant_id = $1 and subject_id = $2)
            + (select count(*) from app.batch_item where tenant_id = $1 and subject_id = $2)
            + (select count(*) from app.provider_call where tenant_id = $1 and subject_id = $2)
            + (select count(*) from app.subject_version where tenant_id = $1 and subject_id = $2) as copies`,
      [tx.tenant_id, subject_id],
    )
  )?.copies ?? 0

/** An encrypted copy without content, of the format of stored values: its key is the one that is destroyed. */
const ERASED_COPY = `decode('0200000001' || repeat('00', 28), 'hex')`

/** Copies that an earlier release stored as plain text and that are not encrypted yet. */
const plainCopies = [
  `update app.evaluation set document = null, document_encrypted = ${ERASED_COPY}
    where tenant_id = $1 and subject_id = $2 and document is not null`,
  `update app.subject_version set external_id = null, name = null, segment = null, attributes = null, offboard_reason = null, content = ${ERASED_COPY}
    where tenant_id = $1 and subject_id = $2 and content is null`,
  `update app.batch_item set content = ${ERASED_COPY}, external_id_hash = case when external_id is null then null else repeat('0', 64) end,
          external_id = null, inputs = null, document_salt = null, findings = '[]'
    where tenant_id = $1 and subject_id = $2 and content is null`,
]

/** Items of a request that names many subjects are encrypted together, by a job. */
export const hasPlainItems = async (tx: Tx, { subject_id, marks }: ErasedSubject): Promise<boolean> =>
  (await tx.find(
    `select 1 from app.batch_evaluation
      where tenant_id = $1 and source_kind = 'items' and items is null
        and (strpos(source::text, $2) > 0 or app.mentions(app.json_texts(source), $3, true)) limit 1`,
    [tx.tenant_id, subject_id, marks],
  )) !== undefined

/** The record, its search words and the reasons of its ratings. Returns how many rows were overwritten or removed. */
export const eraseSubjectRows = async (tx: Tx, subject_id: string): Promise<number> => {
  for (const text of plainCopies) await tx.run(text, [tx.tenant_id, subject_id])
  const words = await tx.run('delete from app.subject_word where tenant_id = $1 and subject_id = $2', [
    tx.tenant_id,
    subject_id,
  ])
  const ratings = await tx.run(
    `update app.rating set reason = case when cause in ('evaluation', 'batch') then null else 'erased' end
      where tenant_id = $1 and subject_id = $2 and reason is not null`,
    [tx.tenant_id, subject_id],
  )
  const subjects = await tx.run(
    `update app.subject set name = 'erased', external_id = null, segment = null, attributes = '{}', state = 'offboarded',
            offboarded_at = coalesce(offboarded_at, now()), offboard_reason = null, erased_at = now()
      where tenant_id = $1 and subject_id = $2 and erased_at is null`,
    [tx.tenant_id, subject_id],
  )
  const requests = await tx.run(
    `update app.erasure set reason = null where tenant_id = $1 and subject_id = $2 and reason is not null and state = 'withdrawn'`,
    [tx.tenant_id, subject_id],
  )
  return words + ratings + subjects + requests
}

// Files of subjects ---------------------------------------------------------------------------------------------------

export const subjectFileErasure = createErasureClass(
  'subject-files',
  'Excerpts of rejected rows of files of subjects',
  [
    {
      table: 'subject_bulk_reject',
      id: 'r.bulk_id',
      owner: null,
      text: `concat_ws(E'\\n', app.json_texts(r.excerpt), r.message, app.json_texts(r.location))`,
      set: null,
    },
    {
      table: 'subject_bulk_key',
      id: null,
      owner: null,
      text: 'r.external_id',
      match: `case when app.fold_text(r.external_id) = any (m.own) then 'mark' end`,
      set: null,
    },
  ],
)
