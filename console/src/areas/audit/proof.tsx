/** The outcome of a verification, in words a person can check: what was compared, what it says, and where it does not fit. */
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
        title={report.intact ? 'The record is intact' : 'The record is not intact'}
        icon={<Icon name={report.intact ? 'check' : 'warning'} />}
        role="status"
      >
        {report.intact
          ? `All ${formatCount(report.events, 'event')} are as they were recorded: none was changed, removed, exchanged or slipped in.`
          : `${formatCount(report.faults_total, 'finding')}: something was changed behind the back of the service. The places are named below.`}
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
    `Links 1 to ${last} follow each other without a gap, and each was computed again from the event it seals.`,
    'Every event carries a code that only this service can make. All of them fit.',
    `The chain ends at ${last}, where its authenticated end says it does: nothing was cut off.`,
    report.checkpoints > 0 &&
      `${formatCount(report.checkpoints, 'signed checkpoint')} made along the way ${report.checkpoints === 1 ? 'states' : 'state'} the same hashes.`,
    report.unsealed > 0 &&
      `${formatCount(report.unsealed, 'event is', 'events are')} newer than the end of the chain, authentic, and about to be sealed.`,
  ]
  return (
    <Section title="Why that can be believed">
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
      title="The proof"
      aside={
        <Button size="xs" variant="default" onClick={save}>
          Save as a file
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
          ['Took', job.started_at && job.finished_at && formatDuration(job.started_at, job.finished_at)],
          ['Asked for by', <Principal key="by" of={verification.created_by} />],
        ]}
      />
      <Text size="sm" c="dimmed" mt="sm">
        Keep the head hash and the key outside this system. An export carries the same chain:{' '}
        <span className="mono">npx probity verify audit FILE --key {keys.public_key.slice(0, 6)}…</span> checks it
        without this service.
      </Text>
    </Section>
  )
}

const faultTexts: Readonly<Record<Fault['fault'], string>> = {
  link_missing: 'A link was removed',
  link_altered: 'A link was altered',
  event_missing: 'An event was removed',
  event_altered: 'An event was altered',
  event_not_authentic: 'An event was not written by this service',
  event_planted: 'An event was slipped in',
  chain_truncated: 'The end was cut off',
  head_altered: 'The end was altered',
  checkpoint_altered: 'A checkpoint was altered',
  checkpoint_contradicted: 'A signed checkpoint says otherwise',
}

function Faults({ report }: { readonly report: Report }) {
  const shown = report.faults.slice(0, MAX_SHOWN_FAULTS)
  return (
    <Section title="What does not fit">
      <Table aria-label="What does not fit" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Where</Table.Th>
            <Table.Th>What</Table.Th>
            <Table.Th>How it shows</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map((fault, place) => (
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
      {report.faults_total > shown.length && (
        <Text size="sm" mt="xs">
          And {formatCount(report.faults_total - shown.length, 'more finding')}: save the proof to see up to a thousand.
        </Text>
      )}
    </Section>
  )
}

function FaultLocation({ fault: { seq, event_id, fault } }: { readonly fault: Fault }) {
  const place = seq === null ? 'not in the chain' : `link ${seq.toLocaleString('en')}`
  if (event_id === null || fault === 'event_missing') return place
  return (
    <PageLink to={`/audit/events/${event_id}`} size="sm">
      {place}
    </PageLink>
  )
}
