/** Equal violations of a contract counted together, with the quarantine behind them. */
import './source-contracts.css'
import { Group, Stack, Table, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { describeKeyword } from '#console/ui/definition/violations.ts'
import { PageLink } from '#console/ui/link.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { SearchButton, SearchLink } from '#console/ui/search-link.tsx'
import { driftQuery } from './contract-queries.ts'

export function ViolationsTab({ contract_key }: { readonly contract_key: string }) {
  const may = usePermission()
  const { data } = useSuspenseQuery(driftQuery(contract_key))
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm">Where payloads break this contract, the most recent first.</Text>
        {may('listQuarantinedPayloads') && (
          <SearchButton
            to="/source-contracts/quarantine"
            search={{ contract: contract_key }}
            size="xs"
            variant="default"
          >
            Open the quarantine of this contract
          </SearchButton>
        )}
      </Group>
      <PlainTable
        label="Violations"
        empty={{
          title: 'No violations so far',
          about: 'Every payload that arrived kept this contract, or none has arrived yet.',
        }}
        head={[
          { name: 'Violation' },
          { name: 'Place' },
          { name: 'Payloads' },
          { name: 'Version', from: 'sm' },
          { name: 'First and last seen', from: 'sm' },
          { name: 'First payloads', from: 'md' },
        ]}
      >
        {data.violations.map((group) => (
          <Table.Tr key={`${group.contract_version} ${group.pointer} ${group.keyword}`}>
            <Table.Td>
              <SearchLink
                to="/source-contracts/quarantine"
                search={{ contract: contract_key, violation: group.keyword, state: 'all' }}
                size="sm"
              >
                {describeKeyword(group)}
              </SearchLink>
            </Table.Td>
            <Table.Td className="pointer">{group.pointer || 'whole payload'}</Table.Td>
            <Table.Td>{group.violations.toLocaleString('en')}</Table.Td>
            <Table.Td visibleFrom="sm">{group.contract_version}</Table.Td>
            <Table.Td visibleFrom="sm">
              <RelativeTime at={group.first_seen} />, <RelativeTime at={group.last_seen} />
            </Table.Td>
            <Table.Td visibleFrom="md">
              <Group gap={8}>
                {group.samples.map((payload_id) => (
                  <PageLink key={payload_id} to={`/source-contracts/quarantine/${payload_id}`} size="sm">
                    {payload_id.slice(-6)}
                  </PageLink>
                ))}
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
    </Stack>
  )
}
