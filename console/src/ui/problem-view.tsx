/** The error page: what happened, what to do, and the request id. */
import { Button, Group, Progress, Stack, Text, Title } from '@mantine/core'
import { useNetwork } from '@mantine/hooks'
import { isProblem } from '@probity/client'
import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { useEffect } from 'react'
import { RoleBadges } from './badges.tsx'
import { CopyValue } from './copy-value.tsx'
import { useCountdown } from './countdown.ts'
import { ButtonLink } from './link.tsx'
import { usePageFocus } from './page.tsx'
import { PluginProblem } from './plugin/plugin-problem.tsx'
import { classifyError, type ErrorKind, errorTitles, getAdvice, isTransient, requiredRoles } from './problem-texts.ts'
import { MissingCredentials } from './provider/missing-credentials.tsx'
import { ToolProblem } from './tool/tool-problem.tsx'

interface ProblemViewProps {
  readonly error: unknown
  /** Retries the failed request. */
  readonly onRetry: () => void
}

/** The delay before an automatic retry without Retry-After. */
const RETRY_AFTER_S = 10

export function ProblemView({ error, onRetry }: ProblemViewProps) {
  const { online } = useNetwork()
  const problem = isProblem(error) ? error : null
  const kind = classifyError(error, online)
  // No page has such an address: that the server refused its form says nothing more.
  const isMalformedAddress = kind === 'missing' && problem?.status !== 404
  const heading = usePageFocus(errorTitles[kind])
  const roles = requiredRoles(problem)
  return (
    <Stack className="page" maw={620} gap="sm" role="alert">
      <Text size="sm" c="dimmed" fw={600}>
        {problem && problem.status > 0 && !isMalformedAddress ? `${problem.status} · ${problem.code}` : kind}
      </Text>
      <Title order={1} size="h2" ref={heading} tabIndex={-1} className="page-title">
        {errorTitles[kind]}
      </Title>
      <Text>{getAdvice(kind, problem)}</Text>
      {kind === 'credential' && <MissingCredentials problem={problem} />}
      {kind === 'plugin' && <PluginProblem problem={problem} />}
      {kind === 'tool' && <ToolProblem problem={problem} />}
      {roles.length > 0 && (
        <Group gap="xs">
          <Text size="sm">Required role (one of):</Text>
          <RoleBadges roles={roles} />
        </Group>
      )}
      {(kind === 'missing' ? [] : (problem?.errors ?? [])).map(({ pointer, detail }) => (
        <Text size="sm" key={pointer}>
          <span className="mono">{pointer}</span> {detail}
        </Text>
      ))}
      <NextSteps
        kind={kind}
        retry_after_s={problem?.retry_after_s ?? null}
        // After an error of the console itself, only a reload helps.
        onRetry={problem ? onRetry : () => window.location.reload()}
      />
      {problem?.request_id && (
        <Text size="sm" c="dimmed" component="div" mt="md">
          Request id for support: <CopyValue value={problem.request_id} name="the request id" />
        </Text>
      )}
    </Stack>
  )
}

interface NextStepsProps {
  readonly kind: ErrorKind
  readonly retry_after_s: number | null
  readonly onRetry: () => void
}

function NextSteps({ kind, retry_after_s, onRetry }: NextStepsProps) {
  if (kind === 'offline') return <WhenOnline onRetry={onRetry} />
  if (isTransient(kind)) return <RetryCountdown seconds={retry_after_s ?? RETRY_AFTER_S} onRetry={onRetry} />
  return (
    <Group gap="sm" mt="xs">
      {['stale', 'conflict', 'refused', 'credential', 'plugin', 'tool', 'broken'].includes(kind) && (
        <Button onClick={onRetry}>Reload</Button>
      )}
      <ButtonLink to="/" variant="default">
        Go to the home page
      </ButtonLink>
    </Group>
  )
}

function RetryCountdown({ seconds, onRetry }: { readonly seconds: number; readonly onRetry: () => void }) {
  const left = useCountdown(Math.max(1, Math.ceil(seconds)), onRetry)
  return (
    <Stack gap="xs" mt="xs" align="flex-start">
      <Progress
        value={(100 * left) / Math.max(1, seconds)}
        w={240}
        size="sm"
        aria-label="Time until the next attempt"
      />
      <Group gap="sm">
        <Button onClick={onRetry}>Try again now</Button>
        <Text size="sm" c="dimmed">
          Trying again in {left} s
        </Text>
      </Group>
    </Stack>
  )
}

function WhenOnline({ onRetry }: { readonly onRetry: () => void }) {
  useEffect(() => {
    window.addEventListener('online', onRetry)
    return () => window.removeEventListener('online', onRetry)
  }, [onRetry])
  return (
    <Group>
      <Button onClick={onRetry}>Try again now</Button>
    </Group>
  )
}

/** The error component of the router. */
export function FailedPage({ error, reset }: { readonly error: unknown; readonly reset: () => void }) {
  const queryErrors = useQueryErrorResetBoundary()
  return (
    <ProblemView
      error={error}
      onRetry={() => {
        queryErrors.reset()
        reset()
      }}
    />
  )
}
