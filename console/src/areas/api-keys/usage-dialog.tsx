/** The usage of a key in the last month. */
import { Group, Modal, Select, Skeleton, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { formatCount, formatOperation } from '#console/ui/format.ts'
import { sumByOperation } from './usage.ts'

/** Charts are the largest part of the console, so they are loaded on demand. */
const UsageChart = lazy(() => import('./usage-chart.tsx'))

interface UsageDialogProps {
  readonly apiKey: Schemas['ApiKey'] | null
  readonly onClose: () => void
}

export function UsageDialog({ apiKey, onClose }: UsageDialogProps) {
  return (
    <Modal
      opened={apiKey !== null}
      onClose={onClose}
      title={`Usage of ${apiKey?.name ?? ''}`}
      size="xl"
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
      transitionProps={{ duration: 120 }}
    >
      {apiKey && <Usage key_id={apiKey.key_id} />}
    </Modal>
  )
}

function Usage({ key_id }: { readonly key_id: string }) {
  const { data } = useQuery({
    queryKey: ['api-keys', key_id, 'usage'],
    queryFn: ({ signal }) => probity.GET('/api/api-keys/{key_id}/usage', { params: { path: { key_id } }, signal }),
    staleTime: 0,
  })
  const [filter, setFilter] = useState<{ day: string | null; state: string | null }>({ day: null, state: null })
  if (data === undefined) return <Skeleton height={260} />
  if (data.items.length === 0) {
    return (
      <Text size="sm" c="dimmed" role="status">
        Not used in the last 31 days. Calls are counted within a few seconds.
      </Text>
    )
  }
  const days = [...new Set(data.items.map(({ used_on }) => used_on))].sort().reverse()
  const shown = data.items.filter(
    ({ used_on, status }) =>
      (filter.day === null || used_on === filter.day) &&
      (filter.state === null || (filter.state === 'refused') === status >= 400),
  )
  return (
    <Stack gap="md">
      <Suspense fallback={<Skeleton height={220} />}>
        <UsageChart items={data.items} onOpenDay={(day) => setFilter({ ...filter, day })} />
      </Suspense>
      <Group gap="xs">
        <Select
          size="xs"
          aria-label="Day"
          placeholder="Any day"
          clearable
          data={days}
          value={filter.day}
          onChange={(day) => setFilter({ ...filter, day })}
          clearButtonProps={{ 'aria-label': 'Clear day' }}
        />
        <Select
          size="xs"
          aria-label="State"
          placeholder="Accepted and refused"
          clearable
          data={[
            { value: 'accepted', label: 'Accepted' },
            { value: 'refused', label: 'Refused' },
          ]}
          value={filter.state}
          onChange={(state) => setFilter({ ...filter, state })}
          clearButtonProps={{ 'aria-label': 'Clear state' }}
        />
      </Group>
      <Table aria-label="Calls by operation" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Operation</Table.Th>
            <Table.Th ta="right">Calls</Table.Th>
            <Table.Th ta="right">Refused</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sumByOperation(shown).map(({ operation, calls, refused }) => (
            <Table.Tr key={operation}>
              <Table.Td>{formatOperation(operation)}</Table.Td>
              <Table.Td ta="right">{formatCount(calls, 'call')}</Table.Td>
              <Table.Td ta="right">{refused === 0 ? '' : formatCount(refused, 'call')}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  )
}
