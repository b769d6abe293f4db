/** Metrics of plugins. None of them names a tenant or a plugin. */
import { declareMetric } from '#kernel/module-metrics.ts'

const kinds = ['factor', 'adapter', 'provider'] as const

export const pluginRuns = declareMetric({
  name: 'probity_plugin_runs_total',
  help: 'Runs of plugins by kind and outcome; results that were known already are not counted.',
  labels: { kind: kinds, outcome: ['ok', 'failed'] },
})

export const pluginFuel = declareMetric({
  name: 'probity_plugin_fuel',
  help: 'Fuel that a run of a plugin used, by kind. One unit is about 10,000 operations.',
  labels: { kind: kinds },
  buckets: [1, 5, 20, 50, 100, 250, 500, 1000, 2000],
})

export const pluginMetrics = [pluginRuns, pluginFuel] as const
