/** Requests per day and what they cost, over the last 30 days. */
import { Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSuspenseQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { sumCosts } from '#console/ui/provider/provider-texts.ts'
import { Section } from '#console/ui/section.tsx'
import { UsageChart } from './usage-chart.tsx'

export function UsageTab({ provider_key }: { readonly provider_key: string }) {
  const { data } = useSuspenseQuery({
    queryKey: ['providers', 'usage', provider_key],
    queryFn: ({ signal }) =>
      probity.GET('/api/providers/{provider_key}/usage', { params: { path: { provider_key } }, signal }),
  })
  if (data.items.length === 0) {
    return (
      <EmptyState
        title="Nothing was sent in the last 30 days"
        about="Requests to the provider are counted here, whether or not they were answered. Recorded answers and fixtures send nothing."
      />
    )
  }
  return (
    <Stack gap="md">
      <Section title="Requests per day">
        <UsageChart usage={data} />
      </Section>
      <UsageTable usage={data} />
    </Stack>
  )
}

function UsageTable({ usage }: { readonly usage: Schemas['ProviderUsage'] }) {
  const total = sumCosts(usage.items.map(({ cost }) => cost))
  return (
    <Stack gap="xs">
      <PlainTable
        label="Requests by capability"
        empty={null}
        head={[
          { name: 'Capability' },
          { name: 'Sent' },
          { name: 'Answered' },
          { name: 'Failed or refused', from: 'sm' },
          { name: 'Outcome unknown', from: 'sm' },
          { name: 'Cost' },
        ]}
      >
        {usage.items.map((item) => (
          <Table.Tr key={`${item.capability} ${item.cost}`}>
            <Table.Td className="mono">{item.capability}</Table.Td>
            <Table.Td>{item.sent.toLocaleString('en')}</Table.Td>
            <Table.Td>{item.answered.toLocaleString('en')}</Table.Td>
            <Table.Td visibleFrom="sm">{(item.failed + item.refused).toLocaleString('en')}</Table.Td>
            <Table.Td visibleFrom="sm">{item.unknown.toLocaleString('en')}</Table.Td>
            <Table.Td>{item.cost ?? <span className="quiet">–</span>}</Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
      <Text size="xs" c="dimmed">
        From {usage.from} to {usage.to} (UTC){total !== null && `, ${total} in total`}. Every request that was sent
        counts.
      </Text>
    </Stack>
  )
}
