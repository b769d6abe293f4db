/** SQL of investigations as people read them: lists, one case with what belongs to it, its steps and timeline. */
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import { evidenceStore } from '#modules/documents/index.ts'
import type { Priority } from '#modules/work/index.ts'
import type { EventCategory, GatheringState, InvestigationState, Origin, StepState, WaitingReason } from './model.ts'

export interface InvestigationRow {
  readonly investigation_id: string
  readonly reference: string
  readonly subject_id: string
  readonly subject_name: string
  readonly subject_type: string
  readonly playbook_key: string
  readonly playbook_origin: 'own' | 'shared'
  readonly playbook_version: number
  readonly playbook_hash: string
  readonly title: string
  readonly priority: Priority
  readonly origin: Origin
  readonly origin_reference: string | null
  readonly state: InvestigationState
  readonly gathering: GatheringState
  readonly gathering_job_id: string | null
  readonly gathering_problem: Readonly<Record<string, unknown>> | null
  readonly waiting_for: WaitingReason | null
  readonly waiting_since: string | null
  readonly waiting_until: string | null
  readonly proposed_outcome: string | null
  readonly proposed_by: string | null
  readonly proposed_at: string | null
  readonly proposal_hash: string | null
  /** Steps that the proposed outcome needs and that nobody will do. */
  readonly proposed_without: readonly string[]
  readonly outcome: string | null
  readonly closed_by: string | null
  readonly closed_at: string | null
  readonly seal_no: number
  readonly merged_into: string | null
  readonly merged_by: string | null
  readonly merged_at: string | null
  readonly queue_key: string | null
  readonly assignee: string | null
  readonly restriction_id: string
  readonly is_in_force: boolean
  /** Of the case that goes on with a merged one. */
  readonly also_restriction_id: string | null
  readonly is_also_in_force: boolean
  /** Evidence that is attached was not given by a live provider. */
  readonly is_test: boolean
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly updated_by: string
  readonly revision: number
}

/** The case that it was merged into may be hidden: the join sees what the caller may see. */
const columns = `i.investigation_id, i.reference, i.subject_id, s.name as subject_name, s.subject_type, i.playbook_key, i.playbook_origin,
  i.playbook_version, i.playbook_hash, i.title, i.priority, i.origin, i.origin_reference, i.state, i.gathering, i.gathering_job_id,
  i.gathering_problem, i.waiting_for, i.waiting_since, i.waiting_until, i.proposed_outcome, i.proposed_by, i.proposed_at, i.proposal_hash,
  i.proposed_without, i.outcome, i.closed_by, i.closed_at, i.seal_no, m.investigation_id as merged_into, i.merged_by, i.merged_at, w.queue_key, w.assignee,
  i.restriction_id, app.is_in_force(i.restriction_id) as is_in_force, i.also_restriction_id, app.is_in_force(i.also_restriction_id) as is_also_in_force,
  exists (select 1 from app.evidence_item t where t.tenant_id = i.tenant_id and t.owner_id = i.investigation_id and t.owner_kind = 'investigation'
            and t.detached_at is null and t.is_test) as is_test, i.created_at, i.created_by, i.updated_at, i.updated_by, i.revision`

const joins = `join app.subject s on s.tenant_id = i.tenant_id and s.subject_id = i.subject_id
  left join app.investigation m on m.tenant_id = i.tenant_id and m.investigation_id = i.merged_into
  left join app.work_item w on w.tenant_id = i.tenant_id and w.object_kind = 'investigation' and w.object_id = i.investigation_id`

/** By which people read that it is hidden: a merged case by that of the case that goes on with it, which is the narrower one (`merge`). */
export const getRestriction = (row: InvestigationRow): { restriction_id: string; is_in_force: boolean } =>
  row.is_also_in_force && row.also_restriction_id !== null
    ? { restriction_id: row.also_restriction_id, is_in_force: true }
    : { restriction_id: row.restriction_id, is_in_force: row.is_in_force }

