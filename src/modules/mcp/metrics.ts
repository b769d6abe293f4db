/** Metrics of the tool protocol. */
import { declareMetric } from '#kernel/module-metrics.ts'

export const outcomes = ['succeeded', 'refused', 'failed'] as const

export const toolCallMetric = declareMetric({
  name: 'probity_tool_calls_total',
  help: 'Tool calls by outcome: succeeded, refused with a problem of the caller, or failed with one of the server.',
  labels: { outcome: outcomes },
})

export const toolDurationMetric = declareMetric({
  name: 'probity_tool_call_duration_seconds',
  help: 'Duration of tool calls by effect of the tool.',
  labels: { effect: ['read', 'work', 'propose'] },
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
})
