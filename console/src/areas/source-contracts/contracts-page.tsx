/** All source contracts with the version in force, what waits in quarantine, drift and the last payload. */
import { Badge, Group, Table } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import {
  contractKind,
  type DefinitionItem,
  definitionsQuery,
  getDefinitionKey,
} from '#console/ui/decision/definition-kind.ts'
import { AttentionMark } from '#console/ui/definition/definition-marks.tsx'
import { ActiveVersion, DefinitionName, DraftLink } from '#console/ui/definition/row-cells.tsx'
import { formatCount } from '#console/ui/format.ts'
import { ButtonLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { SearchButton, SearchLink } from '#console/ui/search-link.tsx'
import { SearchableList } from '#console/ui/searchable-list.tsx'
import { activityQuery } from './contract-queries.ts'
import { ResultBadge } from './result-badge.tsx'

type Activity = Schemas['ContractActivity']

export default function ContractsPage() {
  const may = usePermission()
  const canSeePayloads = may('listSourceContractActivity')
  const { data: all } = useSuspenseQuery({ ...definitionsQuery(contractKind), refetchInterval: 30_000 })
  const { data: activity } = useQuery({ ...activityQuery, enabled: canSeePayloads })
  const byKey = new Map(activity?.items.map((one) => [one.contract_key, one]))
  const waiting = activity?.open_quarantine ?? 0
  // Payloads are judged by the contract in force under their key: an own one replaces the shared one.
  const decides = (one: DefinitionItem): boolean =>
    one.active !== null &&
    (one.origin === 'own' ||
      !all.some(
        (other) => other.origin === 'own' && other.active !== null && getDefinitionKey(other) === getDefinitionKey(one),
      ))
  return (
    <Page
      title="Source contracts"
      about="What the answers of providers must look like, and which facts decisions may read from them. An answer that breaks its contract goes into quarantine and no decision uses it."
      actions={
        <>
          {may('listQuarantinedPayloads') && (
            <ButtonLink to="/source-contracts/quarantine" variant="default">
              Quarantine{waiting > 0 && ` (${waiting.toLocaleString('en')})`}
            </ButtonLink>
          )}
          {may('createSourceContract') && <ButtonLink to="/source-contracts/new">New contract</ButtonLink>}
        </>
      }
    >
      <SearchableList
        {...contractKind}
        items={all}
        searchedBy="name or owner"
        toTexts={(one) => [getDefinitionKey(one), one.title, one.owner]}
        head={[
          { name: 'Contract' },
          { name: 'In force' },
          ...(canSeePayloads
            ? ([{ name: 'Quarantine' }, { name: 'Drift', from: 'sm' }, { name: 'Last payload', from: 'md' }] as const)
            : []),
          { name: 'Draft', from: 'md' },
          { name: 'Status', from: 'lg' },
        ]}
        empty={{
          title: 'No source contracts yet',
          about:
            'A contract says what the answers of a provider must look like. Start from a few answers that you have received: fields, formats and personal data are proposed from them.',
          action: may('createSourceContract') && <StartButtons />,
        }}
      >
        {(one) => (
          <Row
            key={`${one.origin} ${getDefinitionKey(one)}`}
            one={one}
            canSeePayloads={canSeePayloads}
            activity={decides(one) ? byKey.get(getDefinitionKey(one)) : undefined}
          />
        )}
      </SearchableList>
    </Page>
  )
}

function StartButtons() {
  return (
    <Group gap="xs" justify="center">
      <SearchButton to="/source-contracts/new" search={{ from: 'samples' }} size="xs">
        Start from sample payloads
      </SearchButton>
      <SearchButton to="/source-contracts/new" search={{ from: 'odcs' }} size="xs" variant="default">
        Import an ODCS document
      </SearchButton>
    </Group>
  )
}

interface RowProps {
  readonly one: DefinitionItem
  readonly canSeePayloads: boolean
  readonly activity: Activity | undefined
}

function Row({ one, canSeePayloads, activity }: RowProps) {
  const key = getDefinitionKey(one)
  return (
    <Table.Tr>
      <Table.Td>
        <DefinitionName kind={contractKind} of={one} />
      </Table.Td>
      <Table.Td>
        <ActiveVersion of={one} />
      </Table.Td>
      {canSeePayloads && <ActivityCells contract_key={key} origin={one.origin} of={activity} />}
      <Table.Td visibleFrom="md">
        <DraftLink kind={contractKind} of={one} />
      </Table.Td>
      <Table.Td visibleFrom="lg">
        <AttentionMark of={one} />
      </Table.Td>
    </Table.Tr>
  )
}

interface ActivityCellsProps {
  readonly contract_key: string
  readonly origin: 'own' | 'shared'
  readonly of: Activity | undefined
}

function ActivityCells({ contract_key, origin, of }: ActivityCellsProps) {
  const { open_quarantine = 0, drift_findings = 0, last_payload_at = null, last_result = null } = of ?? {}
  return (
    <>
      <Table.Td>
        {open_quarantine === 0 ? (
          <span className="quiet">none</span>
        ) : (
          <SearchLink to="/source-contracts/quarantine" search={{ contract: contract_key }} size="sm">
            <Badge variant="light" color="red" tt="none" miw="max-content">
              {open_quarantine.toLocaleString('en')} open
            </Badge>
          </SearchLink>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {drift_findings === 0 ? (
          <span className="quiet">none</span>
        ) : (
          <SearchLink to={`/source-contracts/${contract_key}`} search={{ tab: 'drift', origin }} size="sm">
            {formatCount(drift_findings, 'finding')}
          </SearchLink>
        )}
      </Table.Td>
      <Table.Td visibleFrom="md">
        <RelativeTime at={last_payload_at} never="none yet" />
        {last_result !== null && (
          <div>
            <ResultBadge result={last_result} />
          </div>
        )}
      </Table.Td>
    </>
  )
}
