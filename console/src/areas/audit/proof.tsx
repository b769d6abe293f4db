/** The result of a verification: what was verified, and findings with their positions. */
import { Alert, Button, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime, formatDuration } from '#console/ui/date-time.tsx'
import { formatCount } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { saveJson, toFileTimestamp } from '#console/ui/save-file.ts'
import { Facts, Section } from '#console/ui/section.tsx'

type Report = NonNullable<Schemas['AuditVerificationReport']>
type Fault = Report['faults'][number]

export interface ProofFacts {
  readonly verification: Schemas['AuditVerification']
  readonly report: Report
  readonly job: Schemas['Job']
  readonly keys: Pick<Schemas['AuditCheckpoints'], 'key_id' | 'public_key' | 'earlier_keys'>
}

const MAX_SHOWN_FAULTS = 100

export function Proof(facts: ProofFacts) {
  const { report } = facts
  return (
    <Stack gap="md">
      <Alert
        color={report.intact ? 'teal' : 'red'}
        title={report.intact ? 'The audit record is intact' : 'The audit record is not intact'}
        icon={<Icon name={report.intact ? 'check' : 'warning'} />}
        role="status"
      >
        {report.intact
          ? `All ${formatCount(report.events, 'event')} are unaltered: none was changed, removed, replaced or inserted.`
          : `${formatCount(report.faults_total, 'finding')}: the audit record was changed outside the service. See the findings below.`}
      </Alert>
      {report.intact && <Reasons report={report} />}
      {!report.intact && <Faults report={report} />}
      <ProofSection {...facts} />
    </Stack>
  )
}

function Reasons({ report }: { readonly report: Report }) {
  const last = report.head_seq.toLocaleString('en')
  const reasons = [
    `Hashes 1 to ${last} form a chain without gaps, and each was recomputed from its event.`,
    'Every event has a message authentication code that only this service can create. All codes are valid.',
    `The chain ends at ${last}, as its authenticated end states: nothing was removed from the end.`,
    report.checkpoints > 0 &&
      `${formatCount(report.checkpoints, 'signed checkpoint')} ${report.checkpoints === 1 ? 'matches' : 'match'} the hashes of the chain.`,
    report.unsealed > 0 &&
      `${formatCount(report.unsealed, 'event is', 'events are')} authentic and not yet part of the chain.`,
  ]
  return (
    <Section title="What was verified">
      <ul className="checks">
        {reasons
          .filter((reason) => typeof reason === 'string')
          .map((reason) => (
            <li key={reason}>
              <Icon name="check" size={16} className="good" />
              <Text size="sm">{reason}</Text>
            </li>
          ))}
      </ul>
    </Section>
  )
}

function ProofSection({ verification, report, job, keys }: ProofFacts) {
  const save = () =>
    saveJson(`audit-proof-${toFileTimestamp(verification.created_at)}.json`, {
      ...verification,
      finished_at: job.finished_at,
      keys,
    })
  return (
    <Section
      title="Evidence"
      actions={
        <Button size="xs" variant="default" onClick={save}>
          Download
        </Button>
      }
    >
      <Facts
        of={[
          ['Events', report.events.toLocaleString('en')],
          ['Sequence', report.head_seq === 0 ? 'none yet' : `1 to ${report.head_seq.toLocaleString('en')}`],
          ['Head hash', <CopyValue key="hash" value={report.head_hash} name="the head hash" />],
          ['Signature key', <CopyValue key="key" value={keys.public_key} name="the public key" />],
          [
            'Key id',
            <span key="id" className="mono">
              {keys.key_id}
            </span>,
          ],
          keys.earlier_keys.length > 0 && ['Earlier keys', keys.earlier_keys.map(({ key_id }) => key_id).join(', ')],
          ['Checkpoints', report.checkpoints.toLocaleString('en')],
          ['Verified', job.finished_at && <DateTime at={job.finished_at} />],
          ['Duration', job.started_at && job.finished_at && formatDuration(job.started_at, job.finished_at)],
          ['Requested by', <Principal key="by" of={verification.created_by} />],
        ]}
      />
      <Text size="sm" c="dimmed" mt="sm">
        Store the head hash and the key outside this system. An export contains the same chain:{' '}
        <span className="mono">npx probity verify audit FILE --key {keys.public_key.slice(0, 6)}…</span> verifies it
        without this service.
      </Text>
    </Section>
  )
}

const faultTexts: Readonly<Record<Fault['fault'], string>> = {
  link_missing: 'A chain entry was removed',
  link_altered: 'A chain entry was altered',
  event_missing: 'An event was removed',
  event_altered: 'An event was altered',
  event_not_authentic: 'An event was not written by this service',
  event_planted: 'An event was inserted',
  chain_truncated: 'The end of the chain was removed',
  head_altered: 'The end of the chain was altered',
  checkpoint_altered: 'A checkpoint was altered',
  checkpoint_contradicted: 'The chain contradicts a signed checkpoint',
}

function Faults({ report }: { readonly report: Report }) {
  const listed = report.faults.slice(0, MAX_SHOWN_FAULTS)
  return (
    <Section title="Findings">
      <Table aria-label="Findings" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Position</Table.Th>
            <Table.Th>Finding</Table.Th>
            <Table.Th>Evidence</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {listed.map((fault, place) => (
            <Table.Tr key={`${fault.fault}-${fault.seq}-${place}`}>
              <Table.Td>
                <FaultLocation fault={fault} />
              </Table.Td>
              <Table.Td>{faultTexts[fault.fault]}</Table.Td>
              <Table.Td>{fault.detail}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {report.faults_total > listed.length && (
        <Text size="sm" mt="xs">
          And {formatCount(report.faults_total - listed.length, 'more finding')}: download the evidence to see up to
          1,000.
        </Text>
      )}
    </Section>
  )
}

function FaultLocation({ fault: { seq, event_id, fault } }: { readonly fault: Fault }) {
  const place = seq === null ? 'not in the chain' : `position ${seq.toLocaleString('en')}`
  if (event_id === null || fault === 'event_missing') return place
  return (
    <PageLink to={`/audit/events/${event_id}`} size="sm">
      {place}
    </PageLink>
  )
}
