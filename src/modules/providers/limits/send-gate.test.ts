/** Rate, breaker and budget of a provider, without a database: 4 processes are 4 callers of one state. */
import { describe, expect, test } from 'vitest'
import {
  applySendEnd,
  decideSend,
  getBreakerState,
  type SendEnd,
  type SendLimits,
  type SendState,
} from './send-gate.ts'

const NOW = Date.UTC(2026, 0, 31, 12)
const fresh: SendState = {
  rate_tokens: null,
  rate_at_ms: null,
  failures: 0,
  failing_since_ms: null,
  open_until_ms: null,
  probe_token: null,
  probe_until_ms: null,
  day_ms: null,
  calls_of_day: 0,
  month_ms: null,
  spend_of_month_minor: 0,
}
const open: SendLimits = {
  rate: null,
  concurrent: null,
  breaker: { failures: 5, window_s: 30, open_s: 30 },
  calls_per_day: null,
  spend_per_month_minor: null,
}
const send = (state: SendState, limits: SendLimits, now_ms = NOW, change: object = {}) =>
  decideSend(state, limits, {
    now_ms,
    token: 't',
    deadline_ms: now_ms + 10_000,
    in_flight: 0,
    cost_minor: 40,
    ...change,
  })
const end = (state: SendState, of: SendEnd, now_ms = NOW, token = 't', is_outage = of !== 'answered') =>
  applySendEnd(state, open, { now_ms, token, cost_minor: 40, end: of, is_outage })
const sent = (decision: ReturnType<typeof send>): SendState => {
  if (decision.kind !== 'send') throw new Error(JSON.stringify(decision))
  return decision.state
}

describe('rate', () => {
  const limits = { ...open, rate: { per_second: 5, burst: 3 } }
  test('lets a burst through and then says when the next may go', () => {
    let state = fresh
    for (let n = 0; n < 3; n++) state = sent(send(state, limits))
    expect(send(state, limits)).toEqual({ kind: 'wait', reason: 'rate', until_ms: NOW + 200 })
    expect(send(state, limits, NOW + 200).kind).toBe('send')
    expect(send(state, limits, NOW + 199).kind).toBe('wait')
  })

  test('is not refilled beyond the burst, nor by a clock that goes back', () => {
    const state = sent(send(fresh, limits))
    expect(sent(send(state, limits, NOW + 3_600_000)).rate_tokens).toBe(2)
    expect(sent(send(state, limits, NOW - 5000)).rate_tokens).toBe(1)
  })
})

test('waits while as many requests are under way as the manifest allows', () => {
  const limits = { ...open, concurrent: 4 }
  expect(send(fresh, limits, NOW, { in_flight: 3 }).kind).toBe('send')
  expect(send(fresh, limits, NOW, { in_flight: 4 })).toMatchObject({ kind: 'wait', reason: 'concurrency' })
})

describe('budget', () => {
  test('refuses call 101 of 100, and names when it begins again', () => {
    const limits = { ...open, calls_per_day: 100 }
    let state = fresh
    for (let n = 0; n < 100; n++) state = sent(send(state, limits))
    expect(send(state, limits)).toEqual({
      kind: 'refuse',
      budget: 'calls_per_day',
      resets_at_ms: Date.UTC(2026, 1, 1),
    })
    expect(send(state, limits, Date.UTC(2026, 1, 1)).kind).toBe('send')
  })

  test('refuses what would exceed the spend of the month, across the end of the year', () => {
    const limits = { ...open, spend_per_month_minor: 100 }
    const state = sent(send(sent(send(fresh, limits)), limits))
    expect(state.spend_of_month_minor).toBe(80)
    expect(send(state, limits)).toMatchObject({ kind: 'refuse', resets_at_ms: Date.UTC(2026, 1, 1) })
    const december = Date.UTC(2026, 11, 31)
    expect(send({ ...state, month_ms: Date.UTC(2026, 11, 1) }, limits, december)).toMatchObject({
      resets_at_ms: Date.UTC(2027, 0, 1),
    })
  })

  test('gives back what was provably not sent, and only that', () => {
    const state = sent(send(fresh, open))
    expect(end(state, 'not_sent')).toMatchObject({ calls_of_day: 0, spend_of_month_minor: 0 })
    expect(end(state, 'outage')).toMatchObject({ calls_of_day: 1, spend_of_month_minor: 40 })
  })

  test('counts neither an unsent request nor an abandoned one as a failure', () => {
    const state = { ...sent(send(fresh, open)), failures: 4, failing_since_ms: NOW }
    expect(end(state, 'not_sent', NOW, 't', false)).toMatchObject({ failures: 4, calls_of_day: 0 })
    expect(end(state, 'interrupted', NOW, 't', false)).toMatchObject({ failures: 4, calls_of_day: 1 })
    expect(end(state, 'not_sent', NOW, 't', true)).toMatchObject({ failures: 5 })
  })
})

describe('breaker', () => {
  const trip = (): SendState => {
    let state = fresh
    for (let n = 0; n < 5; n++) state = end(state, 'outage', NOW + n)
    return state
  }

  test('opens after five failures within the window', () => {
    const state = trip()
    expect(getBreakerState(state, open, NOW + 5)).toBe('open')
    expect(send(state, open, NOW + 5)).toEqual({ kind: 'wait', reason: 'breaker', until_ms: NOW + 4 + 30_000 })
  })

  test('stays closed when the failures are further apart, or an answer lies between', () => {
    let state = fresh
    for (let n = 0; n < 10; n++) state = end(state, 'outage', NOW + n * 31_000)
    expect(getBreakerState(state, open, NOW)).toBe('closed')
    state = fresh
    for (let n = 0; n < 4; n++) state = end(state, 'outage', NOW + n)
    state = end(end(state, 'answered', NOW + 4), 'outage', NOW + 5)
    expect(getBreakerState(state, open, NOW + 6)).toBe('closed')
  })

  test('lets exactly one request of many through when it is half open', () => {
    const later = NOW + 40_000
    let state = trip()
    expect(getBreakerState(state, open, later)).toBe('half_open')
    const decisions = ['a', 'b', 'c', 'd'].map((token) => {
      const decision = send(state, open, later, { token })
      if (decision.kind === 'send') state = decision.state
      return decision.kind
    })
    expect(decisions).toEqual(['send', 'wait', 'wait', 'wait'])
    expect(send(end(state, 'answered', later, 'a'), open, later).kind).toBe('send')
    const failed = end(state, 'outage', later, 'a')
    expect(send(failed, open, later)).toEqual({ kind: 'wait', reason: 'breaker', until_ms: later + 30_000 })
  })

  test('lets another try when the process of the first one died', () => {
    const later = NOW + 40_000
    const state = sent(send(trip(), open, later, { token: 'a' }))
    expect(send(state, open, later + 10_001, { token: 'b' }).kind).toBe('send')
  })
})
