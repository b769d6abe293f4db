/** The answers of providers that a decision was made on: contract version, payload hash, call, and what a replay found. */
import { Alert, Badge, Group, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { TEST_DECISION_TEXT } from '#console/ui/decision/is-test.ts'
import { replayResultQuery } from '#console/ui/decision/replay.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'
import { inputsQuery } from './evaluation-queries.ts'

type Evaluation = Schemas['Evaluation']
type Evidence = Evaluation['evidence'][number]
type Replayed = Schemas['Replay']['evidence'][number]

const replayTexts: Readonly<Record<Replayed['payload'], readonly [color: string, words: string, about: string]>> = {
  verified: ['teal', 'verified', 'The stored answer has this hash, and the contract reads the same facts from it.'],
  removed: ['gray', 'answer removed', 'The retention policy removed the answer; the stored facts are the same.'],
  altered: ['red', 'altered', 'The answer, the contract or the facts are no longer what the decision used.'],
}
const modeTexts = {
  live: 'live',
  test: 'answer of the test environment',
  recorded: 'recorded answer',
  fixtures: 'test answer',
} as const

export function EvidenceSection({ one }: { readonly one: Evaluation }) {
  const may = usePermission()
  const { data: inputs } = useQuery({
    ...inputsQuery(one.evaluation_id),
    enabled: one.evidence.length > 0 && may('getEvaluationInputs'),
    throwOnError: false,
  })
  const { data: replayed } = useQuery(replayResultQuery(one.evaluation_id))
  if (one.evidence.length === 0) return null
  return (
    <Section title="Evidence from providers">
      <Stack gap="sm">
        {one.is_test && (
          <Alert color="yellow" role="status">
            {TEST_DECISION_TEXT}
          </Alert>
        )}
        <PlainTable
          label="Evidence"
          empty={null}
          head={[
            { name: 'Source contract' },
            { name: 'Gave the inputs' },
            { name: 'Call', from: 'sm' },
            { name: 'Payload hash', from: 'md' },
            { name: 'Replay' },
          ]}
        >
          {one.evidence.map((evidence) => (
            <EvidenceRow
              key={evidence.contract_key}
              evidence={evidence}
              call={inputs?.evidence_calls.find(({ contract_key }) => contract_key === evidence.contract_key)}
              replayed={replayed?.evidence.find(({ contract_key }) => contract_key === evidence.contract_key)}
            />
          ))}
        </PlainTable>
        <Text size="xs" c="dimmed">
          The hash is salted: it proves the answer to a reader of the decision document, and reveals nothing else.
        </Text>
      </Stack>
    </Section>
  )
}

interface EvidenceRowProps {
  readonly evidence: Evidence
  readonly call: Schemas['EvidenceCall'] | undefined
  readonly replayed: Replayed | undefined
}

const CallLink = ({ call_id }: { readonly call_id: string }) => (
  <PageLink to={`/providers/calls/${call_id}`} size="xs">
    Open the call
  </PageLink>
)

const PayloadHash = ({ hash }: { readonly hash: string }) => (
  <CopyValue value={hash.slice(0, 16)} name="the beginning of the payload hash" />
)

function EvidenceRow({ evidence, call, replayed }: EvidenceRowProps) {
  const { contract_key, contract_version, mode, inputs, payload_hash } = evidence
  return (
    <Table.Tr>
      <Table.Td>
        <SearchLink
          to={`/source-contracts/${contract_key}`}
          search={{ tab: 'reading', version: contract_version }}
          size="sm"
        >
          {contract_key}, version {contract_version}
        </SearchLink>
        <Text size="xs" c="dimmed">
          {modeTexts[mode]}
        </Text>
        {call !== undefined && (
          <Text size="xs" hiddenFrom="sm" component="div">
            {call.provider_key}: <CallLink call_id={call.call_id} />
          </Text>
        )}
        <Text size="xs" hiddenFrom="md" component="div">
          Hash <PayloadHash hash={payload_hash} />
        </Text>
      </Table.Td>
      <Table.Td>
        {inputs.map(({ input, fact }) => (input === fact ? input : `${input} (fact ${fact})`)).join(', ')}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {call === undefined ? (
          <span className="quiet">–</span>
        ) : (
          <>
            <Text size="sm">
              {call.provider_key}, {call.capability}
            </Text>
            <Text size="xs" c="dimmed">
              answered <DateTime at={call.answered_at} />
            </Text>
            <CallLink call_id={call.call_id} />
          </>
        )}
      </Table.Td>
      <Table.Td visibleFrom="md">
        <PayloadHash hash={payload_hash} />
      </Table.Td>
      <Table.Td>
        {replayed === undefined ? (
          <span className="quiet">not replayed yet</span>
        ) : (
          <Group gap={4}>
            <Badge
              variant="light"
              color={replayTexts[replayed.payload][0]}
              tt="none"
              miw="max-content"
              title={replayTexts[replayed.payload][2]}
            >
              {replayTexts[replayed.payload][1]}
            </Badge>
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
