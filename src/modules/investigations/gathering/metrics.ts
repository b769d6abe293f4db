/** Metrics of gathering. None of them names a tenant or a case. */
import { declareMetric } from '#kernel/module-metrics.ts'

export const stepsEnded = declareMetric({
  name: 'probity_investigation_steps_total',
  help: 'Runs of steps of investigations by how they ended.',
  labels: { outcome: ['succeeded', 'failed', 'indeterminate', 'blocked', 'waiting', 'given'] },
})

export const stepsReleased = declareMetric({
  name: 'probity_investigation_steps_released_total',
  help: 'Steps of investigations that were running when their worker died, and were given back.',
  labels: {},
})
