/** A version of a source contract: facts, limits, checks, examples and the schema, with a tester and the ODCS document. */
import './source-contracts.css'
import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { contractKind, type DefinitionView, textQuery } from '#console/ui/decision/definition-kind.ts'
import { describeInput } from '#console/ui/definition/editor/input-texts.ts'
import { NotInForceNote, Sentences } from '#console/ui/definition/version-text.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { formatSize } from '#console/ui/file-drop.tsx'
import { formatCount } from '#console/ui/format.ts'
import { JsonBlock } from '#console/ui/json-block.tsx'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { saveJson } from '#console/ui/save-file.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { type Contract, type Fact, formatAge, parseContract, unknownMemberTexts } from './contract-model.ts'
import { PayloadTester } from './payload-tester.tsx'

interface ContractTabProps {
  readonly contract_key: string
  readonly of: DefinitionView
  readonly version: number | 'draft' | null
}

export function ContractTab({ contract_key, of, version }: ContractTabProps) {
  if (version === null)
    return (
      <EmptyState
        title="No version or draft yet"
        about="A source contract is written in a draft, which is published as a version and put in force."
      />
    )
  return <ContractVersion contract_key={contract_key} of={of} version={version} />
}

function ContractVersion({ contract_key, of, version }: ContractTabProps & { readonly version: number | 'draft' }) {
  const may = usePermission()
  const { data: text } = useSuspenseQuery(textQuery(contractKind, contract_key, version, of.origin))
  const contract = parseContract(text.definition)
  return (
    <Stack gap="md">
      <NotInForceNote of={of} version={version} />
      <FactsTable contract={contract} />
      <Limits
        contract={contract}
        actions={version !== 'draft' && <OdcsButton contract_key={contract_key} version={version} of={of} />}
      />
      <ChecksSection contract={contract} />
      {/* The check uses the contract of the tenant or the shared one under the key, whichever the tenant has. */}
      {may('checkSourceContractPayload') && (
        <PayloadTester
          contract_key={contract_key}
          version={version}
          contract={contract}
          title={version === 'draft' ? 'Test a payload with the draft' : `Test a payload with version ${version}`}
        />
      )}
      <ExamplesSection contract={contract} />
      <Sentences title="Contract in sentences" lines={text.reading} />
      {contract.record && (
        <Section title="Schema of a record">
          <details className="fold">
            <summary>JSON Schema</summary>
            <JsonBlock value={contract.record} name="Schema of a record" />
          </details>
        </Section>
      )}
    </Stack>
  )
}

