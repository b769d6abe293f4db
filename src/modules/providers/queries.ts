/** SQL of the call ledger: calls, attempts and answers. */
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'

export type Promised = 'free' | 'keyed' | 'once'
export type CallMode = 'live' | 'recorded' | 'fixtures'

export interface CallRow {
  readonly call_id: string
  readonly call_key: string
  readonly provider_key: string
  readonly provider_origin: 'own' | 'shared'
  readonly provider_version: number
  readonly capability: string
  readonly contract_key: string | null
  readonly promise: Promised
  readonly mode: CallMode
  readonly environment: 'live' | 'test'
  readonly subject_id: string | null
  readonly restriction_id: string | null
  readonly input: Buffer
  readonly request: Buffer | null
  readonly input_hash: string
  readonly idempotency_key: string
  readonly job_id: string | null
  readonly repeats_call_id: string | null
  readonly created_at: string
  readonly created_by: string
  /** No job will continue it: it was made for a test that ended, or its job was cancelled. */
  readonly is_abandoned: boolean
  /** Its restriction is in force. */
  readonly is_restricted: boolean
}
const callColumns = `call_id, call_key, provider_key, provider_origin, provider_version, capability, contract_key, promise, mode,
  environment, subject_id, restriction_id, input, request, input_hash, idempotency_key, job_id, repeats_call_id, created_at, created_by`

/** Names a table before each column: `a, b` → `t.a, t.b`. */
const qualify = (table: string, columns: string): string => columns.replaceAll(/\w+/g, `${table}.$&`)

/** A test takes less than a minute to its first attempt. */
const abandoned = `c.created_at < clock_timestamp() - interval '1 minute' and not exists (select 1 from app.job j
  where j.tenant_id = c.tenant_id and j.job_id = c.job_id and j.state <> 'cancelled') as is_abandoned`
const restricted = 'c.restriction_id is not null and app.is_in_force(c.restriction_id) as is_restricted'
const storedCallColumns = `${qualify('c', callColumns)}, ${abandoned}, ${restricted}`

/** Returns no row when a call with this key exists. */
export const insertCall = (
  tx: Tx,
  call: Omit<CallRow, 'created_at' | 'created_by' | 'is_abandoned' | 'is_restricted'>,
) =>
  tx.find<CallRow>(
    `insert into app.provider_call as c (tenant_id, call_id, call_key, provider_key, provider_origin, provider_version, capability,
       contract_key, promise, mode, environment, subject_id, restriction_id, input, request, input_hash, idempotency_key, job_id,
       repeats_call_id, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
     on conflict on constraint provider_call_key_key do nothing returning ${callColumns}, false as is_abandoned, ${restricted}`,
    [
      tx.tenant_id,
      call.call_id,
      call.call_key,
      call.provider_key,
      call.provider_origin,
      call.provider_version,
      call.capability,
      call.contract_key,
      call.promise,
      call.mode,
      call.environment,
      call.subject_id,
      call.restriction_id,
      call.input,
      call.request,
      call.input_hash,
      call.idempotency_key,
      call.job_id,
      call.repeats_call_id,
      tx.actor,
    ],
  )

const findCallSql = `select ${storedCallColumns} from app.provider_call c where c.tenant_id = $1 and c.call_id = $2`

export const findCall = (tx: Tx, call_id: string) => tx.find<CallRow>(findCallSql, [tx.tenant_id, call_id])

export const findCallByKey = (tx: Tx, call_key: string) =>
  tx.find<CallRow>(`select ${storedCallColumns} from app.provider_call c where c.tenant_id = $1 and c.call_key = $2`, [
    tx.tenant_id,
    call_key,
  ])

/** Until the transaction ends, no other transaction can send, settle or retry the call. */
export const lockCall = (tx: Tx, call_id: string) =>
  tx.query('select app.lock_provider_call($1, $2)', [tx.tenant_id, call_id])

// Attempts ------------------------------------------------------------------------------------------------------------

export type AttemptOutcome = 'answered' | 'failed' | 'refused' | 'not_sent' | 'unknown'

