/** One payload in quarantine: its violations beside the payload, what can be done, and what happened to it. */
import '#console/ui/registry.css'
import './source-contracts.css'
import { Alert, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { contractKind, definitionQuery } from '#console/ui/decision/definition-kind.ts'
import { describeKeyword, toPayloadPointer } from '#console/ui/definition/violations.ts'
import { formatSize } from '#console/ui/file-drop.tsx'
import { formatCount, toSentence } from '#console/ui/format.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { LocatedJson } from '#console/ui/located-json.tsx'
import { Page } from '#console/ui/page.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { quarantineItemQuery } from './contract-queries.ts'
import { ViolationText } from './payload-tester.tsx'
import { QuarantineActions } from './quarantine-actions.tsx'
import { resolutionTexts, StateMark } from './quarantine-page.tsx'
import { ResultBadge } from './result-badge.tsx'

type Item = Schemas['QuarantinedPayload']

export default function QuarantineItemPage() {
  const { payload_id = '' } = useParams({ strict: false }) as { payload_id?: string }
  const may = usePermission()
  const { data: item } = useSuspenseQuery(quarantineItemQuery(payload_id))
  const isAdmitted = item.admissions[0]?.result !== 'quarantined'
  return (
    <Page
      title={`Payload of ${item.contract_key}`}
      mark={<StateMark item={item} />}
      about={
        <>
          Received <DateTime at={item.received_at} />. That you opened it is recorded in the audit record.
        </>
      }
      trail={
        <>
          <PageLink to="/source-contracts" inherit>
            Source contracts
          </PageLink>{' '}
          /{' '}
          <PageLink to="/source-contracts/quarantine" inherit>
            Quarantine
          </PageLink>
        </>
      }
      actions={
        may('reprocessQuarantinedPayload') && !isAdmitted && <QuarantineActions items={[item]} onDone={() => {}} />
      }
      restriction_id={item.restriction_id}
    >
      <Stack gap="md">
        <Afterwards item={item} />
        <ViolationsAndPayload item={item} />
        <Details item={item} />
        <Admissions item={item} />
      </Stack>
    </Page>
  )
}

/** How it was resolved, and what to do next. */
function Afterwards({ item }: { readonly item: Item }) {
  const may = usePermission()
  const { data: contract } = useQuery({
    ...definitionQuery(contractKind, item.contract_key, 'own'),
    enabled: item.resolution === 'widened',
    throwOnError: false,
  })
  if (item.resolution === null || item.resolved_at === null) return null
  const isAdmitted = item.admissions[0]?.result !== 'quarantined'
  return (
    <Alert color={isAdmitted ? 'teal' : 'cyan'} title={toSentence(resolutionTexts[item.resolution])} role="status">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          <DateTime at={item.resolved_at} />, by <Principal of={item.resolved_by ?? ''} />
          {item.reason !== null && <>: “{item.reason}”</>}
        </Text>
        {item.resolution === 'widened' && !isAdmitted && (
          <Text size="sm">
            Publish the widened draft, put it in force and check this payload again: only then can decisions use it.
          </Text>
        )}
        {contract?.draft && may('updateSourceContractDraft') && (
          <ButtonLink to={`/source-contracts/${item.contract_key}/draft`} size="xs" variant="default">
            Open the draft
          </ButtonLink>
        )}
        {isAdmitted && (
          <Text size="sm">The payload is admitted now. Decisions that were made before have not changed.</Text>
        )}
      </Stack>
    </Alert>
  )
}

function ViolationsAndPayload({ item }: { readonly item: Item }) {
  const { violations, more_violations, records_at, payload, has_content } = item
  const marks = useMemo(
    () =>
      violations.map((violation) => ({
        pointer: toPayloadPointer(violation, records_at, payload),
        text: describeKeyword(violation),
      })),
    [violations, records_at, payload],
  )
  const list = (show?: (pointer: string) => void) => (
    <Section title={formatCount(violations.length + more_violations, 'violation')}>
      <ul className="faults plain-list">
        {violations.map((violation, place) => (
          <li key={`${violation.pointer} ${place}`}>
            <ViolationText
              violation={violation}
              {...(show && { onShow: (one) => show(toPayloadPointer(one, records_at, payload)) })}
            />
          </li>
        ))}
      </ul>
      {more_violations > 0 && (
        <Text size="xs" c="dimmed">
          {formatCount(more_violations, 'more violation')} not listed.
        </Text>
      )}
    </Section>
  )
  if (payload === null)
    return (
      <Stack gap="md">
        {list()}
        <Alert color="gray" title="The payload cannot be shown">
          {violations.some(({ code }) => code === 'credential_repeated')
            ? 'It repeats the credential of the provider, so it cannot be opened. Replace the credential and tell the provider.'
            : has_content
              ? 'It cannot be read as JSON or XML.'
              : 'Its content was removed by the retention policy. Hash, violations and admissions are kept.'}
        </Alert>
      </Stack>
    )
  return (
    <div className="violation-columns">
      <LocatedJson name="Payload" value={payload} marks={marks}>
        {list}
      </LocatedJson>
    </div>
  )
}

const sourceTexts: Readonly<Record<string, string>> = {
  provider_answer: 'answer of a provider',
  answer_with_credential: 'answer of a provider that repeats its credential',
}

function Details({ item }: { readonly item: Item }) {
  const may = usePermission()
  return (
    <Section title="Details">
      <Facts
        of={[
          [
            'Contract',
            <SearchLink
              key="contract"
              to={`/source-contracts/${item.contract_key}`}
              search={{ tab: 'reading', version: item.contract_version }}
              inherit
            >
              {item.contract_key}, version {item.contract_version}
            </SearchLink>,
          ],
          ['Comes from', sourceTexts[item.source_kind] ?? toSentence(item.source_kind)],
          item.call_id !== null &&
            may('getProviderCall') && [
              'Call',
              <PageLink key="call" to={`/providers/calls/${item.call_id}`} inherit>
                Open the call that it answers
              </PageLink>,
            ],
          ['Size', `${formatSize(item.byte_size)}, ${formatCount(item.record_count, 'record')}, ${item.media_type}`],
          ['Payload id', <CopyValue key="id" value={item.payload_id} name="the payload id" />],
        ]}
      />
      {item.payload !== null && (
        <Text size="xs" c="dimmed" mt="xs">
          Values of personal fields and of fields that the contract does not declare are left out.
        </Text>
      )}
    </Section>
  )
}

function Admissions({ item }: { readonly item: Item }) {
  return (
    <Section title="Admissions">
      <PlainTable
        label="Admissions"
        empty={null}
        head={[{ name: 'When' }, { name: 'Result' }, { name: 'Contract version' }, { name: 'By', from: 'sm' }]}
      >
        {item.admissions.map((admission) => (
          <Table.Tr key={admission.admission_id}>
            <Table.Td>
              <RelativeTime at={admission.created_at} />
            </Table.Td>
            <Table.Td>
              <ResultBadge result={admission.result} />
              {admission.incomplete && <Text size="xs">some records were refused</Text>}
            </Table.Td>
            <Table.Td>{admission.contract_version}</Table.Td>
            <Table.Td visibleFrom="sm">
              <Principal of={admission.created_by} />
            </Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
    </Section>
  )
}
