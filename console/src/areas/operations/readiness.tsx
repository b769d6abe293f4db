/** Polls the readiness of the server and shows each check. */
import { Alert, Badge, Group, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { StateBadge } from '#console/ui/badges.tsx'
import { formatTime } from '#console/ui/date-format.ts'
import { toSentence, toWords } from '#console/ui/format.ts'
import { loadReadiness, type ReadinessCheck } from '#console/ui/load-readiness.ts'

const interval_ms = 5_000

export function ReadinessChecks() {
  const { data, isError, dataUpdatedAt } = useQuery({
    queryKey: ['readiness'],
    queryFn: ({ signal }) => loadReadiness(signal),
    refetchInterval: interval_ms,
    staleTime: 0,
    throwOnError: false,
  })
  if (isError) {
    return (
      <Alert color="red" title="The server is not responding" role="status">
        Checking again every {interval_ms / 1000} seconds.
      </Alert>
    )
  }
  if (data === undefined) return <Skeleton height={160} role="status" aria-label="Checking the server" />
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Badge role="status" size="lg" variant="light" tt="none" color={data.status === 'ready' ? 'teal' : 'red'}>
          {toSentence(data.status)}
        </Badge>
        <Text size="xs" c="dimmed">
          Checked at {formatTime(dataUpdatedAt)}
        </Text>
      </Group>
      <ul className="checks" aria-label="Readiness checks">
        {Object.entries(data.checks).map(([name, check]) => (
          <li key={name}>
            <Text span size="sm" fw={500}>
              {checkLabels[name] ?? toSentence(name)}
            </Text>
            <Text span size="sm" c="dimmed" flex={1}>
              {details(check)}
            </Text>
            <StateBadge state={check.status} />
          </li>
        ))}
      </ul>
    </>
  )
}

/** Checks whose wire name is not what users call them. */
const checkLabels: Readonly<Record<string, string>> = { tenant_isolation: 'Tenant isolation', seed: 'Seed data' }

/** What of the tool protocol is checked: whether programs find out where to sign in. */
const detailNames: Readonly<Record<string, string>> = { discovery: 'discovery of the sign-in' }

function details({ status: _status, latency_ms, ...rest }: ReadinessCheck): string {
  const parts = Object.entries(rest)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) =>
      name === 'detail'
        ? `${value}`
        : `${detailNames[name] ?? toWords(name)} ${typeof value === 'string' ? toWords(value) : value}`,
    )
  if (typeof latency_ms === 'number') parts.push(`${latency_ms} ms`)
  return parts.join(', ')
}
