/** Two versions of a plugin compared. */
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { pluginKind } from '#console/ui/decision/definition-kind.ts'
import { DifferenceFrame } from '#console/ui/definition/difference-page.tsx'
import { useOrigin } from '#console/ui/origin.ts'
import { pluginQuery, pluginVersionsQuery } from '#console/ui/plugin/plugin-queries.ts'

export default function PluginDifferencePage() {
  const { key: plugin_key = '' } = useParams({ strict: false }) as { key?: string }
  const { data: plugin } = useSuspenseQuery(pluginQuery(plugin_key, useOrigin()))
  const { data: versions } = useSuspenseQuery(pluginVersionsQuery(plugin_key, plugin.origin))
  const of = { ...plugin, versions: versions.map(({ version, label }) => ({ version, label, state: 'published' })) }
  return <DifferenceFrame kind={pluginKind} definition_key={plugin_key} of={of} />
}
