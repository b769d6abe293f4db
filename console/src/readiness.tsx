/** Asks the server every few seconds whether it is ready, and shows each of its checks. */
import { Alert, Badge, Group, Skeleton, Text } from '@mantine/core'
import { useEffect, useState } from 'react'

interface Check {
  readonly status: string
  readonly [detail: string]: unknown
}
interface Readiness {
  readonly status: string
  readonly checks: Readonly<Record<string, Check>>
}
type Answer = { readonly readiness: Readiness; readonly at: Date } | { readonly isUnreachable: true; readonly at: Date }

const interval_ms = 5_000

async function ask(signal: AbortSignal): Promise<Answer> {
  try {
    const response = await fetch('/api/health/ready', { signal, cache: 'no-store' })
    const body: Partial<Readiness> = await response.json()
    // A server that is shutting down answers with a problem, whose status is a number and which lists no checks.
    const status = typeof body.status === 'string' ? body.status : 'not_ready'
    return { readiness: { status, checks: body.checks ?? {} }, at: new Date() }
  } catch {
    return { isUnreachable: true, at: new Date() }
  }
}

function useReadiness(): Answer | null {
  const [answer, setAnswer] = useState<Answer | null>(null)
  useEffect(() => {
    const stopped = new AbortController()
    let timer: ReturnType<typeof setTimeout>
    async function repeat() {
      if (!document.hidden) {
        const next = await ask(stopped.signal)
        if (!stopped.signal.aborted) setAnswer(next)
      }
      if (!stopped.signal.aborted) timer = setTimeout(repeat, interval_ms)
    }
    repeat()
    return () => {
      stopped.abort()
      clearTimeout(timer)
    }
  }, [])
  return answer
}

export function ReadinessChecks() {
  const answer = useReadiness()
  if (answer === null) return <Skeleton height={160} aria-label="Asking the server" />
  if ('isUnreachable' in answer) {
    return (
      <Alert color="red" title="The server does not answer" role="status">
        Asking again every {interval_ms / 1000} seconds.
      </Alert>
    )
  }
  const { status, checks } = answer.readiness
  const isReady = status === 'ready'
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Badge role="status" size="lg" variant="light" tt="none" color={isReady ? 'teal' : 'red'}>
          {capital(spaced(status))}
        </Badge>
        <Text size="xs" c="dimmed">
          Checked at {answer.at.toLocaleTimeString()}
        </Text>
      </Group>
      <ul className="checks" aria-label="Readiness checks">
        {Object.entries(checks).map(([name, check]) => (
          <li key={name}>
            <Text span size="sm" fw={500}>
              {capital(spaced(name))}
            </Text>
            <Text span size="sm" c="dimmed" flex={1}>
              {details(check)}
            </Text>
            <Badge variant="light" tt="none" miw="max-content" color={colorOf(check.status)}>
              {spaced(check.status)}
            </Badge>
          </li>
        ))}
      </ul>
    </>
  )
}

function details({ status: _status, latency_ms, ...rest }: Check): string {
  const parts = Object.entries(rest)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => (name === 'detail' ? `${value}` : `${spaced(name)} ${value}`))
  if (typeof latency_ms === 'number') parts.push(`${latency_ms} ms`)
  return parts.join(', ')
}

function colorOf(status: string): string {
  if (status === 'ok') return 'teal'
  return status === 'not_configured' ? 'gray' : 'red'
}

const spaced = (name: string) => name.replaceAll('_', ' ')
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
