/** The tool of another server that keeps work from being done: it is refused until its definition is reviewed. */
import { Text } from '@mantine/core'
import type { ProbityProblem } from '@probity/client'
import { usePermission } from '#console/session/queries.ts'
import { PageLink } from '../link.tsx'
import { getToolProblem } from './tool-texts.ts'

export function ToolProblem({ problem }: { readonly problem: ProbityProblem | null }) {
  const may = usePermission()
  const named = getToolProblem(problem)
  if (named === null || !may('getServerTool')) return null
  const { server_key, tool } = named
  return (
    <Text size="sm" mt="xs">
      <PageLink to={`/tools/servers/${server_key}/tools/${tool}`} inherit fw={600}>
        Open the tool {tool}
      </PageLink>
    </Text>
  )
}