export interface AttemptRow {
  readonly call_id: string
  readonly attempt_no: number
  /** Counted from 1; always 1 where the answer is not in pages. */
  readonly page_no: number
  readonly token: string
  readonly intended_at: string
  readonly sent_at: string | null
  readonly deadline_at: string | null
  readonly credential_id: string | null
  readonly credential_version: number | null
  readonly cost_minor: number | null
  readonly currency: string | null
  readonly outcome: AttemptOutcome | null
  readonly fault: string | null
  readonly http_status: number | null
  readonly duration_ms: number | null
  readonly is_final: boolean
  readonly ended_at: string | null
  /** Sent, without an outcome, and past its deadline. */
  readonly is_overdue: boolean
}
const attemptColumns = `call_id, attempt_no, page_no, token, intended_at, sent_at, deadline_at, credential_id, credential_version, cost_minor,
  currency, outcome, fault, http_status, duration_ms, is_final, ended_at,
  sent_at is not null and outcome is null and deadline_at < clock_timestamp() as is_overdue`

const listAttemptsSql = `select ${attemptColumns} from app.provider_attempt
   where tenant_id = $1 and call_id = any ($2::uuid[]) order by call_id, attempt_no`

export const listAttempts = (tx: Tx, call_ids: readonly string[]) =>
  tx.query<AttemptRow>(listAttemptsSql, [tx.tenant_id, call_ids])

/** Returns no row when another worker has made this attempt. */
export const insertAttempt = (
  tx: Tx,
  attempt: Pick<CallRow, 'call_id' | 'promise' | 'provider_key'> & Pick<AttemptRow, 'attempt_no' | 'page_no' | 'token'>,
) =>
  tx.find<AttemptRow>(
    `insert into app.provider_attempt (tenant_id, call_id, attempt_no, token, promise, provider_key, page_no)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict on constraint provider_attempt_pkey do nothing returning ${attemptColumns}`,
    [
      tx.tenant_id,
      attempt.call_id,
      attempt.attempt_no,
      attempt.token,
      attempt.promise,
      attempt.provider_key,
      attempt.page_no,
    ],
  )

export interface SentAttempt extends Pick<AttemptRow, 'call_id' | 'attempt_no' | 'token'> {
  readonly deadline_ms: number
  readonly credential_id: string | null
  readonly credential_version: number | null
  readonly cost_minor: number | null
  readonly currency: string | null
}

/** Returns 0 when another worker has sent or ended this attempt. */
export const updateAttemptSent = (tx: Tx, sent: SentAttempt) =>
  tx.run(
    `update app.provider_attempt set sent_at = clock_timestamp(), deadline_at = to_timestamp($5::float8 / 1000), credential_id = $6,
            credential_version = $7, cost_minor = $8, currency = $9
      where tenant_id = $1 and call_id = $2 and attempt_no = $3 and token = $4 and sent_at is null and outcome is null`,
    [
      tx.tenant_id,
      sent.call_id,
      sent.attempt_no,
      sent.token,
      sent.deadline_ms,
      sent.credential_id,
      sent.credential_version,
      sent.cost_minor,
      sent.currency,
    ],
  )

export interface AttemptEnd extends Pick<AttemptRow, 'call_id' | 'attempt_no' | 'token'> {
  readonly outcome: AttemptOutcome
  readonly fault: string | null
  readonly http_status: number | null
  readonly duration_ms: number | null
  readonly is_final: boolean
}

/** By token, not by lease. A late answer replaces `unknown`; any other outcome stays, and no row is returned. */
export const updateAttemptEnded = (tx: Tx, end: AttemptEnd) =>
  tx.find<Pick<AttemptRow, 'sent_at'>>(
    `update app.provider_attempt set outcome = $5, fault = $6, http_status = $7, duration_ms = $8, is_final = $9,
            ended_at = clock_timestamp()
      where tenant_id = $1 and call_id = $2 and attempt_no = $3 and token = $4
        and (outcome is null or (outcome = 'unknown' and $5 = 'answered')) returning sent_at`,
    [
      tx.tenant_id,
      end.call_id,
      end.attempt_no,
      end.token,
      end.outcome,
      end.fault,
      end.http_status,
      end.duration_ms,
      end.is_final,
    ],
  )

export const countInFlight = async (tx: Tx, provider_key: string): Promise<number> =>
  (
    await tx.find<{ count: number }>(
      `select count(*) as count from app.provider_attempt
        where tenant_id = $1 and provider_key = $2 and sent_at is not null and outcome is null and deadline_at > clock_timestamp()`,
      [tx.tenant_id, provider_key],
    )
  )?.count ?? 0

// Answers -------------------------------------------------------------------------------------------------------------

