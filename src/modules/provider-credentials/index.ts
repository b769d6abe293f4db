/** Public interface of provider credentials: what a provider needs to be called, and the one way to open a secret. */
import type { Module } from '#kernel/module.ts'
import { insertCanaryRows } from './canary.ts'
import { listReadyProviders } from './gaps.ts'
import { credentialCleanupJob } from './jobs.ts'
import { tokenRequests } from './oauth-token.ts'
import { credentialRoutes } from './routes.ts'
import { versionRoutes } from './version-routes.ts'

export * as accessTokens from './access-tokens.ts'
export { expectReady, findReadiness, listReadiness, type ProviderReadiness, type ReadyProvider } from './gaps.ts'
export { fromManifestEntries, PROVIDER_FAMILY, toManifestEntries } from './provider-manifest.ts'
export { CredentialGap } from './schema.ts'
export * as credentialStore from './store.ts'
export { CredentialGone, withCredential } from './with-credential.ts'

export const providerCredentials: Module = {
  name: 'provider-credentials',
  segments: ['provider-credentials'],
  tier: 'domain',
  summary: 'Credentials of providers: encrypted versions, who opened them, and what is missing.',
  routes: [...credentialRoutes, ...versionRoutes],
  jobs: [credentialCleanupJob],
  metrics: [tokenRequests],
  constraints: {
    provider_credential_label_key: [
      'duplicate',
      'A credential of this provider and environment has this label already.',
    ],
    provider_credential_enabled_key: [
      'conflict',
      'Another credential of this provider and environment is enabled; disable it first.',
    ],
  },
  search: {
    sources: [],
    unsearched: { getProviderCredential: 'Few per tenant, and listed with their provider.' },
  },
  listReadyProviders,
  canary_table: 'provider_credential',
  canary: insertCanaryRows,
}
