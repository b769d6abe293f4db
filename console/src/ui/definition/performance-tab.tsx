/** The performance of a rule: hit rate and confirmed hits. Figures that cannot be known are format as unknown. */
import { Group, NumberInput, SimpleGrid, Stack, Table, TagsInput, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { DateTime } from '../date-time.tsx'
import { EmptyState } from '../empty-state.tsx'
import { formatCount } from '../format.ts'
import { ListSkeleton } from '../list.tsx'
import { PlainTable } from '../plain-table.tsx'

type Performance = Schemas['RulePerformance']
type Known = Performance['total']['true_positives']

const reasons: Readonly<Record<NonNullable<Known['unknown']>, string>> = {
  no_decisions: 'no decisions',
  bands_not_named: 'enter the bands that confirm a hit',
  nothing_judged: 'no rating was overridden after a hit',
  cost_not_named: 'enter the cost of a hit',
  no_true_positives: 'no hit was confirmed',
}

const percent = (bps: number): string => `${(bps / 100).toLocaleString('en', { maximumFractionDigits: 1 })} %`

export function PerformanceTab({ rule_key }: { readonly rule_key: string }) {
  const [positive_band, setBands] = useState<string[]>([])
  const [cost, setCost] = useState<number | string>('')
  // Debounced, so that a request is not sent for each digit.
  const [typed] = useDebouncedValue(cost, 300)
  const query = {
    ...(positive_band.length > 0 && { positive_band }),
    ...(typeof typed === 'number' && typed >= 1 && { cost_per_hit: Math.round(typed) }),
  }
  const { data } = useQuery({
    queryKey: ['definitions', 'rule', 'performance', rule_key, query],
    queryFn: ({ signal }) =>
      probity.GET('/api/rules/{rule_key}/performance', { params: { path: { rule_key }, query }, signal }),
    placeholderData: keepPreviousData,
  })
  return (
    <Stack gap="md">
      <Group gap="sm" align="flex-end">
        <TagsInput
          label="Bands that confirm a hit"
          description="A hit counts as true if an override set one of these bands."
          maxTags={20}
          data={data?.total.outcomes.map(({ band }) => band) ?? []}
          value={positive_band}
          onChange={setBands}
        />
        <NumberInput
          label="Review cost per hit"
          description="In the smallest currency unit."
          min={1}
          max={1_000_000_000_000}
          value={cost}
          onChange={setCost}
        />
      </Group>
      {data === undefined ? <ListSkeleton /> : <Figures of={data} />}
    </Stack>
  )
}

function Figures({ of }: { readonly of: Performance }) {
  const { total, versions } = of
  const hasTwoOwners = new Set(versions.map(({ origin }) => origin)).size > 1
  if (total.decisions === 0)
    return (
      <EmptyState
        title="No decisions in the last 90 days"
        about="Performance shows how often the rule hits and how often people confirm it. It appears after the first evaluation with this rule."
      />
    )
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="sm">
        <Value name="hit rate" of={total.hit_rate_bps} format={percent} />
        <Value name="true positives" of={total.true_positives} format={String} />
        <Value name="true positive rate of reviewed hits" of={total.true_positive_rate_bps} format={percent} />
        <Value
          name="cost per true positive"
          of={total.cost_per_true_positive}
          format={(value) => value.toLocaleString('en')}
        />
      </SimpleGrid>
      <PlainTable
        label="Performance by version"
        empty={null}
        head={[
          { name: 'Version' },
          { name: 'Decisions' },
          { name: 'Hits' },
          { name: 'Reviewed', from: 'sm' },
          { name: 'True positive rate', from: 'sm' },
        ]}
      >
        {versions.map((one) => (
          <Table.Tr key={`${one.version} ${one.origin}`}>
            <Table.Td>
              {one.version}
              {hasTwoOwners && ` (${one.origin})`}
            </Table.Td>
            <Table.Td>{one.decisions.toLocaleString('en')}</Table.Td>
            <Table.Td>
              {one.hits.toLocaleString('en')}
              {one.hit_rate_bps.value !== null && ` (${percent(one.hit_rate_bps.value)})`}
            </Table.Td>
            <Table.Td visibleFrom="sm">{formatCount(one.subjects_judged, 'subject')}</Table.Td>
            <Table.Td visibleFrom="sm">
              {one.true_positive_rate_bps.value === null ? 'unknown' : percent(one.true_positive_rate_bps.value)}
            </Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
      <Text size="xs" c="dimmed">
        Decisions and batch items since <DateTime at={of.from_at} />
        {of.complete ? '.' : '; only the latest are counted.'}
      </Text>
    </Stack>
  )
}

interface ValueProps {
  readonly name: string
  readonly of: Known
  readonly format: (value: number) => string
}

function Value({ name, of, format }: ValueProps) {
  return (
    <div>
      <Text size="xl" fw={700} lh={1.1} className="number">
        {of.value === null ? 'unknown' : format(of.value)}
      </Text>
      <Text size="xs" c="dimmed">
        {of.unknown === null ? name : reasons[of.unknown]}
      </Text>
    </div>
  )
}