export interface AnswerRow {
  readonly call_id: string
  readonly attempt_no: number
  readonly source: 'provider' | 'builtin' | 'recorded' | 'fixture' | 'person'
  readonly result: 'found' | 'not_found'
  readonly http_status: number | null
  readonly payload_id: string
  readonly is_result: boolean
  readonly answered_at: string
  readonly answered_by: string
  readonly reason: string | null
  /** The plugin or tool that made the payload. */
  readonly made_by: Readonly<Record<string, unknown>> | null
}
const answerColumns =
  'call_id, attempt_no, source, result, http_status, payload_id, is_result, answered_at, answered_by, reason, made_by'

export interface NewAnswer extends Omit<AnswerRow, 'is_result' | 'answered_at' | 'answered_by'> {
  readonly token: string
  readonly headers: Readonly<Record<string, string>>
}

/** The database decides whether it is the result: the first answer of a call is. */
export const insertAnswer = (tx: Tx, answer: NewAnswer) =>
  tx.find<AnswerRow>(
    `insert into app.provider_answer (tenant_id, call_id, attempt_no, token, source, result, http_status, headers, payload_id,
       is_result, answered_by, reason, made_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, false, $10, $11, $12::jsonb)
     on conflict on constraint provider_answer_pkey do nothing returning ${answerColumns}`,
    [
      tx.tenant_id,
      answer.call_id,
      answer.attempt_no,
      answer.token,
      answer.source,
      answer.result,
      answer.http_status,
      JSON.stringify(answer.headers),
      answer.payload_id,
      tx.actor,
      answer.reason,
      answer.made_by === null ? null : JSON.stringify(answer.made_by),
    ],
  )

const listResultsSql = `select ${answerColumns} from app.provider_answer
   where tenant_id = $1 and call_id = any ($2::uuid[]) and is_result`

/** The result of each call that has one. */
export const listResults = (tx: Tx, call_ids: readonly string[]) =>
  tx.query<AnswerRow>(listResultsSql, [tx.tenant_id, call_ids])

/** A call with its attempts and its result, in one round trip. The result is read last: it counts whatever the attempts say. */
export async function findCallWithAttempts(tx: Tx, call_id: string) {
  const [calls, attempts, results] = (await tx.queryAll([
    { text: findCallSql, values: [tx.tenant_id, call_id] },
    { text: listAttemptsSql, values: [tx.tenant_id, [call_id]] },
    { text: listResultsSql, values: [tx.tenant_id, [call_id]] },
  ])) as [CallRow[], AttemptRow[], AnswerRow[]]
  return { call: calls[0], attempts, result: results[0] }
}

export interface PayloadCallRow {
  readonly payload_id: string
  readonly call_id: string
  readonly provider_key: string
  readonly capability: string
  readonly answered_at: string
}

/** The calls whose answers are these payloads. */
export const listCallsOfPayloads = (tx: Tx, payload_ids: readonly string[]) =>
  tx.query<PayloadCallRow>(
    `select a.payload_id, a.call_id, c.provider_key, c.capability, a.answered_at
       from app.provider_answer a join app.provider_call c on c.tenant_id = a.tenant_id and c.call_id = a.call_id
      where a.tenant_id = $1 and a.payload_id = any ($2::uuid[]) order by a.call_id`,
    [tx.tenant_id, payload_ids],
  )

/**
 * The newest answer that the provider gave to the same input in the same environment within so many seconds. An answer about another
 * subject is encrypted under the key of that subject, and is no evidence about this one.
 */
export const findRecordedAnswer = (
  tx: Tx,
  wanted: Pick<CallRow, 'provider_key' | 'capability' | 'input_hash' | 'environment' | 'subject_id'> & {
    readonly max_age_s: number | null
    /** Only of calls that everybody may see: a restricted one shows nowhere else. */
    readonly is_unrestricted?: boolean
  },
) =>
  tx.find<AnswerRow>(
    `select ${qualify('a', answerColumns)} from app.provider_call c
       join app.provider_answer a on a.tenant_id = c.tenant_id and a.call_id = c.call_id and a.is_result
      where c.tenant_id = $1 and c.provider_key = $2 and c.capability = $3 and c.input_hash = $4 and a.source = 'provider'
        and ($5::bigint is null or a.answered_at > now() - $5::bigint * interval '1 s') and c.environment = $6
        and (c.subject_id is null or c.subject_id = $7) and ($8::boolean is false or c.restriction_id is null or not app.is_in_force(c.restriction_id))
      order by c.created_at desc, c.call_id desc limit 1`,
    [
      ...[tx.tenant_id, wanted.provider_key, wanted.capability, wanted.input_hash, wanted.max_age_s],
      ...[wanted.environment, wanted.subject_id, wanted.is_unrestricted ?? false],
    ],
  )

