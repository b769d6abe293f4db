/** SQL of the state of each provider that all processes share: rate, breaker, budget and the last fault. */
import type { Tx } from '#kernel/database/tx.ts'
import type { SendState } from './send-gate.ts'

export interface ProviderStateRow extends SendState {
  readonly now_ms: number
  readonly last_fault: string | null
  readonly last_fault_at: string | null
  readonly last_answer_at: string | null
}

const stateColumns = `rate_tokens, (extract(epoch from rate_at) * 1000)::float8 as rate_at_ms, failures,
  (extract(epoch from failing_since) * 1000)::float8 as failing_since_ms, (extract(epoch from open_until) * 1000)::float8 as open_until_ms,
  probe_token, (extract(epoch from probe_until) * 1000)::float8 as probe_until_ms,
  (extract(epoch from day::timestamp) * 1000)::float8 as day_ms, calls_of_day,
  (extract(epoch from month::timestamp) * 1000)::float8 as month_ms, spend_of_month_minor, last_fault, last_fault_at, last_answer_at,
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`

export const findProviderState = (tx: Tx, provider_key: string) =>
  tx.find<ProviderStateRow>(
    `select ${stateColumns} from app.provider_state where tenant_id = $1 and provider_key = $2`,
    [tx.tenant_id, provider_key],
  )

/** Held until the transaction ends: sends to one provider of a tenant are decided one after another. */
export async function lockProviderState(tx: Tx, provider_key: string): Promise<ProviderStateRow> {
  const values = [tx.tenant_id, provider_key]
  const results = await tx.queryAll([
    {
      text: 'insert into app.provider_state (tenant_id, provider_key) values ($1, $2) on conflict do nothing',
      values,
    },
    {
      text: `select ${stateColumns} from app.provider_state where tenant_id = $1 and provider_key = $2 for update`,
      values,
    },
  ])
  return results[1]?.[0] as ProviderStateRow
}

/** Sent together with COMMIT. */
export const deferProviderState = (
  tx: Tx,
  provider_key: string,
  state: SendState,
  seen: { readonly fault?: string | null; readonly answered?: boolean } = {},
): void =>
  tx.defer(
    `update app.provider_state set rate_tokens = $3, rate_at = to_timestamp($4::float8 / 1000), failures = $5,
            failing_since = to_timestamp($6::float8 / 1000), open_until = to_timestamp($7::float8 / 1000), probe_token = $8,
            probe_until = to_timestamp($9::float8 / 1000), day = (to_timestamp($10::float8 / 1000) at time zone 'UTC')::date,
            calls_of_day = $11, month = (to_timestamp($12::float8 / 1000) at time zone 'UTC')::date, spend_of_month_minor = $13,
            last_fault = coalesce($14, last_fault), last_fault_at = case when $14::text is null then last_fault_at else now() end,
            last_answer_at = case when $15 then now() else last_answer_at end
      where tenant_id = $1 and provider_key = $2`,
    [
      tx.tenant_id,
      provider_key,
      state.rate_tokens,
      state.rate_at_ms,
      state.failures,
      state.failing_since_ms,
      state.open_until_ms,
      state.probe_token,
      state.probe_until_ms,
      state.day_ms,
      state.calls_of_day,
      state.month_ms,
      state.spend_of_month_minor,
      seen.fault ?? null,
      seen.answered ?? false,
    ],
  )

/** Of calls that the caller may see: the shared state of the provider would tell of others. */
export const findLastFault = (tx: Tx, provider_key: string) =>
  tx.find<{ fault: string; ended_at: string }>(
    `select fault, ended_at from app.provider_attempt
      where tenant_id = $1 and provider_key = $2 and sent_at is not null and fault is not null and ended_at is not null
      order by sent_at desc limit 1`,
    [tx.tenant_id, provider_key],
  )

export const findLastAnswerTime = async (tx: Tx, provider_key: string): Promise<string | null> =>
  (
    await tx.find<{ ended_at: string }>(
      `select ended_at from app.provider_attempt
        where tenant_id = $1 and provider_key = $2 and sent_at is not null and outcome = 'answered' and ended_at is not null
        order by sent_at desc limit 1`,
      [tx.tenant_id, provider_key],
    )
  )?.ended_at ?? null

/** The first failure is recorded a moment before the state says since when the provider fails. */
const FAULT_MARGIN_MS = 5000

export const countFaultsSince = async (tx: Tx, provider_key: string, since_ms: number): Promise<number> =>
  (
    await tx.find<{ faults: number }>(
      `select count(*) as faults from app.provider_attempt
        where tenant_id = $1 and provider_key = $2 and sent_at is not null and fault is not null and ended_at >= to_timestamp($3::float8 / 1000)`,
      [tx.tenant_id, provider_key, since_ms - FAULT_MARGIN_MS],
    )
  )?.faults ?? 0

/** Enough for every rate; of more, those that decide are the last ones. */
const MAX_SEND_TIMES = 1000

/** When requests were sent since then, oldest first. */
export const listSendTimes = async (tx: Tx, provider_key: string, since_ms: number): Promise<number[]> =>
  (
    await tx.query<{ at_ms: number }>(
      `select (extract(epoch from sent_at) * 1000)::float8 as at_ms from app.provider_attempt
        where tenant_id = $1 and provider_key = $2 and sent_at is not null and outcome is distinct from 'not_sent'
          and sent_at >= to_timestamp($3::float8 / 1000)
        order by sent_at desc limit ${MAX_SEND_TIMES}`,
      [tx.tenant_id, provider_key, since_ms],
    )
  )
    .map(({ at_ms }) => at_ms)
    .toReversed()

/** The newest calls in any mode: those that are answered without asking anybody have no attempt that was sent. */
export const listNewestCalls = (tx: Tx, provider_key: string, count: number) =>
  tx.query<{ created_at: string; mode: 'live' | 'recorded' | 'fixtures' }>(
    `select created_at, mode from app.provider_call where tenant_id = $1 and provider_key = $2
      order by created_at desc, call_id desc limit $3`,
    [tx.tenant_id, provider_key, count],
  )
