/** Payloads that broke their contract, with filters, and actions on one or several of them. */
import './source-contracts.css'
import { Badge, Checkbox, Group, Select, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { contractKind, definitionsQuery, getDefinitionKey } from '#console/ui/decision/definition-kind.ts'
import { describeKeyword, formatViolationPlace, keywordTexts } from '#console/ui/definition/violations.ts'
import { KnownFilter, useFilter, useKnownFilter, useSetFilter } from '#console/ui/filters.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { QuarantineActions } from './quarantine-actions.tsx'

type Item = Schemas['QuarantineItem']

const states = ['open', 'resolved', 'all'] as const

export const resolutionTexts: Readonly<Record<NonNullable<Item['resolution']>, string>> = {
  widened: 'contract widened',
  provider_fault: 'fault of the provider',
  discarded: 'discarded',
  reprocessed: 'admitted when checked again',
}

function useContractChoices() {
  const { data } = useQuery({ ...definitionsQuery(contractKind), throwOnError: false })
  if (!data) return undefined
  const titles = new Map(data.map((one) => [getDefinitionKey(one), one.title]))
  return [...titles].map(([value, label]) => ({ value, label }))
}

export default function QuarantinePage() {
  const may = usePermission()
  const contracts = useContractChoices()
  const { value: contract_key } = useKnownFilter('contract', contracts)
  const { violation } = useSearch({ strict: false }) as { violation?: string }
  const state = useFilter('state', states) ?? 'open'
  const [chosen, setChosen] = useState<ReadonlyMap<string, Item>>(new Map())
  const list = usePages<Item>(['quarantine', 'list', contract_key, violation, state], (cursor, signal) =>
    probity.GET('/api/source-contracts/quarantine', {
      params: {
        query: {
          ...cursor,
          limit: 50,
          ...(contract_key !== undefined && { contract_key }),
          ...(violation !== undefined && { keyword: violation }),
          ...(state !== 'all' && { state }),
        },
      },
      signal,
    }),
  )
  const shown = list.data?.pages.flatMap(({ items }) => items) ?? []
  const selected = shown.filter(({ payload_id }) => chosen.has(payload_id))
  const canAct = may('reprocessQuarantinedPayload')
  function choose(items: readonly Item[], isChosen: boolean) {
    setChosen((now) => {
      const next = new Map(now)
      for (const item of items) {
        if (isChosen) next.set(item.payload_id, item)
        else next.delete(item.payload_id)
      }
      return next
    })
  }
  return (
    <Page
      title="Quarantine"
      about="Payloads that broke their source contract. No decision uses them. Violations say where, never which value."
      trail={
        <PageLink to="/source-contracts" inherit>
          Source contracts
        </PageLink>
      }
    >
      <Stack gap="sm">
        <QuarantineFilters contracts={contracts} state={state} violation={violation} />
        {canAct && (
          <Group gap="xs" mih={36}>
            <Checkbox
              size="xs"
              label={selected.length === 0 ? 'Select all shown' : `${formatCount(selected.length, 'payload')} selected`}
              checked={shown.length > 0 && selected.length === shown.length}
              indeterminate={selected.length > 0 && selected.length < shown.length}
              disabled={shown.length === 0}
              onChange={(event) => choose(shown, event.currentTarget.checked)}
            />
            {selected.length > 0 && <QuarantineActions items={selected} onDone={() => setChosen(new Map())} />}
          </Group>
        )}
        <ListTable
          label="Quarantined payloads"
          list={list}
          empty={{
            title: state === 'open' ? 'Nothing waits in quarantine' : 'No quarantined payloads',
            about:
              'Every payload that arrived keeps its contract, or was resolved. Payloads come here when a field is missing, a value is not allowed, or the data is too old.',
            filters: ['contract', 'violation', 'state'],
          }}
          head={[
            ...(canAct ? [{ name: 'Select', isHidden: true }] : []),
            { name: 'Received' },
            { name: 'Contract' },
            { name: 'Violations' },
            { name: 'State', from: 'sm' },
          ]}
          row={(item) => (
            <Table.Tr key={item.payload_id}>
              {canAct && (
                <Table.Td w={36}>
                  <Checkbox
                    size="xs"
                    aria-label={`Select the payload of ${item.contract_key} ${item.payload_id.slice(-6)}`}
                    checked={chosen.has(item.payload_id)}
                    onChange={(event) => choose([item], event.currentTarget.checked)}
                  />
                </Table.Td>
              )}
              <Table.Td className="nowrap">
                <PageLink to={`/source-contracts/quarantine/${item.payload_id}`} size="sm" fw={500}>
                  <RelativeTime at={item.received_at} />
                </PageLink>
                <RestrictionMark restriction_id={item.restriction_id} />
              </Table.Td>
              <Table.Td>
                {item.contract_key}
                <Text size="xs" c="dimmed">
                  version {item.contract_version}
                </Text>
              </Table.Td>
              <Table.Td>
                <ViolationSummary item={item} />
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <StateMark item={item} />
              </Table.Td>
            </Table.Tr>
          )}
        />
      </Stack>
    </Page>
  )
}

interface QuarantineFiltersProps {
  readonly contracts: ReturnType<typeof useContractChoices>
  readonly state: (typeof states)[number]
  readonly violation: string | undefined
}

const stateLabels = { open: 'Open', resolved: 'Resolved', all: 'Open and resolved' } as const

function QuarantineFilters({ contracts, state, violation }: QuarantineFiltersProps) {
  const set = useSetFilter()
  const keywords = Object.entries(keywordTexts).map(([value, label]) => ({ value, label: `${label} (${value})` }))
  const isUnknown = violation !== undefined && !(violation in keywordTexts)
  return (
    <Group gap="xs" align="flex-end">
      <KnownFilter name="contract" label="Contract" choices={contracts} everything="Any contract" />
      <Select
        size="xs"
        w={210}
        label="Kind of violation"
        placeholder="Any violation"
        clearable
        searchable
        value={violation ?? null}
        // The key of a check is a kind of violation too.
        data={isUnknown ? [...keywords, { value: violation, label: `Check “${violation}”` }] : keywords}
        onChange={(value) => set('violation', value)}
        clearButtonProps={{ 'aria-label': 'Clear kind of violation' }}
      />
      <Select
        size="xs"
        w={160}
        label="State"
        allowDeselect={false}
        value={state}
        data={states.map((value) => ({ value, label: stateLabels[value] }))}
        onChange={(value) => set('state', value === 'open' ? null : value)}
      />
    </Group>
  )
}

function ViolationSummary({ item }: { readonly item: Item }) {
  const [first, ...rest] = item.violations
  if (!first) return <span className="quiet">–</span>
  const more = rest.length + item.more_violations
  return (
    <>
      <Text size="sm">
        {describeKeyword(first)} at <span className="pointer">{formatViolationPlace(first)}</span>
      </Text>
      {more > 0 && (
        <Text size="xs" c="dimmed">
          and {formatCount(more, 'more violation')}
        </Text>
      )}
    </>
  )
}

export function StateMark({ item }: { readonly item: Pick<Item, 'state' | 'resolution'> }) {
  return (
    <Badge variant="light" color={item.state === 'open' ? 'red' : 'gray'} tt="none" miw="max-content">
      {item.resolution === null ? 'open' : resolutionTexts[item.resolution]}
    </Badge>
  )
}
