/** Plugins in force that cannot run: what needs them is refused. Shown only where there are some. */
import { useQuery } from '@tanstack/react-query'
import { useFirstAnswer } from '#console/ui/first-answers.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { PluginStateBadge } from '#console/ui/plugin/plugin-badges.tsx'
import { pluginsQuery } from '#console/ui/plugin/plugin-queries.ts'
import { describeReason } from '#console/ui/plugin/plugin-texts.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { WaitingRows } from './row-list.tsx'

export function StoppedPlugins() {
  const { data, isLoading } = useQuery({ ...pluginsQuery, throwOnError: false })
  useFirstAnswer(isLoading)
  const stopped = (data ?? []).filter(({ active, runs }) => active !== null && !runs)
  return (
    <WaitingRows
      title="Plugins that cannot run"
      link={
        <PageLink to="/plugins" size="sm">
          All plugins
        </PageLink>
      }
      rows={stopped.map((plugin) => ({
        key: `${plugin.origin} ${plugin.plugin_key}`,
        link: (
          <SearchLink to={`/plugins/${plugin.plugin_key}`} search={{ origin: plugin.origin }} size="sm" fw={500}>
            {plugin.title}
          </SearchLink>
        ),
        detail: plugin.disabled
          ? `Disabled: ${plugin.disabled_reason ?? 'no reason given'}`
          : `${[...new Set(plugin.reasons.map(({ code }) => describeReason(code)))].join('. ')}. What needs it is refused.`,
        mark: <PluginStateBadge of={plugin} />,
      }))}
    />
  )
}
