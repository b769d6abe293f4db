/** Public interface of tool servers: tools of other parties that providers may call, as long as they are what was approved. */
import type { Module } from '#kernel/module.ts'
import { rankHits, type SearchSource } from '#kernel/search/source.ts'
import { insertCanaryRows } from './canary.ts'
import { checkToolsJob, discoverToolsJob } from './jobs.ts'
import { listServersByName } from './queries.ts'
import { serverRoutes } from './routes.ts'
import { serverChecks, toolsQuarantined } from './tool-metrics.ts'

export {
  type BoundTool,
  bindFreshTool,
  bindTool,
  findBoundTool,
  findPinnedTools,
  type ToolReference,
} from './bind-tool.ts'
export { type CheckKernel, checkServer } from './check-server.ts'
export { createExchange, getServerToken, listServerSecretForms, NO_SECRETS } from './server-access.ts'
export { getOutputSchema } from './tool-state.ts'

const source: SearchSource = {
  kind: 'tool-server',
  title: 'Tool servers',
  operation: 'getToolServer',
  find: async ({ tx, terms: { text, has_words }, count }) => {
    const found = has_words ? await listServersByName(tx, text, count + 1) : []
    const hits = found.map(({ server_key, title }) => ({
      id: server_key,
      title,
      subtitle: `Tool server ${server_key}`,
      matched: server_key === text.toLowerCase() ? ('key' as const) : ('prefix' as const),
      restriction_id: null,
    }))
    return { hits: rankHits(hits, count), is_complete: true }
  },
}

export const toolServers: Module = {
  name: 'tool-servers',
  segments: ['mcp'],
  tier: 'domain',
  summary:
    'Servers of other parties that offer tools: what they offer, what was approved of it, and what changed since.',
  routes: serverRoutes,
  jobs: [discoverToolsJob, checkToolsJob],
  metrics: [serverChecks, toolsQuarantined],
  constraints: { tool_server_pkey: ['duplicate', 'Another tool server has this key.'] },
  search: {
    sources: [source],
    unsearched: { getServerTool: 'A tool is opened from its server.' },
  },
  canary_table: 'tool_server',
  canary: insertCanaryRows,
}
