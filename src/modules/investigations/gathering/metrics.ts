/** Metrics of investigations. None of them names a tenant or a case. */
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

export const openingsRefused = declareMetric({
  name: 'probity_investigation_openings_refused_total',
  help: 'Attempts to open an investigation by a list that were refused; each of them is repeated.',
  labels: { origin: ['trigger', 'schedule'] },
})

/** The outcomes of the playbooks that ship; tenants have their own. */
const OUTCOMES = ['INV_NO_SUSPICION', 'INV_SUSPICION', 'INV_EXIT', 'INV_FALSE_MATCH', 'INV_TRUE_MATCH'] as const

export const casesClosed = declareMetric({
  name: 'probity_investigations_closed_total',
  help: 'Closed investigations by outcome; other: a code of a tenant.',
  labels: { outcome: [...OUTCOMES, 'other'] },
})

export const toOutcomeLabel = (outcome: string): (typeof OUTCOMES)[number] | 'other' =>
  OUTCOMES.find((one) => one === outcome) ?? 'other'
