/** Queries about plugins that several areas share. Every change of a plugin invalidates `definitions`. */
import type { Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { type Origin, toOriginParams } from '../origin.ts'
import type { Plugin } from './plugin-texts.ts'

const MAX_PLUGINS = 2000
const MAX_VERSIONS = 500

/** All plugins: there are tens, which are searched in the browser. */
export const pluginsQuery = queryOptions({
  queryKey: ['definitions', 'plugin', 'all'],
  queryFn: async ({ signal }) => {
    const all: Plugin[] = []
    for await (const one of probity.paginate('/api/plugins', { params: { query: { limit: 200 } }, signal })) {
      if (all.push(one) >= MAX_PLUGINS) break
    }
    return all
  },
  refetchInterval: 30_000,
})

/** Without an owner, the plugin in force is returned if there is one. */
export const pluginQuery = (plugin_key: string, origin?: Origin) =>
  queryOptions({
    queryKey: ['definitions', 'plugin', 'one', plugin_key, origin],
    queryFn: ({ signal }) =>
      probity.GET('/api/plugins/{plugin_key}', {
        params: { path: { plugin_key }, query: toOriginParams(origin) },
        signal,
      }),
    refetchInterval: 30_000,
  })

/** Newest first. */
export const pluginVersionsQuery = (plugin_key: string, origin: Origin) =>
  queryOptions({
    queryKey: ['definitions', 'plugin', 'versions', plugin_key, origin],
    queryFn: async ({ signal }) => {
      const versions: Schemas['PluginVersionItem'][] = []
      const params = { path: { plugin_key }, query: { origin, limit: 100 } }
      for await (const one of probity.paginate('/api/plugins/{plugin_key}/versions', { params, signal })) {
        if (versions.push(one) >= MAX_VERSIONS) break
      }
      return versions
    },
  })

export const pluginVersionQuery = (plugin_key: string, version: number, origin: Origin) =>
  queryOptions({
    queryKey: ['definitions', 'plugin', 'version', plugin_key, version, origin],
    queryFn: ({ signal }) =>
      probity.GET('/api/plugins/{plugin_key}/versions/{version}', {
        params: { path: { plugin_key, version: String(version) }, query: { origin } },
        signal,
      }),
  })

export const dependentsQuery = (plugin_key: string) =>
  queryOptions({
    queryKey: ['definitions', 'plugin', 'dependents', plugin_key],
    queryFn: ({ signal }) =>
      probity.GET('/api/plugins/{plugin_key}/dependents', { params: { path: { plugin_key } }, signal }),
  })

/** The last failure and the figures of the last 30 days. */
export const lastFailureQuery = (plugin_key: string) =>
  queryOptions({
    queryKey: ['definitions', 'plugin', 'last-failure', plugin_key],
    queryFn: ({ signal }) =>
      probity.GET('/api/plugins/{plugin_key}/invocations', {
        params: { path: { plugin_key }, query: { failed: true, limit: 1 } },
        signal,
      }),
    throwOnError: false,
  })

export const extensionPointsQuery = queryOptions({
  queryKey: ['extension-points'],
  queryFn: ({ signal }) => probity.GET('/api/plugins/extension-points', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
})