export interface InvestigationFilter {
  readonly state?: InvestigationState | undefined
  readonly gathering?: GatheringState | undefined
  readonly priority?: Priority | undefined
  readonly subject_id?: string | undefined
  readonly playbook_key?: string | undefined
  readonly queue_key?: string | undefined
  readonly assignee?: string | undefined
  readonly is_waiting?: boolean | undefined
}

const filters: Readonly<Record<keyof InvestigationFilter, (place: string) => string>> = {
  state: (place) => `i.state = ${place}`,
  gathering: (place) => `i.gathering = ${place}`,
  priority: (place) => `i.priority = ${place}`,
  subject_id: (place) => `i.subject_id = ${place}`,
  playbook_key: (place) => `i.playbook_key = ${place}`,
  queue_key: (place) => `w.queue_key = ${place} and w.state = 'open'`,
  assignee: (place) => `w.assignee = 'user:' || ${place}::text and w.state = 'open'`,
  is_waiting: (place) => `(i.waiting_for is not null) = ${place}::boolean`,
}

/** Newest first. Contains only the conditions that are set, so that every combination gets its own plan. */
export function listInvestigations(tx: Tx, filter: InvestigationFilter, after: PagePosition, count: number) {
  const values: unknown[] = [tx.tenant_id, after?.[0] ?? null, count]
  let where = ''
  for (const [name, condition] of Object.entries(filters)) {
    const value = filter[name as keyof InvestigationFilter]
    if (value !== undefined) where += ` and ${condition(`$${values.push(value)}`)}`
  }
  return tx.query<InvestigationRow>(
    `select ${columns} from app.investigation i ${joins}
      where i.tenant_id = $1 and ($2::uuid is null or i.investigation_id < $2)${where} order by i.investigation_id desc limit $3`,
    values,
  )
}

export const findInvestigation = (tx: Tx, investigation_id: string) =>
  tx.find<InvestigationRow>(
    `select ${columns} from app.investigation i ${joins} where i.tenant_id = $1 and i.investigation_id = $2`,
    [tx.tenant_id, investigation_id],
  )

/** For acts that change the state: waits for whoever adds something to the case. Acts on a step lock only the step. */
export const lockInvestigation = (tx: Tx, investigation_id: string) =>
  tx.find<InvestigationRow>(
    `select ${columns} from app.investigation i ${joins} where i.tenant_id = $1 and i.investigation_id = $2 for update of i`,
    [tx.tenant_id, investigation_id],
  )

export const listTitles = (tx: Tx, ids: readonly string[]) =>
  tx.query<{ id: string; title: string }>(
    `select i.investigation_id as id, i.reference || ' ' || s.name || ': ' || i.title as title
       from app.investigation i join app.subject s on s.tenant_id = i.tenant_id and s.subject_id = i.subject_id
      where i.tenant_id = $1 and i.investigation_id = any ($2::uuid[])`,
    [tx.tenant_id, ids],
  )

export const findRestrictionOfCase = (tx: Tx, investigation_id: string) =>
  tx.find<{ restriction_id: string; state: InvestigationState }>(
    'select restriction_id, state from app.investigation where tenant_id = $1 and investigation_id = $2',
    [tx.tenant_id, investigation_id],
  )

export interface CaseCounts {
  readonly evidence: number
  readonly alerts: number
  readonly notes: number
  readonly tasks_open: number
  readonly tasks: number
  readonly information_requests_open: number
  readonly information_requests: number
  readonly subjects: number
  readonly narrative_version: number
  readonly people_with_access: number
}

