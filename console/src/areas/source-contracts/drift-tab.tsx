/** How payloads changed since the first ones of a version: what was so before, and what is so now. */
import './source-contracts.css'
import { Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSuspenseQuery } from '@tanstack/react-query'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { Section } from '#console/ui/section.tsx'
import { DriftSeen } from './acknowledge-drift.tsx'
import { driftQuery } from './contract-queries.ts'
import { describeDrift, driftTitles, getDriftShares } from './drift-texts.ts'

type Drift = Schemas['ContractDrift']
type Finding = Drift['items'][number]

export function DriftTab({ contract_key }: { readonly contract_key: string }) {
  const { data } = useSuspenseQuery(driftQuery(contract_key))
  return (
    <Stack gap="md">
      <Text size="sm">
        Payloads are compared with the first ones that arrived under a version. Nothing is refused because of drift: it
        says what the provider changed, before a decision depends on it.
      </Text>
      <PlainTable
        label="Drift findings"
        empty={{
          title: 'No drift found',
          about:
            'Payloads look as they did at first. A comparison needs two windows of at least 30 records; a window closes after 1,000 payloads or a day.',
        }}
        head={[
          { name: 'What changed' },
          { name: 'Before' },
          { name: 'Now' },
          { name: 'Compared', from: 'md' },
          { name: 'Found', from: 'sm' },
          { name: 'First payload', from: 'lg' },
          { name: 'Seen' },
        ]}
      >
        {data.items.map((finding) => (
          <FindingRow key={finding.finding_id} contract_key={contract_key} finding={finding} />
        ))}
      </PlainTable>
      {data.next_cursor !== null && (
        <Text size="xs" c="dimmed">
          Only the newest {data.items.length} findings are shown.
        </Text>
      )}
      <Windows of={data.windows} />
    </Stack>
  )
}

function FindingRow({ contract_key, finding }: { readonly contract_key: string; readonly finding: Finding }) {
  const [before, now] = describeDrift(finding)
  const shares = getDriftShares(finding)
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500}>
          {driftTitles[finding.kind]}
        </Text>
        <span className="pointer">{finding.pointer}</span>
      </Table.Td>
      <Table.Td>{before}</Table.Td>
      <Table.Td>{now}</Table.Td>
      <Table.Td visibleFrom="md">{shares && <ShareBars before={shares[0]} now={shares[1]} />}</Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={finding.created_at} />
        <Text size="xs" c="dimmed">
          version {finding.contract_version}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="lg">
        {finding.first_payload_id === null ? (
          <span className="quiet">–</span>
        ) : (
          <Text size="xs" className="mono" title={finding.first_payload_id}>
            …{finding.first_payload_id.slice(-8)}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <DriftSeen contract_key={contract_key} finding={finding} />
      </Table.Td>
    </Table.Tr>
  )
}

/** The words beside it say the same. */
function ShareBars({ before, now }: { readonly before: number; readonly now: number }) {
  const bar = (share: number, name: string) => (
    <div className="share-track">
      <div className={`share-fill ${name}`} style={{ width: `${Math.max(1, 100 * share)}%` }} />
    </div>
  )
  return (
    <div className="share-bars" aria-hidden="true">
      <span className="quiet">before</span>
      {bar(before, 'share-fill-before')}
      <span />
      <span className="quiet">now</span>
      {bar(now, '')}
      <span />
    </div>
  )
}

function Windows({ of }: { readonly of: Drift['windows'] }) {
  return (
    <Section title="Compared windows">
      <PlainTable
        label="Windows"
        empty={{
          title: 'Nothing counted yet',
          about: 'Statistics are collected a few minutes after the first payloads of a version in force.',
        }}
        head={[
          { name: 'Opened' },
          { name: 'Closed', from: 'sm' },
          { name: 'Payloads' },
          { name: 'Version', from: 'sm' },
          { name: 'Part', from: 'sm' },
        ]}
      >
        {of.map((window) => (
          <Table.Tr key={window.window_id}>
            <Table.Td>
              <RelativeTime at={window.opened_at} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              {window.closed_at === null ? 'still open' : <RelativeTime at={window.closed_at} />}
            </Table.Td>
            <Table.Td>
              {window.payload_count.toLocaleString('en')}
              <Text size="xs" c="dimmed">
                {formatCount(window.record_count, 'record')}
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="sm">{window.contract_version}</Table.Td>
            <Table.Td visibleFrom="sm">
              {window.is_baseline ? 'baseline' : window.state === 'open' ? 'being collected' : 'compared'}
            </Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
    </Section>
  )
}
