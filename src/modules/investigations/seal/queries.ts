/** SQL of seals, and of what a case consists of, as ids and hashes. */
import type { Tx } from '#kernel/database/tx.ts'

export interface SealRow {
  readonly seal_no: number
  readonly manifest: Readonly<Record<string, unknown>>
  readonly manifest_hash: string
  readonly key_id: string
  readonly signature: string
  /** What its archive shows, encrypted; null for a seal of the first format. */
  readonly content: Buffer | null
  readonly sealed_at: string
  readonly sealed_by: string
}

const columns = 's.seal_no, s.manifest, s.manifest_hash, s.key_id, s.signature, s.content, s.sealed_at, s.sealed_by'

export type NewSeal = Pick<SealRow, 'seal_no' | 'manifest' | 'manifest_hash' | 'key_id' | 'signature' | 'content'>

export const insertSeal = (tx: Tx, investigation_id: string, seal: NewSeal) =>
  tx.run(
    `insert into app.investigation_seal (tenant_id, investigation_id, seal_no, manifest, manifest_hash, key_id, signature, content, sealed_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      tx.tenant_id,
      investigation_id,
      seal.seal_no,
      JSON.stringify(seal.manifest),
      seal.manifest_hash,
      seal.key_id,
      seal.signature,
      seal.content,
      tx.actor,
    ],
  )

/** Newest first. */
export const listSeals = (tx: Tx, investigation_id: string) =>
  tx.query<SealRow>(
    `select ${columns} from app.investigation_seal s where s.tenant_id = $1 and s.investigation_id = $2 order by s.seal_no desc`,
    [tx.tenant_id, investigation_id],
  )

export interface SealedParts {
  readonly steps: readonly object[]
  readonly tasks: readonly object[]
  readonly information_requests: readonly object[]
  readonly evidence: readonly object[]
  readonly subjects: readonly object[]
  readonly alerts: readonly object[]
  readonly notes: readonly object[]
  readonly narrative: object | null
}

/** Named where a person entered an answer in place of the provider; absent otherwise, so that other seals stay as they are. */
const enteredBy = (
  call_id: string,
): string => `coalesce((select jsonb_build_object('entered_by', a.answered_by) from app.provider_answer a
   where a.tenant_id = $1 and a.call_id = ${call_id} and a.is_result and a.source = 'person'), '{}')`

/** One statement, so that all of it is of one instant. Instants are text in UTC, as they are hashed. */
export const readSealedParts = async (tx: Tx, investigation_id: string): Promise<SealedParts> =>
  (await tx.find<SealedParts>(
    `select
       (select coalesce(jsonb_agg(jsonb_build_object('step_key', s.step_key, 'kind', s.kind, 'state', s.state, 'attempt', s.attempt, 'call_id', s.call_id,
                 'result_kind', s.result_kind, 'result_id', s.result_id, 'evidence_id', s.evidence_id, 'waived_by', s.waived_by)
                 || case when s.is_test then '{"is_test": true}'::jsonb else '{}' end || ${enteredBy('s.call_id')} order by s.position), '[]')
          from app.investigation_step s where s.tenant_id = $1 and s.investigation_id = $2) as steps,
       (select coalesce(jsonb_agg(jsonb_build_object('task_id', t.task_id, 'step_key', t.step_key, 'state', t.state, 'ended_by', t.ended_by,
                 'revision', t.revision) order by t.task_id), '[]')
          from app.investigation_task t where t.tenant_id = $1 and t.investigation_id = $2) as tasks,
       (select coalesce(jsonb_agg(jsonb_build_object('request_id', r.request_id, 'state', r.state, 'evidence_id', r.evidence_id, 'revision', r.revision)
                 order by r.request_id), '[]')
          from app.investigation_request r where r.tenant_id = $1 and r.investigation_id = $2) as information_requests,
       (select coalesce(jsonb_agg(jsonb_build_object('evidence_id', e.evidence_id, 'kind', e.kind, 'object_id', e.object_id,
                 'object_version', e.object_version, 'content_hash', e.content_hash)
                 || case when e.is_test then '{"is_test": true}'::jsonb else '{}' end
                 || case when e.kind = 'provider_call' then ${enteredBy('e.object_id')} else '{}' end order by e.evidence_id), '[]')
          from app.evidence_item e where e.tenant_id = $1 and e.owner_kind = 'investigation' and e.owner_id = $2 and e.detached_at is null) as evidence,
       (select coalesce(jsonb_agg(jsonb_build_object('subject_id', p.subject_id, 'part', p.part) order by p.subject_id), '[]')
          from app.investigation_subject p where p.tenant_id = $1 and p.investigation_id = $2) as subjects,
       (select coalesce(jsonb_agg(jsonb_build_object('alert_id', l.alert_id) order by l.alert_id), '[]')
          from app.investigation_alert l where l.tenant_id = $1 and l.investigation_id = $2) as alerts,
       (select coalesce(jsonb_agg(jsonb_build_object('note_id', n.note_id, 'created_by', n.created_by) order by n.note_id), '[]')
          from app.investigation_note n where n.tenant_id = $1 and n.investigation_id = $2 and n.revision is null) as notes,
       (select jsonb_build_object('version', v.version, 'content_hash', v.content_hash) from app.investigation_narrative v
         where v.tenant_id = $1 and v.investigation_id = $2 order by v.version desc limit 1) as narrative`,
    [tx.tenant_id, investigation_id],
  )) as SealedParts

export const findLastEvent = (tx: Tx, investigation_id: string) =>
  tx.find<{ event_id: string; kind: string }>(
    `select event_id, kind from app.investigation_event where tenant_id = $1 and investigation_id = $2
      order by recorded_at desc, event_id desc limit 1`,
    [tx.tenant_id, investigation_id],
  )

/** The event of an attachment is seen with the case, the item only with its object too. */
const hiddenEvidence = `exists (select 1 from app.investigation_event v where v.tenant_id = $1 and v.investigation_id = $2 and v.kind = 'evidence_attached'
  and not exists (select 1 from app.evidence_item e where e.tenant_id = v.tenant_id and e.evidence_id = (v.data ->> 'evidence_id')::uuid))`

/** Whether the seal of a case names, or would name, objects that the caller may not see: evidence and linked alerts. */
export const findHiddenContent = async (tx: Tx, investigation_id: string): Promise<boolean> =>
  (
    await tx.find<{ hidden: boolean }>(
      `select ${hiddenEvidence} or exists (
         select 1 from app.investigation_alert l where l.tenant_id = $1 and l.investigation_id = $2
            and not exists (select 1 from app.alert a where a.tenant_id = l.tenant_id and a.alert_id = l.alert_id)) as hidden`,
      [tx.tenant_id, investigation_id],
    )
  )?.hidden ?? false
