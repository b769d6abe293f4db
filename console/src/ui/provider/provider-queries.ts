/** Queries about providers that several areas share. */
import { isProblem, type Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { definitionsQuery, getDefinitionKey, providerKind, textQuery } from '../decision/definition-kind.ts'
import { type ManifestCapability, parseManifest } from './manifest.ts'

/** Null while no version of the provider is in force. */
export const statusQuery = (provider_key: string) =>
  queryOptions({
    queryKey: ['providers', 'status', provider_key],
    queryFn: async ({ signal }): Promise<Schemas['ProviderStatus'] | null> => {
      try {
        return await probity.GET('/api/providers/{provider_key}/status', { params: { path: { provider_key } }, signal })
      } catch (error) {
        if (isProblem(error) && error.code === 'nothing_in_force') return null
        throw error
      }
    },
    refetchInterval: 15_000,
  })

/** What cannot be called for want of a credential. */
export const gapsQuery = queryOptions({
  queryKey: ['provider-credentials', 'gaps'],
  queryFn: ({ signal }) => probity.GET('/api/provider-credentials/gaps', { signal }),
  refetchInterval: 30_000,
})

/** Newest first. */
export const credentialVersionsQuery = (credential_id: string) =>
  queryOptions({
    queryKey: ['provider-credentials', 'versions', credential_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/provider-credentials/{credential_id}/versions', {
        params: { path: { credential_id } },
        signal,
      }),
  })

export interface OfferedCapability extends ManifestCapability {
  readonly provider_key: string
  readonly provider_title: string
}

/** Every capability in force. There are few providers, and versions never change. */
export const capabilitiesQuery = queryOptions({
  queryKey: ['providers', 'capabilities'],
  queryFn: async ({ client }): Promise<readonly OfferedCapability[]> => {
    const all = await client.fetchQuery({ ...definitionsQuery(providerKind), staleTime: 10_000 })
    const inForce = new Map(all.filter(({ active }) => active !== null).map((one) => [getDefinitionKey(one), one]))
    const offered: OfferedCapability[] = []
    for (const [provider_key, { title, active, origin }] of inForce) {
      const text = await client.fetchQuery(textQuery(providerKind, provider_key, active?.version ?? 1, origin))
      for (const capability of parseManifest(text.definition).capabilities) {
        offered.push({ ...capability, provider_key, provider_title: title })
      }
    }
    return offered
  },
  throwOnError: false,
})

export const callQuery = (call_id: string) =>
  queryOptions({
    queryKey: ['provider-calls', 'one', call_id],
    queryFn: ({ signal }) => probity.GET('/api/providers/calls/{call_id}', { params: { path: { call_id } }, signal }),
    // Reading a call is recorded in the audit record: it is read again when its job moves on, not by a timer.
    staleTime: 60_000,
  })
