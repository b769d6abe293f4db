/** Public interface of the tool protocol: the operations of the other modules as tools for assistants. */

import type { Module } from '#kernel/module.ts'
import { insertCanaryRows } from './canary.ts'
import { toolCallMetric, toolDurationMetric } from './metrics.ts'
import { toolApprovalErasure } from './queries.ts'
import { mcpRoutes, metadataRoutes, toolProtocol } from './routes.ts'

export { createToolProtocolCheck } from './readiness.ts'
export { type Message, ProtocolTransport } from './server/transport.ts'
export { buildCatalogue, getCatalogue, toToolView } from './tools/catalogue.ts'

export const mcp: Module = {
  name: 'mcp',
  segments: ['mcp', '.well-known'],
  tier: 'views',
  summary: 'The Model Context Protocol: tools for assistants, their policy, and every call.',
  routes: [...mcpRoutes, ...metadataRoutes],
  protocols: [toolProtocol],
  jobs: [],
  metrics: [toolCallMetric, toolDurationMetric],
  constraints: {
    mcp_approval_four_eyes_ck: ['approval_own_request', 'Somebody else, a person, decides it.'],
  },
  search: {
    sources: [],
    unsearched: { getToolCall: 'Calls are listed with filters, and each is an event of the audit record.' },
  },
  erases: [toolApprovalErasure],
  canary_table: 'mcp_call',
  canary: insertCanaryRows,
}