export const countCase = async (tx: Tx, investigation_id: string, restriction_id: string): Promise<CaseCounts> =>
  (await tx.find<CaseCounts>(
    `select (select count(*) from app.evidence_item e where e.tenant_id = $1 and e.owner_id = $2 and e.owner_kind = 'investigation' and e.detached_at is null) as evidence,
            (select count(*) from app.investigation_alert l join app.alert a on a.tenant_id = l.tenant_id and a.alert_id = l.alert_id
              where l.tenant_id = $1 and l.investigation_id = $2) as alerts,
            (select count(*) from app.investigation_note where tenant_id = $1 and investigation_id = $2) as notes,
            (select count(*) from app.investigation_task where tenant_id = $1 and investigation_id = $2 and state = 'open') as tasks_open,
            (select count(*) from app.investigation_task where tenant_id = $1 and investigation_id = $2) as tasks,
            (select count(*) from app.investigation_request where tenant_id = $1 and investigation_id = $2 and state = 'open') as information_requests_open,
            (select count(*) from app.investigation_request where tenant_id = $1 and investigation_id = $2) as information_requests,
            (select count(*) from app.investigation_subject where tenant_id = $1 and investigation_id = $2) as subjects,
            (select coalesce(max(version), 0) from app.investigation_narrative where tenant_id = $1 and investigation_id = $2) as narrative_version,
            (select count(*) from app.restriction_access where tenant_id = $1 and restriction_id = $3 and effect = 'grant'
                and (until is null or until > now())) as people_with_access`,
    [tx.tenant_id, investigation_id, restriction_id],
  )) as CaseCounts

export interface CaseAlertRow {
  readonly alert_id: string
  readonly title: string
  readonly priority: Priority
  readonly state: string
  readonly linked_at: string
}

/** Those that the caller may see, newest link first. */
export const listCaseAlerts = (tx: Tx, investigation_id: string) =>
  tx.query<CaseAlertRow>(
    `select l.alert_id, a.title, a.priority, a.state, l.linked_at from app.investigation_alert l
       join app.alert a on a.tenant_id = l.tenant_id and a.alert_id = l.alert_id
      where l.tenant_id = $1 and l.investigation_id = $2 order by l.linked_at desc, l.alert_id`,
    [tx.tenant_id, investigation_id],
  )

export const insertCaseAlert = (tx: Tx, investigation_id: string, alert_id: string) =>
  tx.run(
    `insert into app.investigation_alert (tenant_id, investigation_id, alert_id, linked_by) values ($1, $2, $3, $4) on conflict do nothing`,
    [tx.tenant_id, investigation_id, alert_id, tx.actor],
  )

export interface CaseSubjectRow {
  readonly subject_id: string
  readonly name: string
  readonly subject_type: string
  readonly part: string
  readonly added_at: string
  readonly added_by: string
}

/** The first is the one that it was opened for. */
export const listCaseSubjects = (tx: Tx, investigation_id: string) =>
  tx.query<CaseSubjectRow>(
    `select p.subject_id, s.name, s.subject_type, p.part, p.added_at, p.added_by from app.investigation_subject p
       join app.subject s on s.tenant_id = p.tenant_id and s.subject_id = p.subject_id
      where p.tenant_id = $1 and p.investigation_id = $2 order by p.part = 'primary' desc, p.added_at, p.subject_id`,
    [tx.tenant_id, investigation_id],
  )

/** The subject of the isolation canary. */
export const findSubjectNamed = (tx: Tx, external_id: string) =>
  tx.find<{ subject_id: string }>('select subject_id from app.subject where tenant_id = $1 and external_id = $2', [
    tx.tenant_id,
    external_id,
  ])

/** An alert that the caller may see. */
export const findAlertRestriction = (tx: Tx, alert_id: string) =>
  tx.find<{ restriction_id: string; is_in_force: boolean }>(
    'select restriction_id, app.is_in_force(restriction_id) as is_in_force from app.alert where tenant_id = $1 and alert_id = $2',
    [tx.tenant_id, alert_id],
  )

