/** Metrics of provider calls. None of them names a tenant or a provider. */
import { declareMetric } from '#kernel/module-metrics.ts'

export const callsEnded = declareMetric({
  name: 'probity_provider_calls_total',
  help: 'Calls of providers that ended, by outcome.',
  labels: { outcome: ['answered', 'quarantined', 'failed', 'refused', 'outcome_unknown'] },
})

export const liveAttempts = declareMetric({
  name: 'probity_provider_attempt_duration_seconds',
  help: 'Duration of attempts to call a provider live, by outcome.',
  labels: { outcome: ['answered', 'failed', 'refused', 'not_sent', 'unknown'] },
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
})

export const sendsHeld = declareMetric({
  name: 'probity_provider_sends_held_total',
  help: 'Requests to providers that were held back or refused, by reason.',
  labels: { reason: ['rate', 'concurrency', 'breaker', 'budget', 'token', 'credential'] },
})

export const breakerOpenings = declareMetric({
  name: 'probity_provider_breaker_openings_total',
  help: 'How often a failed request opened the breaker of a provider, or kept it open.',
  labels: {},
})

export const budgetUsed = declareMetric({
  name: 'probity_provider_budget_used_ratio',
  help: 'Share of a budget that was used up when a request was sent, by budget.',
  labels: { budget: ['calls_per_day', 'spend_per_month'] },
  buckets: [0.25, 0.5, 0.75, 0.9, 1],
})

export const providerMetrics = [callsEnded, liveAttempts, sendsHeld, breakerOpenings, budgetUsed] as const