// Listing -------------------------------------------------------------------------------------------------------------

export interface CallFilter {
  readonly provider_key: string | null
  readonly capability: string | null
  readonly subject_id: string | null
  readonly state: string | null
  readonly from: string | null
  readonly to: string | null
}

/** The same states as `getCallState` gives. */
const stateExpression = `case
  when r.payload_id is not null then case when m.admitted = false then 'quarantined' else 'answered' end
  when l.is_final then case l.outcome when 'unknown' then 'outcome_unknown' when 'refused' then 'refused' else 'failed' end
  when l.sent_at is not null and l.outcome is null
    then case when c.is_abandoned and l.deadline_at < clock_timestamp() then 'outcome_unknown' else 'sent' end
  when c.is_abandoned then 'failed' else 'waiting' end`

/** Of a call `c`: its result, the last admission of that, and its last attempt. */
const stateSources = `
  left join app.provider_answer r on r.tenant_id = c.tenant_id and r.call_id = c.call_id and r.is_result
  left join lateral (select p.admitted from app.payload_admission p where p.tenant_id = c.tenant_id and p.payload_id = r.payload_id
                      order by p.admission_id desc limit 1) m on true
  left join lateral (select t.is_final, t.outcome, t.sent_at, t.deadline_at from app.provider_attempt t
                      where t.tenant_id = c.tenant_id and t.call_id = c.call_id order by t.attempt_no desc limit 1) l on true`

/** Newest first. */
export const listCalls = (tx: Tx, filter: CallFilter, after: PagePosition, count: number) =>
  tx.query<CallRow>(
    `select c.* from (select c.tenant_id, ${storedCallColumns} from app.provider_call c) c ${filter.state === null ? '' : stateSources}
      where c.tenant_id = $1 and ($2::text is null or c.provider_key = $2) and ($3::text is null or c.capability = $3)
        and ($4::uuid is null or c.subject_id = $4) and ($5::timestamptz is null or (c.created_at, c.call_id) < ($5, $6::uuid))
        and ($8::timestamptz is null or c.created_at >= $8) and ($9::timestamptz is null or c.created_at < $9)
        and ($10::text is null ${filter.state === null ? '' : `or ${stateExpression} = $10`})
      order by c.created_at desc, c.call_id desc limit $7`,
    [
      tx.tenant_id,
      filter.provider_key,
      filter.capability,
      filter.subject_id,
      after?.[0] ?? null,
      after?.[1] ?? null,
      count,
      filter.from,
      filter.to,
      filter.state,
    ],
  )

export const findRepeat = (tx: Tx, call_id: string) =>
  tx.find<{ call_id: string }>('select call_id from app.provider_call where tenant_id = $1 and repeats_call_id = $2', [
    tx.tenant_id,
    call_id,
  ])

/** Providers in force whose manifest names the plugin. Its settings are one entry of the version. */
export const listPluginProviders = (tx: Tx, plugin_key: string) =>
  tx.query<{ key: string; version: number; title: string }>(
    `select r.list_key as key, r.version, d.title
       from app.resolve_lists('provider', array(select distinct list_key from app.dataset
              where tenant_id in ($1, app.system_tenant()) and family = 'provider' and role = 'base'), statement_timestamp(), null) r
       join app.dataset d on d.tenant_id = r.dataset_tenant_id and d.dataset_id = r.dataset_id
       join app.dataset_entry e on e.tenant_id = r.dataset_tenant_id and e.dataset_id = r.dataset_id
        and e.v_from <= r.version and e.v_to > r.version and e.key like 'settings|%'
      where r.version is not null and e.data::jsonb #>> '{value,plugin_key}' = $2
      order by 1`,
    [tx.tenant_id, plugin_key],
  )

export const answerErasure = createErasureClass('provider-answers', 'Reasons for answers that were entered by hand', [
  {
    table: 'provider_answer',
    id: 'r.call_id',
    owner: '(select c.subject_id from app.provider_call c where c.tenant_id = r.tenant_id and c.call_id = r.call_id)',
    text: 'r.reason',
    where: 'r.reason is not null',
    set: `reason = 'erased'`,
    restriction: 'r.restriction_id',
  },
])
