/** The problem of a failed change, shown beside the form. */
import { Alert, Button, Group, Text } from '@mantine/core'
import { useNetwork } from '@mantine/hooks'
import type { ProbityProblem } from '@probity/client'
import { CopyValue } from './copy-value.tsx'
import { toWords } from './format.ts'
import { PluginProblem } from './plugin/plugin-problem.tsx'
import { classifyError, errorTitles, formatLocation, getAdvice, repeatsErrors, requiredRoles } from './problem-texts.ts'
import { MissingCredentials } from './provider/missing-credentials.tsx'
import { ToolProblem } from './tool/tool-problem.tsx'

interface ProblemNoteProps {
  readonly problem: ProbityProblem | null
  /** Reloads the current state, offered after a concurrent change. */
  readonly onReload?: () => void
}

export function ProblemNote({ problem, onReload }: ProblemNoteProps) {
  const { online } = useNetwork()
  if (problem === null) return null
  const kind = classifyError(problem, online)
  // The title from the server is more specific; the console's own titles are for errors without a response.
  const title = problem.status > 0 && !['stale', 'plugin', 'tool'].includes(kind) ? problem.title : errorTitles[kind]
  const roles = requiredRoles(problem)
  return (
    <Alert color={kind === 'stale' ? 'yellow' : 'red'} title={title} role="alert">
      {!repeatsErrors(problem) && (
        <Text size="sm">{problem.errors.length === 0 ? getAdvice(kind, problem) : problem.detail}</Text>
      )}
      {kind === 'credential' && <MissingCredentials problem={problem} />}
      {kind === 'plugin' && <PluginProblem problem={problem} />}
      {kind === 'tool' && <ToolProblem problem={problem} />}
      {problem.errors.map(({ pointer, detail }) => (
        <Text size="sm" key={`${pointer} ${detail}`}>
          {formatLocation(pointer) !== '' && <b>{formatLocation(pointer)}: </b>}
          {detail}
        </Text>
      ))}
      {roles.length > 0 && <Text size="sm">Needed: {roles.map(toWords).join(', ')}.</Text>}
      {kind === 'stale' && onReload && (
        <Button size="xs" mt="xs" onClick={onReload}>
          Reload
        </Button>
      )}
      {problem.status >= 500 && problem.request_id && (
        <Group gap={4} mt={4}>
          <Text size="xs">Request</Text> <CopyValue value={problem.request_id} name="the request id" />
        </Group>
      )}
    </Alert>
  )
}