export interface StepRow {
  readonly step_key: string
  readonly position: number
  readonly kind: string
  readonly origin: 'playbook' | 'person'
  readonly is_required: boolean
  readonly needs: readonly string[]
  readonly definition: Readonly<Record<string, unknown>>
  readonly state: StepState
  readonly attempt: number
  readonly job_id: string | null
  readonly call_id: string | null
  readonly task_id: string | null
  readonly result_kind: string | null
  readonly result_id: string | null
  readonly evidence_id: string | null
  /** No live provider gave the answer. */
  readonly is_test: boolean
  readonly contract_result: Readonly<Record<string, unknown>> | null
  readonly cost_amount: string | null
  readonly cost_currency: string | null
  readonly reused_from: string | null
  readonly not_before: string | null
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly problem: { readonly code: string; readonly detail?: string } | null
  readonly waived_by: string | null
  readonly waived_at: string | null
  readonly waive_reason: string | null
  /** Of an answer that a person entered in place of the provider. */
  readonly entered: evidenceStore.AnswerAuthor | null
  readonly revision: number
  readonly updated_at: string
}

export const stepColumns = `t.step_key, t.position, t.kind, t.origin, t.is_required, t.needs, t.definition, t.state, t.attempt, t.job_id, t.call_id,
  t.task_id, t.result_kind, t.result_id, t.evidence_id, t.is_test, t.contract_result, t.cost_amount::text as cost_amount, t.cost_currency, t.reused_from,
  t.not_before, t.started_at, t.ended_at, t.problem, t.waived_by, t.waived_at, t.waive_reason,
  case when t.kind = 'provider' then ${evidenceStore.selectEntered('t.tenant_id', 't.call_id')} end as entered, t.revision, t.updated_at`

/** In the order of the playbook; those that people added come last. */
export const listSteps = (tx: Tx, investigation_id: string) =>
  tx.query<StepRow>(
    `select ${stepColumns} from app.investigation_step t where t.tenant_id = $1 and t.investigation_id = $2 order by t.position`,
    [tx.tenant_id, investigation_id],
  )

export interface TimelineRow {
  readonly event_id: string
  readonly kind: string
  readonly category: EventCategory
  readonly data: Readonly<Record<string, unknown>>
  readonly recorded_at: string
  readonly recorded_by: string
  /** What was written with it, encrypted. */
  readonly note_id: string | null
  readonly note: Buffer | null
  /** Of an answer that a person entered: it is kept with the answer. */
  readonly reason: string | null
}

const namesShownEvidence = `exists (select 1 from app.evidence_item v
    where v.tenant_id = e.tenant_id and v.evidence_id = (e.data ->> 'evidence_id')::uuid)`
/** What an event names may have been restricted later: those who may not see it do not see the event. */
const isShown = `case
    when e.kind = 'alert_linked' then exists (
      select 1 from app.alert a where a.tenant_id = e.tenant_id and a.alert_id = (e.data ->> 'alert_id')::uuid)
    when e.kind = 'joined' and e.data ->> 'origin_reference' ~ '^alert:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then exists (
      select 1 from app.alert a where a.tenant_id = e.tenant_id and a.alert_id = substr(e.data ->> 'origin_reference', 7)::uuid)
    when e.kind in ('other_case_requested', 'merged_from') then exists (
      select 1 from app.investigation o where o.tenant_id = e.tenant_id and o.investigation_id = (e.data ->> 'investigation_id')::uuid)
    when e.kind in ('evidence_attached', 'evidence_detached') then ${namesShownEvidence} else true end`
const shownData = `case when e.kind = 'merged' and not exists (
    select 1 from app.investigation o where o.tenant_id = e.tenant_id and o.investigation_id = (e.data ->> 'merged_into')::uuid)
  then e.data - 'merged_into'
  when e.kind = 'information_ended' and not ${namesShownEvidence} then e.data || '{"evidence_id": null}' else e.data end as data`

