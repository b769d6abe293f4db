/** Compares what a provider received with the rows of the call ledger, call by call and page by page. */
import type { ReceivedRequest } from '../../support/counting-provider.ts'
import type { RunningApi } from './running-api.ts'

export type Promised = 'free' | 'keyed' | 'once'

export interface LedgerAttempt {
  readonly call_id: string
  readonly promise: Promised
  readonly provider_key: string
  readonly idempotency_key: string
  readonly page_no: number
  readonly ended_at: Date | null
  readonly outcome: string | null
  readonly fault: string | null
  readonly http_status: number | null
  readonly sent_at: Date | null
  readonly cost_minor: string | null
  readonly answered_at: Date | null
  readonly job_problem: string | null
}

/** One row for each attempt, and one without a send for a call that has none. */
export const readLedger = (api: RunningApi): Promise<LedgerAttempt[]> =>
  api.database.call<LedgerAttempt>(
    `select c.call_id, c.promise, c.provider_key, c.idempotency_key, coalesce(a.page_no, 1)::int as page_no, a.ended_at, a.outcome, a.fault, a.http_status::int, a.sent_at, a.cost_minor,
            x.answered_at, j.problem ->> 'code' as job_problem
       from app.provider_call c
       left join app.provider_attempt a on a.tenant_id = c.tenant_id and a.call_id = c.call_id
       left join app.provider_answer x on x.tenant_id = c.tenant_id and x.call_id = c.call_id and x.is_result
       left join app.job j on j.tenant_id = c.tenant_id and j.job_id = c.job_id
      where c.tenant_id = $1 order by c.call_id, a.attempt_no`,
    [api.tenant_id],
  )

const isSend = ({ sent_at, outcome }: LedgerAttempt) => sent_at !== null && outcome !== 'not_sent'
/** The process died before it could record an outcome. */
const isInterrupted = (attempt: LedgerAttempt) => isSend(attempt) && attempt.fault === 'interrupted'
/** The provider need not have seen it: no response of it was read. */
const isUnconfirmed = (attempt: LedgerAttempt) => isSend(attempt) && attempt.http_status === null

export interface LedgerComparison {
  readonly sends: number
  readonly received: number
  /** Counted as spend although the provider never saw them: only requests whose process died may be. */
  readonly unseen: number
  readonly interrupted: number
  /** No response was read: interrupted, or ended by the time limit. */
  readonly unconfirmed: number
  readonly answered: number
  readonly outcome_unknown: number
  readonly cost_minor: number
  readonly faults: string[]
}

/** `calls`: the id of the call for each path that the provider can receive, without the number of a page. */
export function compareLedger(
  attempts: readonly LedgerAttempt[],
  requests: readonly ReceivedRequest[],
  calls: ReadonlyMap<string, string>,
): LedgerComparison {
  const faults: string[] = []
  const byCall = groupBy(attempts, ({ call_id }) => call_id)
  const received = groupBy(requests, ({ path }) => {
    const [name = '', page_no = '1'] = path.split('?page=')
    return `${calls.get(name)}/${page_no}`
  })
  const byPage = groupBy(attempts, ({ call_id, page_no }) => `${call_id}/${page_no}`)
  const foreign = [...received].filter(([page]) => !byPage.has(page)).length
  if (foreign > 0) faults.push(`requests for ${foreign} pages belong to no attempt`)
  for (const [page, own] of byPage) faults.push(...comparePage(own, received.get(page) ?? []))
  const sends = attempts.filter(isSend)
  const firsts = [...byCall.values()].map(([first]) => first as LedgerAttempt)
  return {
    sends: sends.length,
    received: requests.length,
    unseen: sends.length - requests.length,
    interrupted: sends.filter(isInterrupted).length,
    unconfirmed: sends.filter(isUnconfirmed).length,
    answered: firsts.filter(({ answered_at }) => answered_at !== null).length,
    outcome_unknown: firsts.filter(({ job_problem }) => job_problem === 'outcome_unknown').length,
    cost_minor: sends.reduce((sum, { cost_minor }) => sum + Number(cost_minor), 0),
    faults,
  }
}

function comparePage(attempts: readonly LedgerAttempt[], requests: readonly ReceivedRequest[]): string[] {
  const [{ call_id, promise, idempotency_key, page_no, answered_at, job_problem }] = attempts as [LedgerAttempt]
  const stored_at = attempts.find(({ outcome }) => outcome === 'answered')?.ended_at ?? null
  const sends = attempts.filter(isSend)
  const confirmed = sends.length - sends.filter(isUnconfirmed).length
  const checks: [boolean, string][] = [
    [requests.length > sends.length, 'received more often than the ledger has sends'],
    [requests.length < confirmed, 'fewer requests received than responses recorded'],
    [promise === 'once' && (sends.length > 1 || requests.length > 1), 'promises once and was sent twice'],
    [
      stored_at !== null && sends.some(({ sent_at }) => (sent_at as Date) > stored_at),
      'sent although an answer was stored',
    ],
    [
      stored_at !== null && requests.some(({ received_at }) => received_at > stored_at),
      'received although an answer was stored',
    ],
    [answered_at !== null && stored_at === null, 'has an answer without this page'],
    [sends.some(({ cost_minor }) => cost_minor === null), 'has a send without a cost'],
    [promise !== 'once' && answered_at === null, 'may be repeated and has no answer'],
    [
      promise === 'once' && answered_at === null && !(sends.some(isUnconfirmed) && job_problem === 'outcome_unknown'),
      'has neither an answer nor an unknown outcome',
    ],
    [
      promise === 'keyed' && requests.some(({ headers }) => headers['idempotency-key'] !== idempotency_key),
      'was sent with another idempotency key',
    ],
  ]
  return checks
    .filter(([isBroken]) => isBroken)
    .map(([, fault]) => `call ${call_id} (${promise}), page ${page_no}: ${fault}`)
}

function groupBy<T, K>(items: readonly T[], getKey: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = getKey(item)
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return groups
}
