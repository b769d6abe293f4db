/** SQL of alerts as people read them: lists, one alert, its history and occurrences. */
import { shownActor } from '#kernel/database/actor-column.ts'
import { restrictionInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { IdRange } from '#kernel/search/source.ts'
import type { AlertState, Explanation, FactChange, Facts, Priority } from './model.ts'

export interface AlertRow {
  readonly alert_id: string
  readonly source: string
  readonly rule_code: string | null
  readonly subject_id: string | null
  readonly subject_name: string | null
  readonly title: string
  readonly dedup_key: string
  readonly facts: Facts
  readonly fingerprint: string
  readonly changes: readonly FactChange[] | null
  readonly previous_alert_id: string | null
  readonly explanation: Explanation
  readonly priority: Priority
  readonly priority_rank: number
  /** The highest that it ever had: lowering it takes nothing away from what a dismissal needs. */
  readonly highest_priority: Priority
  readonly state: AlertState
  readonly queue_key: string | null
  readonly assignee: string | null
  /** Whom the history names; the work may have returned to its queue since. */
  readonly worked_by: string | null
  /** Of the clock that ends first; null where none runs. */
  readonly clock_kind: 'service' | 'statutory' | null
  readonly clock_state: 'running' | 'paused' | 'missed' | null
  readonly clock_started_at: string | null
  readonly clock_due_at: string | null
  readonly occurrences: number
  readonly first_seen_at: string
  readonly last_seen_at: string
  readonly snoozed_until: string | null
  readonly second_person: boolean
  readonly reason_code: string | null
  readonly proposed_by: string | null
  readonly proposed_at: string | null
  readonly dismissed_by: string | null
  readonly dismissed_at: string | null
  readonly escalated_by: string | null
  /** As answers name them. */
  readonly escalated_shown_by: string | null
  readonly escalated_at: string | null
  readonly investigation_id: string | null
  readonly restriction_id: string
  readonly is_in_force: boolean
  readonly is_erased: boolean
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly revision: number
}

/** Whoever has the work now; once it is done, whoever had it. */
const STATE = `case when a.state = 'new' and w.assignee is not null then 'claimed' else a.state end`

/** Of the alert `a`. The row may be newer than the history that the statement sees, where it waited for the lock. */
export const HIGHEST_PRIORITY = `(array['low', 'medium', 'high', 'critical'])[greatest(a.priority_rank, (
    select max(array_position(array['low', 'medium', 'high', 'critical'], c ->> 'before'))
      from app.alert_history h cross join lateral jsonb_array_elements(h.changes) c
     where h.tenant_id = a.tenant_id and h.alert_id = a.alert_id and c ->> 'member' = 'priority'))]`

/** No alert begins with it, so it tells which ones an erasure overwrote. */
const ERASED_SALT = `repeat('0', 32)`

/** The case that it was linked to last, if the caller may see it. */
const INVESTIGATION = `(select l.investigation_id from app.investigation_alert l
    join app.investigation i on i.tenant_id = l.tenant_id and i.investigation_id = l.investigation_id and i.state <> 'merged'
   where l.tenant_id = a.tenant_id and l.alert_id = a.alert_id order by l.linked_at desc, l.investigation_id limit 1)`

/**
 * The alert before it may have been restricted since: then neither its id nor what changed since is shown. The join sees what the
 * caller may see.
 */
const columns = `a.alert_id, a.source, a.rule_code, a.subject_id, s.name as subject_name, a.title, a.dedup_key, a.facts, a.fingerprint,
  case when a.changes_since = 'previous_report' or p.alert_id is not null then a.changes end as changes,
  p.alert_id as previous_alert_id, a.explanation, a.priority, a.priority_rank, ${HIGHEST_PRIORITY} as highest_priority, ${STATE} as state, w.queue_key, w.assignee,
  a.worked_by, c.kind as clock_kind, c.state as clock_state, c.started_at as clock_started_at, c.due_at as clock_due_at, a.occurrences,
  a.first_seen_at, a.last_seen_at, a.snoozed_until, a.second_person, a.reason_code, a.proposed_by, a.proposed_at, a.dismissed_by,
  a.dismissed_at, a.escalated_by, ${shownActor('a', 'escalated_by')} as escalated_shown_by, a.escalated_at,
  ${INVESTIGATION} as investigation_id, a.restriction_id, app.is_in_force(a.restriction_id) as is_in_force,
  a.facts_salt = ${ERASED_SALT} as is_erased, a.created_at, ${shownActor('a', 'created_by')} as created_by, a.updated_at, a.revision`

const joins = `left join app.subject s on s.tenant_id = a.tenant_id and s.subject_id = a.subject_id
  left join app.alert p on p.tenant_id = a.tenant_id and p.alert_id = a.previous_alert_id
  left join app.work_item w on w.tenant_id = a.tenant_id and w.object_kind = 'alert' and w.object_id = a.alert_id
  left join lateral (
    select k.kind, k.state, k.started_at, k.due_at from app.work_clock k
     where k.tenant_id = a.tenant_id and k.object_kind = 'alert' and k.object_id = a.alert_id and k.ended_at is null
     order by k.due_at limit 1) c on true`

export interface AlertFilter {
  readonly state?: AlertState | 'open' | undefined
  readonly priority?: Priority | undefined
  readonly source?: string | undefined
  readonly subject_id?: string | undefined
  readonly queue_key?: string | undefined
  readonly assignee?: string | undefined
  /** `waiting_for_me`: proposed by somebody else. */
  readonly dismissal?: 'proposed' | 'waiting_for_me' | undefined
}

const OPEN = `a.state in ('new', 'snoozed')`

const matches = `($2::text is null or ${STATE} = $2 or ($2 = 'open' and ${OPEN})) and ($3::text is null or a.priority = $3)
  and ($4::text is null or a.source = $4) and ($5::uuid is null or a.subject_id = $5) and ($6::text is null or w.queue_key = $6)
  and ($7::text is null or w.assignee = $7)
  and ($8::text is null or (${OPEN} and a.proposed_by is not null and ($8 = 'proposed' or a.proposed_by <> $9::text)))`

const toValues = (tx: Tx, { state, priority, source, subject_id, queue_key, assignee, dismissal }: AlertFilter) => [
  state ?? null,
  priority ?? null,
  source ?? null,
  subject_id ?? null,
  queue_key ?? null,
  assignee === undefined ? null : `user:${assignee}`,
  dismissal ?? null,
  tx.actor,
]

/** Newest first: ids are in order of time. */
export const listAlerts = (tx: Tx, filter: AlertFilter, after: PagePosition, count: number) =>
  tx.query<AlertRow>(
    `select ${columns} from app.alert a ${joins}
      where a.tenant_id = $1 and ${matches} and ($10::uuid is null or a.alert_id < $10) order by a.alert_id desc limit $11`,
    [tx.tenant_id, ...toValues(tx, filter), after?.[0] ?? null, count],
  )

/** Open alerts, highest priority first. */
export const listUrgentAlerts = (tx: Tx, filter: AlertFilter, after: PagePosition, count: number) =>
  tx.query<AlertRow>(
    `select ${columns} from app.alert a ${joins}
      where a.tenant_id = $1 and ${OPEN} and ${matches}
        and ($10::int is null or (a.priority_rank, a.alert_id) < ($10, $11::uuid))
      order by a.priority_rank desc, a.alert_id desc limit $12`,
    [tx.tenant_id, ...toValues(tx, filter), after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const findAlert = (tx: Tx, alert_id: string) =>
  tx.find<AlertRow>(`select ${columns} from app.alert a ${joins} where a.tenant_id = $1 and a.alert_id = $2`, [
    tx.tenant_id,
    alert_id,
  ])

export const lockAlert = (tx: Tx, alert_id: string) =>
  tx.find<AlertRow>(
    `select ${columns} from app.alert a ${joins} where a.tenant_id = $1 and a.alert_id = $2 for update of a`,
    [tx.tenant_id, alert_id],
  )

/** Titles and the ends of ids have no index: titles are personal and change. The newest are compared. */
const SEARCHED_ALERTS = 2000

type FoundAlert = Pick<AlertRow, 'alert_id' | 'title' | 'priority' | 'state' | 'subject_name'> & {
  readonly matched: 'id' | 'key' | 'words'
  readonly restriction_id: string | null
}

/** For search: ids that begin with what was typed or end with the number, the exact key of reports, and every one of the words in the title. */
export const listFoundAlerts = (
  tx: Tx,
  terms: {
    readonly id: IdRange | null
    readonly text: string
    readonly words: readonly string[]
    readonly number: string | null
  },
  count: number,
) =>
  tx.query<FoundAlert>(
    `select a.alert_id, a.title, a.priority, a.state, s.name as subject_name, f.matched, ${restrictionInForce('a')}
       from (select alert_id, 'id' as matched, 1 as place from app.alert where tenant_id = $1 and alert_id between $2::uuid and $3::uuid
             union all
             select n.alert_id, 'id', 1
               from (select alert_id from app.alert
                      where tenant_id = $1 and $7::text is not null order by alert_id desc limit ${SEARCHED_ALERTS}) n
              where right(n.alert_id::text, 8) = $7
             union all
             select alert_id, 'key', 2 from app.alert where tenant_id = $1 and dedup_key = $4
             union all
             select t.alert_id, 'words', 3
               from (select alert_id, title from app.alert
                      where tenant_id = $1 and cardinality($6::text[]) > 0 order by alert_id desc limit ${SEARCHED_ALERTS}) t
              where not exists (select 1 from unnest($6::text[]) as w (word) where strpos(lower(t.title), lower(w.word)) = 0)) f
       join app.alert a on a.tenant_id = $1 and a.alert_id = f.alert_id
       left join app.subject s on s.tenant_id = a.tenant_id and s.subject_id = a.subject_id
      order by f.place, a.alert_id desc limit $5`,
    [tx.tenant_id, terms.id?.from ?? null, terms.id?.to ?? null, terms.text, count, terms.words, terms.number],
  )

/** Whether there are older alerts, whose titles are not compared. */
export const hasMoreTitles = async (tx: Tx): Promise<boolean> =>
  (await tx.find(
    `select 1 as found from app.alert where tenant_id = $1 order by alert_id desc offset ${SEARCHED_ALERTS} limit 1`,
    [tx.tenant_id],
  )) !== undefined

export const findSubjectId = (tx: Tx, subject_id: string) =>
  tx.find<{ subject_id: string }>('select subject_id from app.subject where tenant_id = $1 and subject_id = $2', [
    tx.tenant_id,
    subject_id,
  ])

/** A restriction that the caller may see. */
export const findRestrictionId = (tx: Tx, restriction_id: string) =>
  tx.find<{ restriction_id: string; is_in_force: boolean }>(
    'select restriction_id, is_in_force from app.restriction where tenant_id = $1 and restriction_id = $2',
    [tx.tenant_id, restriction_id],
  )

export interface HistoryRow {
  readonly entry: string
  readonly event: string
  readonly state: AlertState | null
  readonly changes: readonly {
    readonly member: string
    readonly before: string | null
    readonly after: string | null
  }[]
  readonly note: string | null
  readonly recorded_at: string
  readonly recorded_by: string
}

/** Changes with what was written about them, and comments; newest first. Changes of one transaction go by their number. */
export const listHistory = (tx: Tx, alert_id: string, after: PagePosition, count: number) =>
  tx.query<HistoryRow>(
    `select entry, event, state, changes, note, recorded_at, recorded_by from (
       select lpad(h.revision::text, 12, '0') as entry, h.event, h.state, h.changes, c.text as note, h.recorded_at,
              ${shownActor('h', 'recorded_by')} as recorded_by
         from app.alert_history h
         left join app.alert_comment c on c.tenant_id = h.tenant_id and c.alert_id = h.alert_id and c.revision = h.revision
        where h.tenant_id = $1 and h.alert_id = $2
       union all
       select c.comment_id::text, 'commented', null, '[]'::jsonb, c.text, c.created_at, ${shownActor('c', 'created_by')}
         from app.alert_comment c where c.tenant_id = $1 and c.alert_id = $2 and c.revision is null) e
      where $3::timestamptz is null or (recorded_at, entry) < ($3, $4::text)
      order by recorded_at desc, entry desc limit $5`,
    [tx.tenant_id, alert_id, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export interface OccurrenceRow {
  readonly occurrence_id: string
  readonly outcome: 'opened' | 'joined' | 'counted'
  readonly fingerprint: string
  readonly reference: string | null
  /** Null: reported before it was stored. */
  readonly priority: Priority | null
  readonly seen_at: string
  readonly reported_by: string
}

/** Newest first. */
export const listOccurrences = (tx: Tx, alert_id: string, after: PagePosition, count: number) =>
  tx.query<OccurrenceRow>(
    `select occurrence_id, outcome, fingerprint, reference, priority, seen_at, ${shownActor('o', 'reported_by')} as reported_by
       from app.alert_occurrence o
      where tenant_id = $1 and alert_id = $2 and ($3::uuid is null or occurrence_id < $3) order by occurrence_id desc limit $4`,
    [tx.tenant_id, alert_id, after?.[0] ?? null, count],
  )

export const insertComment = (
  tx: Tx,
  comment: { comment_id: string; alert_id: string; revision: number | null; text: string },
) =>
  tx.find<{ comment_id: string; alert_id: string; text: string; created_at: string; created_by: string }>(
    `insert into app.alert_comment (tenant_id, comment_id, alert_id, revision, text, created_by) values ($1, $2, $3, $4, $5, $6)
     returning comment_id, alert_id, text, created_at, created_by`,
    [tx.tenant_id, comment.comment_id, comment.alert_id, comment.revision, comment.text, tx.actor],
  )

/** As the worker, over all tenants. */
export const countOpenAlerts = (tx: Tx) =>
  tx.query<{ priority: Priority; open: number; oldest_s: number }>(
    `select priority, count(*) as open, extract(epoch from now() - min(first_seen_at))::float8 as oldest_s
       from app.alert a join app.tenant t on t.tenant_id = a.tenant_id and t.state = 'active'
      where a.state in ('new', 'snoozed') group by priority`,
  )

export const listAlertTitles = (tx: Tx, alert_ids: readonly string[]) =>
  tx.query<{ id: string; title: string }>(
    'select alert_id as id, title from app.alert where tenant_id = $1 and alert_id = any ($2::uuid[])',
    [tx.tenant_id, alert_ids],
  )

const subjectOfAlert = `(select a.subject_id from app.alert a where a.tenant_id = r.tenant_id and a.alert_id = r.alert_id)`
/** Texts of the alert `a`. */
const alertTexts = `concat_ws(E'\\n', a.title, a.dedup_key, app.json_texts(a.facts), app.json_texts(a.changes), app.json_texts(a.explanation))`
const textsOfAlert = `(select ${alertTexts} from app.alert a where a.tenant_id = r.tenant_id and a.alert_id = r.alert_id)`
/** As an explanation is answered. */
const ERASED_EXPLANATION = '{"fields": [], "references": [], "sentence": "erased"}'

/** What belongs to an alert comes first: of an alert without subject it is found by the texts of the alert. */
export const alertErasure = createErasureClass(
  'alerts',
  'Facts, explanations and comments of alerts, and suppressions',
  [
    {
      table: 'alert_comment',
      id: 'r.alert_id',
      owner: subjectOfAlert,
      text: `concat_ws(E'\\n', r.text, ${textsOfAlert})`,
      set: `text = 'erased'`,
      held_by: ['r.alert_id'],
      restriction: 'r.restriction_id',
    },
    {
      table: 'alert_occurrence',
      id: 'r.alert_id',
      owner: subjectOfAlert,
      text: `concat_ws(E'\\n', r.reference, ${textsOfAlert})`,
      where: 'r.reference is not null',
      set: 'reference = null',
      held_by: ['r.alert_id'],
      restriction: 'r.restriction_id',
    },
    {
      table: 'alert_suppression',
      id: 'r.suppression_id',
      owner: 'r.subject_id',
      text: `concat_ws(E'\\n', r.dedup_key, r.reason, r.end_reason)`,
      set: `dedup_key = case when r.dedup_key is not null then 'erased ' || r.suppression_id end, reason = 'erased',
          end_reason = case when r.end_reason is not null then 'erased' end`,
    },
    {
      table: 'alert',
      id: 'r.alert_id',
      owner: 'r.subject_id',
      text: alertTexts.replaceAll('a.', 'r.'),
      set: `title = 'erased', dedup_key = 'erased ' || r.alert_id, facts = '{}', facts_salt = ${ERASED_SALT}, changes = null,
          changes_since = null, explanation = '${ERASED_EXPLANATION}'`,
      held_by: ['r.alert_id'],
      restriction: 'r.restriction_id',
    },
  ],
)