function FactsTable({ contract: { facts = [] } }: { readonly contract: Contract }) {
  return (
    <Section title="Facts that decisions may read">
      <PlainTable
        label="Facts"
        empty={{
          title: 'No facts declared',
          about:
            'Without facts nothing of a payload reaches a decision. Add the fields that matrices and rules need to the draft.',
        }}
        head={[{ name: 'Fact' }, { name: 'Taken from' }, { name: 'Kind', from: 'sm' }, { name: 'Marks', from: 'md' }]}
      >
        {facts.map((fact, place) => (
          <Table.Tr key={`${place} ${fact.name}`}>
            <Table.Td>
              <Text size="sm" fw={500}>
                {fact.title ?? fact.name}
              </Text>
              {fact.title !== undefined && (
                <Text size="xs" c="dimmed" className="mono">
                  {fact.name}
                </Text>
              )}
            </Table.Td>
            <Table.Td className="pointer">{fact.at}</Table.Td>
            <Table.Td visibleFrom="sm">
              <FactKind fact={fact} />
            </Table.Td>
            <Table.Td visibleFrom="md">
              <Group gap={4}>
                {fact.required && <Mark words="required" />}
                {fact.personal && <Mark words="personal" color="grape" />}
              </Group>
            </Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
    </Section>
  )
}

const Mark = ({ words, color = 'gray' }: { readonly words: string; readonly color?: string }) => (
  <Badge variant="light" color={color} tt="none" miw="max-content">
    {words}
  </Badge>
)

function FactKind({ fact }: { readonly fact: Fact }) {
  const { one_of, values } = fact
  return (
    <>
      <Text size="sm">{describeInput({ ...fact, title: fact.title ?? fact.name })}</Text>
      {one_of && (
        <SearchLink to={`/datasets/${one_of.list_key}`} search={{}} size="xs">
          list {one_of.list_key}
        </SearchLink>
      )}
      {values && (
        <Text size="xs" c="dimmed">
          {values.slice(0, 8).join(', ')}
          {values.length > 8 && ` and ${values.length - 8} more`}
        </Text>
      )}
    </>
  )
}

const provenanceWords = { source: 'its source', as_of: 'its date' } as const

function Limits({ contract, actions }: { readonly contract: Contract; readonly actions: ReactNode }) {
  const { records_at = '', provenance, freshness, unknown_members = 'note' } = contract
  const required = provenance?.required ?? []
  return (
    <Section title="What a payload looks like" actions={actions}>
      <Facts
        of={[
          [
            'Records',
            records_at === '' ? (
              'the payload is one record, or a list of them'
            ) : (
              <span className="pointer">{records_at}</span>
            ),
          ],
          [
            'Limits',
            `${formatCount(contract.max_records ?? 500, 'record')}, ${formatSize(contract.max_bytes ?? 2 * 1024 * 1024)}`,
          ],
          [
            'A bad record',
            contract.partial === 'record'
              ? 'is left out; the good ones are admitted and the result says that it is incomplete'
              : 'sends the whole payload into quarantine',
          ],
          ['Undeclared fields', unknownMemberTexts[unknown_members]],
          provenance?.source !== undefined && [
            'Source at',
            <span key="source" className="pointer">
              {provenance.source}
            </span>,
          ],
          provenance?.as_of !== undefined && [
            'Date at',
            <span key="as_of" className="pointer">
              {provenance.as_of}
            </span>,
          ],
          required.length > 0 && ['A payload must say', required.map((name) => provenanceWords[name]).join(' and ')],
          freshness !== undefined && ['Refused when older than', formatAge(freshness.max_age_s)],
          contract.capability !== undefined && [
            'Capability',
            <span key="capability" className="mono">
              {contract.capability}
            </span>,
          ],
        ]}
      />
    </Section>
  )
}

function ChecksSection({ contract: { checks = [] } }: { readonly contract: Contract }) {
  if (checks.length === 0) return null
  return (
    <Section title="Checks">
      <PlainTable label="Checks" empty={null} head={[{ name: 'Check' }, { name: 'Must hold' }, { name: 'Otherwise' }]}>
        {checks.map(({ key, title, when, else: otherwise }) => (
          <Table.Tr key={key}>
            <Table.Td>{title ?? key}</Table.Td>
            <Table.Td className="pointer">{when.map(({ of, test }) => `${of} ${test}`).join(' and ')}</Table.Td>
            <Table.Td>{otherwise === 'note' ? 'noted' : 'quarantine'}</Table.Td>
          </Table.Tr>
        ))}
      </PlainTable>
    </Section>
  )
}

function ExamplesSection({ contract }: { readonly contract: Contract }) {
  const { examples = [], counter_examples = [] } = contract
  if (examples.length + counter_examples.length === 0) return null
  return (
    <Section title="Examples">
      <Text size="sm" c="dimmed" mb="xs">
        A version is published only if every example is admitted and every counter-example is refused where it says.
      </Text>
      <Stack gap="xs">
        {examples.map(({ payload }, place) => (
          <details className="fold" key={`example ${place}`}>
            <summary>Example {place + 1}: admitted</summary>
            <JsonBlock value={payload} name={`Example ${place + 1}`} />
          </details>
        ))}
        {counter_examples.map(({ payload, violates }, place) => (
          <details className="fold" key={`counter-example ${place}`}>
            <summary>
              Counter-example {place + 1}: refused at <span className="pointer">{violates.join(', ')}</span>
            </summary>
            <JsonBlock value={payload} name={`Counter-example ${place + 1}`} />
          </details>
        ))}
      </Stack>
    </Section>
  )
}

interface OdcsButtonProps extends Pick<ContractTabProps, 'contract_key' | 'of'> {
  readonly version: number
}

/** A contract in the Open Data Contract Standard, for tools outside. */
function OdcsButton({ contract_key, version, of }: OdcsButtonProps) {
  const save = useApiMutation(
    () =>
      probity.GET('/api/source-contracts/{contract_key}/versions/{version}/odcs', {
        params: { path: { contract_key, version: String(version) }, query: { origin: of.origin } },
      }),
    { invalidates: [], onDone: (document) => saveJson(`${contract_key}-${version}.odcs.json`, document) },
  )
  return (
    <>
      <ProblemNote problem={save.problem} />
      <Button size="xs" variant="default" loading={save.isRunning} onClick={() => save.run(undefined)}>
        Download as ODCS
      </Button>
    </>
  )
}
