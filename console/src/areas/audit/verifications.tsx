/** Past verifications, including the daily automatic ones. */
import { Badge, Table } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { probity } from '#console/session/client.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { formatCount } from '#console/ui/format.ts'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'

type Summary = Schemas['AuditVerificationSummary']

export const verificationsKey = ['audit', 'verifications'] as const

export function Verifications() {
  const list = usePages(verificationsKey, (cursor, signal) =>
    probity.GET('/api/audit/verifications', { params: { query: { ...cursor, limit: 20 } }, signal }),
  )
  return (
    <Section title="Verification history">
      <ListTable
        label="Verifications"
        list={list}
        empty={{
          title: 'Not verified yet',
          about:
            'A verification recomputes the whole record. It runs automatically once a day; an auditor can start one.',
        }}
        head={[
          { name: 'When' },
          { name: 'Result' },
          { name: 'Events', from: 'sm' },
          { name: 'Requested by', from: 'sm' },
        ]}
        row={(item) => (
          <Table.Tr key={item.verification_id}>
            <Table.Td>
              <SearchLink to="/audit/verify" search={{ run: item.verification_id }} inherit>
                <DateTime at={item.created_at} />
              </SearchLink>
            </Table.Td>
            <Table.Td>
              <Result of={item} />
            </Table.Td>
            <Table.Td visibleFrom="sm">{item.events?.toLocaleString('en')}</Table.Td>
            <Table.Td visibleFrom="sm">
              {item.created_by.startsWith('job:') ? 'daily verification' : <Principal of={item.created_by} />}
            </Table.Td>
          </Table.Tr>
        )}
      />
    </Section>
  )
}

function Result({ of: { state, intact, faults_total } }: { readonly of: Summary }) {
  if (intact === null) return <StateBadge state={state} />
  return (
    <Badge variant="light" tt="none" miw="max-content" color={intact ? 'teal' : 'red'}>
      {intact ? 'intact' : formatCount(faults_total ?? 0, 'fault')}
    </Badge>
  )
}
