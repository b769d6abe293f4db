/** One provider: status and budget, what can be asked, calls, usage, credentials and versions. */
import { Alert, Stack, Text } from '@mantine/core'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { type DefinitionView, definitionQuery, providerKind, textQuery } from '#console/ui/decision/definition-kind.ts'
import { Findings } from '#console/ui/decision/findings.tsx'
import { DefinitionFrame, useVersion } from '#console/ui/definition/definition-frame.tsx'
import { InForce } from '#console/ui/definition/in-force.tsx'
import { UsedByPlaybooks } from '#console/ui/definition/used-by-playbooks.tsx'
import { NotInForceNote } from '#console/ui/definition/version-text.tsx'
import { VersionsTab } from '#console/ui/definition/versions-tab.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { useFilter } from '#console/ui/filters.tsx'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { useOrigin } from '#console/ui/origin.ts'
import { PartTabs } from '#console/ui/part-tabs.tsx'
import { ModeBadge } from '#console/ui/provider/badges.tsx'
import { CredentialTable } from '#console/ui/provider/credential-table.tsx'
import { type Manifest, parseManifest } from '#console/ui/provider/manifest.ts'
import { statusQuery } from '#console/ui/provider/provider-queries.ts'
import { Facts, Section } from '#console/ui/section.tsx'
import { CallTable } from './call-table.tsx'
import { Capabilities, Dependents } from './capabilities.tsx'
import { NewCall } from './new-call.tsx'
import { StatusSection } from './provider-status.tsx'
import { TestConnection } from './test-connection.tsx'
import { UsageTab } from './usage-tab.tsx'

const tabs = ['reading', 'calls', 'usage', 'credentials', 'versions'] as const
const names = {
  reading: 'Capabilities',
  calls: 'Calls',
  usage: 'Usage',
  credentials: 'Credentials',
  versions: 'Versions',
} as const

interface ProviderParts {
  readonly provider_key: string
  readonly of: DefinitionView
}

export default function ProviderPage() {
  const { key: provider_key = '' } = useParams({ strict: false }) as { key?: string }
  const { data: of } = useSuspenseQuery(definitionQuery(providerKind, provider_key, useOrigin()))
  const { data: status } = useQuery({ ...statusQuery(provider_key), enabled: of.active !== null })
  const may = usePermission()
  const tab = useFilter('tab', tabs) ?? 'reading'
  const parts = { provider_key, of }
  const panels: Readonly<Record<(typeof tabs)[number], ReactNode>> = {
    reading: <CapabilitiesTab {...parts} />,
    calls: (
      <CallTable
        filters={{ provider_key }}
        hidesProvider
        empty={{ title: 'No calls yet', about: 'Calls to this provider appear here, with their attempts and outcome.' }}
      />
    ),
    usage: <UsageTab provider_key={provider_key} />,
    credentials: <CredentialTable filters={{ provider_key }} hidesProvider />,
    versions: <VersionsTab kind={providerKind} definition_key={provider_key} of={of} />,
  }
  const offered = tabs.filter(
    (one) =>
      (one !== 'calls' || may('listProviderCalls')) &&
      (one !== 'usage' || may('getProviderUsage')) &&
      (one !== 'credentials' || may('listProviderCredentials')),
  )
  return (
    <DefinitionFrame
      kind={providerKind}
      definition_key={provider_key}
      of={of}
      marks={status && <ModeBadge mode={status.mode} isTest={status.environment === 'test'} />}
      actions={<CallActions {...parts} />}
      isDraftPrimary={false}
    >
      <Stack gap="md">
        <Findings findings={of.attention} title="Findings for the version in force" />
        {status ? (
          <StatusSection status={status} />
        ) : (
          of.active === null && (
            <Alert color="yellow" title="Not in force" role="status">
              <Text size="sm">
                Nothing can be asked yet.{' '}
                {of.head_version === 0
                  ? 'Publish the draft as a version, then put it in force.'
                  : 'Put a version in force under “Versions”.'}
              </Text>
            </Alert>
          )
        )}
      </Stack>
      <PartTabs label={`Parts of ${of.title}`} offered={offered} names={names} open={tab} panels={panels} />
    </DefinitionFrame>
  )
}

/** Calls and tests follow the version in force. */
function CallActions({ provider_key, of }: ProviderParts) {
  const may = usePermission()
  const { data: status } = useQuery({ ...statusQuery(provider_key), enabled: of.active !== null })
  const { data: text } = useQuery({
    ...textQuery(providerKind, provider_key, of.active?.version ?? 1, of.origin),
    enabled: of.active !== null,
  })
  if (!status || !text) return null
  const manifest = parseManifest(text.definition)
  return (
    <>
      {may('testProvider') && manifest.hasTest && <TestConnection provider_key={provider_key} />}
      {may('callProvider') && <NewCall status={status} manifest={manifest} />}
    </>
  )
}

function CapabilitiesTab({ provider_key, of }: ProviderParts) {
  const version = useVersion(of)
  if (version === null) {
    return (
      <EmptyState
        title="No version or draft yet"
        about="The manifest of a provider is written in a draft, which is published as a version."
      />
    )
  }
  return <ManifestView provider_key={provider_key} of={of} version={version} />
}

function ManifestView({ provider_key, of, version }: ProviderParts & { readonly version: number | 'draft' }) {
  const { data: text } = useSuspenseQuery(textQuery(providerKind, provider_key, version, of.origin))
  const manifest = parseManifest(text.definition)
  return (
    <Stack gap="md">
      <NotInForceNote of={of} version={version} />
      <Capabilities of={manifest} />
      <Dependents of={manifest} />
      <UsedByPlaybooks family="provider" definition_key={provider_key} />
      <InForce kind={providerKind} definition_key={provider_key} of={of} />
      <Section title="Connection">
        <ConnectionFacts of={manifest} />
        <details className="manifest">
          <summary>Manifest as JSON</summary>
          <JsonBlock value={text.definition} name="Manifest as JSON" />
        </details>
      </Section>
    </Stack>
  )
}

const kindTexts: Readonly<Record<Manifest['kind'], string>> = {
  http: 'HTTP service',
  builtin: 'Built in: answered by this service',
  mcp: 'Tool server: calls tools whose definitions are pinned',
  plugin: 'HTTP service whose requests and responses are handled by a plugin',
}

function ConnectionFacts({ of: { kind, server_key, plugin_key, hosts, auth, fixtures } }: { readonly of: Manifest }) {
  return (
    <Facts
      of={[
        ['Kind', kindTexts[kind]],
        server_key !== null && [
          'Tool server',
          <PageLink key="server" to={`/tools/servers/${server_key}`} inherit>
            {server_key}
          </PageLink>,
        ],
        plugin_key !== null && [
          'Plugin',
          <PageLink key="plugin" to={`/plugins/${plugin_key}`} inherit>
            {plugin_key}
          </PageLink>,
        ],
        hosts.length > 0 && ['Hosts', hosts.join(', ')],
        (kind === 'http' || kind === 'plugin') && ['Authentication', auth],
        kind !== 'builtin' && ['Example answers', String(fixtures)],
      ]}
    />
  )
}
