/** Queries about tools, approvals of tool calls and tool servers that several areas share. */
import type { Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { loadReadiness } from '../load-readiness.ts'

export const toolsQuery = queryOptions({
  queryKey: ['tools', 'list'],
  queryFn: ({ signal }) => probity.GET('/api/mcp/tools', { signal }),
})

export const toolPolicyQuery = queryOptions({
  queryKey: ['tools', 'policy'],
  queryFn: ({ signal }) => probity.GET('/api/mcp/tool-policy', { signal }),
})

/** Where clients find out how to sign in; null: the operator has not stated the public address. */
export const discoveryQuery = queryOptions({
  queryKey: ['tools', 'discovery'],
  queryFn: async ({ signal }): Promise<Schemas['ProtectedResource'] | null> => {
    const { checks } = await loadReadiness(signal)
    // Asking for it where it is not configured is a 404, which browsers log as an error.
    if (checks['tool_protocol']?.['discovery'] === 'not_configured') return null
    return probity.GET('/api/.well-known/oauth-protected-resource', { signal })
  },
  staleTime: Number.POSITIVE_INFINITY,
})

/** The first calls that wait for a person, those included that were approved and did not run. */
export const waitingApprovalsQuery = queryOptions({
  queryKey: ['tool-approvals', 'waiting'],
  queryFn: ({ signal }) =>
    probity.GET('/api/mcp/approvals', { params: { query: { state: 'open', limit: 20 } }, signal }),
  refetchInterval: 15_000,
})

/** A tenant has at most a hundred servers: one page. */
export const toolServersQuery = queryOptions({
  queryKey: ['tool-servers', 'list'],
  queryFn: async ({ signal }) =>
    (await probity.GET('/api/mcp/servers', { params: { query: { limit: 100 } }, signal })).items,
  refetchInterval: 30_000,
})

export const toolServerQuery = (server_key: string) =>
  queryOptions({
    queryKey: ['tool-servers', 'one', server_key],
    queryFn: ({ signal }) => probity.GET('/api/mcp/servers/{server_key}', { params: { path: { server_key } }, signal }),
  })

export const serverToolQuery = (server_key: string, tool_name: string) =>
  queryOptions({
    queryKey: ['tool-servers', 'tool', server_key, tool_name],
    queryFn: ({ signal }) =>
      probity.GET('/api/mcp/servers/{server_key}/tools/{tool_name}', {
        params: { path: { server_key, tool_name } },
        signal,
      }),
  })
