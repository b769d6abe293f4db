/** One plugin: whether it runs, what depends on it, its versions, source, golden examples and runs. */
import { Group, Select, Stack } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { SharedMark } from '#console/ui/definition/definition-marks.tsx'
import { NotInForceNote } from '#console/ui/definition/version-text.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { useFilter, useSetFilter } from '#console/ui/filters.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { useOrigin } from '#console/ui/origin.ts'
import { Page } from '#console/ui/page.tsx'
import { PartTabs } from '#console/ui/part-tabs.tsx'
import { PluginStateBadge } from '#console/ui/plugin/plugin-badges.tsx'
import { pluginQuery, pluginVersionQuery, pluginVersionsQuery } from '#console/ui/plugin/plugin-queries.ts'
import type { Plugin, PluginVersion } from '#console/ui/plugin/plugin-texts.ts'
import { toVersionChoices } from '#console/ui/version-names.ts'
import { PinnedMark } from '#console/ui/why-in-force.tsx'
import { DependentsTab } from './dependents.tsx'
import { ExamplesTab } from './examples-tab.tsx'
import { OverviewTab } from './overview-tab.tsx'
import { PluginActions } from './plugin-actions.tsx'
import { PluginState } from './plugin-state.tsx'
import { RunsTab } from './runs-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { SourceTab } from './source-tab.tsx'
import { TryTab } from './try-tab.tsx'
import { VersionsTab } from './versions-tab.tsx'

const tabs = ['overview', 'versions', 'settings', 'source', 'examples', 'try', 'runs', 'dependents'] as const
const names = {
  overview: 'Overview',
  versions: 'Versions',
  settings: 'Settings',
  source: 'Source',
  examples: 'Golden examples',
  try: 'Try it',
  runs: 'Runs',
  dependents: 'Dependents',
} as const

export default function PluginPage() {
  const { key: plugin_key = '' } = useParams({ strict: false }) as { key?: string }
  const { data: plugin } = useSuspenseQuery(pluginQuery(plugin_key, useOrigin()))
  const may = usePermission()
  const wanted = useFilter('tab', tabs) ?? 'overview'
  const panels: Readonly<Record<(typeof tabs)[number], ReactNode>> = {
    overview: <OfVersion plugin={plugin}>{(version) => <OverviewTab plugin={plugin} version={version} />}</OfVersion>,
    versions: <VersionsTab plugin={plugin} />,
    settings: <SettingsTab plugin={plugin} />,
    source: <OfVersion plugin={plugin}>{(version) => <SourceTab key={version.version} version={version} />}</OfVersion>,
    examples: <OfVersion plugin={plugin}>{(version) => <ExamplesTab version={version} />}</OfVersion>,
    try: <OfVersion plugin={plugin}>{(version) => <TryTab key={version.version} version={version} />}</OfVersion>,
    runs: <RunsTab plugin_key={plugin_key} />,
    dependents: <DependentsTab plugin_key={plugin_key} />,
  }
  const offered = tabs.filter(
    (one) =>
      (one !== 'source' || may('getPluginSource')) &&
      (one !== 'try' || may('runPluginVersion')) &&
      (one !== 'runs' || may('listPluginInvocations')),
  )
  const tab = offered.includes(wanted) ? wanted : 'overview'
  return (
    <Page
      title={plugin.title}
      mark={
        <Group gap={6}>
          <PluginStateBadge of={plugin} />
          {plugin.origin === 'shared' && <SharedMark />}
          <PinnedMark of={plugin} />
        </Group>
      }
      about={plugin.description}
      trail={
        <PageLink to="/plugins" inherit>
          Plugins
        </PageLink>
      }
      actions={<PluginActions plugin={plugin} />}
    >
      <PluginState plugin={plugin} />
      <PartTabs label={`Parts of ${plugin.title}`} offered={offered} names={names} open={tab} panels={panels} />
    </Page>
  )
}

/** The version in the page address; by default the one in force, else the newest. */
function useVersion({ active, head_version }: Plugin): number | null {
  const { version } = useSearch({ strict: false }) as { version?: unknown }
  if (Number.isInteger(version)) return Number(version)
  return active?.version ?? (head_version > 0 ? head_version : null)
}

interface OfVersionProps {
  readonly plugin: Plugin
  readonly children: (version: PluginVersion) => ReactNode
}

/** The tabs that show one version, with a choice of it. */
function OfVersion({ plugin, children }: OfVersionProps) {
  const version = useVersion(plugin)
  if (version === null) {
    return (
      <EmptyState
        title="No version yet"
        about="A version is uploaded as a package with a manifest, a source file and golden examples."
      />
    )
  }
  return (
    <LoadedVersion plugin={plugin} version={version}>
      {children}
    </LoadedVersion>
  )
}

function LoadedVersion({ plugin, version, children }: OfVersionProps & { readonly version: number }) {
  const { plugin_key, origin } = plugin
  const { data: versions } = useSuspenseQuery(pluginVersionsQuery(plugin_key, origin))
  const { data: one } = useSuspenseQuery(pluginVersionQuery(plugin_key, version, origin))
  const set = useSetFilter()
  return (
    <Stack gap="md">
      <Group gap="sm" align="center">
        <Select
          size="xs"
          w={200}
          aria-label="Version shown"
          allowDeselect={false}
          value={String(version)}
          data={toVersionChoices(versions)}
          onChange={(chosen) => set('version', Number(chosen))}
        />
        <NotInForceNote of={plugin} version={version} />
      </Group>
      {children(one)}
    </Stack>
  )
}
