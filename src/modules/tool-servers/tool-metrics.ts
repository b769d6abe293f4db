/** Metrics of tool servers. None of them names a tenant or a server. */
import { declareMetric } from '#kernel/module-metrics.ts'

export const serverChecks = declareMetric({
  name: 'probity_tool_server_checks_total',
  help: 'Lists of tools that were asked of tool servers, by outcome.',
  labels: { outcome: ['listed', 'refused', 'failed'] },
})

export const toolsQuarantined = declareMetric({
  name: 'probity_tools_quarantined_total',
  help: 'Pinned tools that changed or vanished.',
  labels: {},
})