/** Newest first. */
export const listTimeline = (
  tx: Tx,
  { investigation_id, category }: { readonly investigation_id: string; readonly category: EventCategory | null },
  after: PagePosition,
  count: number,
) =>
  tx.query<TimelineRow>(
    `select e.event_id, e.kind, e.category, ${shownData}, e.recorded_at, e.recorded_by, n.note_id, n.content as note,
            case when e.kind = 'answer_entered' then (
              select a.reason from app.provider_answer a
               where a.tenant_id = e.tenant_id and a.call_id = (e.data ->> 'call_id')::uuid and a.is_result) end as reason
       from app.investigation_event e
       left join app.investigation_note n on n.tenant_id = e.tenant_id and n.investigation_id = e.investigation_id
         and (n.revision = e.revision or (e.kind = 'noted' and n.note_id = (e.data ->> 'note_id')::uuid))
      where e.tenant_id = $1 and e.investigation_id = $2 and ($3::text is null or e.category = $3) and ${isShown}
        and ($4::timestamptz is null or (e.recorded_at, e.event_id) < ($4, $5::uuid))
      order by e.recorded_at desc, e.event_id desc limit $6`,
    [tx.tenant_id, investigation_id, category, after?.[0] ?? null, after?.[1] ?? null, count],
  )

/** For what no row of the database shows by itself. */
export const insertEvent = (
  tx: Tx,
  event: {
    readonly event_id: string
    readonly investigation_id: string
    readonly kind: string
    readonly category: EventCategory
    readonly revision: number | null
    readonly data: Readonly<Record<string, unknown>>
  },
) =>
  tx.run(
    `insert into app.investigation_event (tenant_id, event_id, investigation_id, kind, category, revision, data, recorded_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      tx.tenant_id,
      event.event_id,
      event.investigation_id,
      event.kind,
      event.category,
      event.revision,
      JSON.stringify(event.data),
      tx.actor,
    ],
  )

export const insertNote = (
  tx: Tx,
  note: { note_id: string; investigation_id: string; revision: number | null; content: Buffer },
) =>
  tx.run(
    `insert into app.investigation_note (tenant_id, note_id, investigation_id, revision, content, created_by) values ($1, $2, $3, $4, $5, $6)`,
    [tx.tenant_id, note.note_id, note.investigation_id, note.revision, note.content, tx.actor],
  )

/** Active people who may close a case, as far as they are known here: with an external sign-in roles come from tokens. */
export const countOfficers = async (tx: Tx): Promise<number> =>
  (
    await tx.find<{ n: number }>(
      `select count(*) as n from app.user_account where tenant_id = $1 and state <> 'inactive' and 'compliance_officer' = any (roles)`,
      [tx.tenant_id],
    )
  )?.n ?? 0

const subjectOfCase = `(select i.subject_id from app.investigation i where i.tenant_id = r.tenant_id and i.investigation_id = r.investigation_id)`
const ofCase = {
  id: 'r.investigation_id',
  owner: subjectOfCase,
  held_by: ['r.investigation_id'],
  restriction: 'r.restriction_id',
}

/** Notes and narratives are copies, which become unreadable with the key of the subject; evidence belongs to the class of documents. */
export const caseTexts = createErasureClass(
  'investigations',
  'Titles, tasks, requests and problems of investigations',
  [
    {
      ...ofCase,
      table: 'investigation_task',
      text: `concat_ws(E'\\n', r.title, r.detail, r.checklist::text, r.result)`,
      set: `title = 'erased', detail = null, checklist = '[]', result = null`,
    },
    {
      ...ofCase,
      table: 'investigation_request',
      text: `concat_ws(E'\\n', r.addressee, r.question, r.answer)`,
      set: `addressee = 'erased', question = 'erased', answer = case when r.answer is not null then 'erased' end`,
    },
    {
      ...ofCase,
      table: 'investigation_step',
      text: `concat_ws(E'\\n', r.definition::text, r.problem::text, r.waive_reason, r.contract_result::text)`,
      set: `definition = case when r.origin = 'person' then '{}' else r.definition end,
          problem = case when r.problem is not null then jsonb_build_object('code', r.problem ->> 'code') end,
          waive_reason = case when r.waive_reason is not null then 'erased' end, contract_result = null`,
    },
    {
      ...ofCase,
      table: 'investigation',
      owner: 'r.subject_id',
      text: `concat_ws(E'\\n', r.title, r.origin_reference, r.gathering_problem::text)`,
      // Otherwise nobody could end it.
      open: `r.state in ('open', 'proposed')`,
      set: `title = 'erased', origin_reference = null, gathering_problem = null`,
    },
  ],
)
