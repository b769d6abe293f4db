/** The plugin that keeps work from being done, with every reason and a link to it. */
import { Stack, Text } from '@mantine/core'
import type { ProbityProblem } from '@probity/client'
import { usePermission } from '#console/session/queries.ts'
import { PageLink } from '../link.tsx'
import { getPluginProblem } from './plugin-texts.ts'
import { ReasonList } from './reason-list.tsx'

export function PluginProblem({ problem }: { readonly problem: ProbityProblem | null }) {
  const may = usePermission()
  const named = getPluginProblem(problem)
  if (named === null) return null
  const { plugin_key, reasons } = named
  return (
    <Stack gap="xs" mt="xs">
      {reasons.length > 0 && <ReasonList reasons={reasons} label={`Reasons why ${plugin_key} cannot run`} />}
      {may('getPlugin') && (
        <Text size="sm">
          <PageLink to={`/plugins/${encodeURIComponent(plugin_key)}`} inherit fw={600}>
            Open the plugin {plugin_key}
          </PageLink>
        </Text>
      )}
    </Stack>
  )
}
