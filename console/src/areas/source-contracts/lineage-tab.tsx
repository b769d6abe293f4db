/** Where each fact comes from and what reads it: pointer, fact, and the inputs of matrices and rules. */
import './source-contracts.css'
import { Alert, Badge, Group, Stack, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSuspenseQuery } from '@tanstack/react-query'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PlainTable } from '#console/ui/plain-table.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { lineageQuery } from './contract-queries.ts'

type Item = Schemas['LineageItem']

const verdicts = ['scored', 'enforced', 'kept_only', 'never_seen', 'undeclared'] as const
const verdictTexts: Readonly<Record<Item['verdict'], readonly [color: string, words: string, about: string]>> = {
  scored: ['teal', 'used in decisions', 'A matrix or rule in force reads it.'],
  enforced: ['cyan', 'checked', 'A list or a check tests it; no decision reads it.'],
  kept_only: ['gray', 'kept only', 'It is collected and nothing uses it.'],
  never_seen: ['yellow', 'never seen', 'It is declared and did not arrive in 90 days.'],
  undeclared: ['orange', 'undeclared', 'It arrives and the contract does not declare it.'],
}

interface LineageTabProps {
  readonly contract_key: string
  readonly hasActive: boolean
}

export function LineageTab({ contract_key, hasActive }: LineageTabProps) {
  if (!hasActive)
    return (
      <EmptyState
        title="No version in force"
        about="Lineage follows the fields of the version in force to the facts and to the matrices and rules that read them."
      />
    )
  return <Lineage contract_key={contract_key} />
}

function Lineage({ contract_key }: { readonly contract_key: string }) {
  const { data } = useSuspenseQuery(lineageQuery(contract_key))
  const verdict = useFilter('verdict', verdicts)
  const rows = data.items.filter((item) => verdict === undefined || item.verdict === verdict)
  return (
    <Stack gap="sm">
      <Text size="sm">
        Version {data.version},{' '}
        {data.records === 0 ? 'no payloads counted yet' : `${formatCount(data.records, 'record')} of the last 90 days`}.
      </Text>
      {data.personal_unread.length > 0 && (
        <Alert color="yellow" title="Personal data that nothing reads" role="status">
          <Text size="sm">
            {data.personal_unread.length === 1 ? 'This field is' : 'These fields are'} collected and no matrix or rule
            in force reads {data.personal_unread.length === 1 ? 'it' : 'them'}. Ask the provider to leave{' '}
            {data.personal_unread.length === 1 ? 'it' : 'them'} out where possible:{' '}
            <span className="pointer">{data.personal_unread.join(', ')}</span>
          </Text>
        </Alert>
      )}
      <Group gap="xs">
        <Filter name="verdict" label="Use" values={verdicts} everything="Any use" />
      </Group>
      <PlainTable
        label="Lineage"
        empty={{
          title: 'No fields declared',
          about: 'The schema of a record declares no fields, and none arrived yet.',
          filters: ['verdict'],
        }}
        head={[
          { name: 'Field of the payload' },
          { name: 'Fact' },
          { name: 'Read by' },
          { name: 'Share of records', from: 'sm' },
          { name: 'Use', from: 'sm' },
        ]}
      >
        {rows.map((item) => (
          <LineageRow key={item.pointer} item={item} />
        ))}
      </PlainTable>
    </Stack>
  )
}

function LineageRow({ item }: { readonly item: Item }) {
  const [color, words, about] = verdictTexts[item.verdict]
  return (
    <Table.Tr>
      <Table.Td>
        <span className="pointer">{item.pointer}</span>
        {item.personal && (
          <Badge variant="light" color="grape" tt="none" ml={6} miw="max-content">
            personal
          </Badge>
        )}
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {words}
        </Text>
      </Table.Td>
      <Table.Td>{item.facts.join(', ') || <span className="quiet">–</span>}</Table.Td>
      <Table.Td>
        {item.read_by.length === 0 ? (
          <span className="quiet">–</span>
        ) : (
          <ul className="plain-list">
            {item.read_by.map((reader) => (
              <li key={`${reader.family} ${reader.key} ${reader.version} ${reader.input}`}>
                <Reader of={reader} />
              </li>
            ))}
          </ul>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {item.collected === null ? <span className="quiet">–</span> : <Share of={item.collected} />}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <Badge variant="light" color={color} tt="none" miw="max-content" title={about}>
          {words}
        </Badge>
      </Table.Td>
    </Table.Tr>
  )
}

const folders: Readonly<Record<string, string>> = { matrix: '/matrices', rule: '/rules' }

function Reader({ of }: { readonly of: Item['read_by'][number] }) {
  const folder = folders[of.family]
  const name = `${of.key} version ${of.version}`
  return (
    <Text size="sm" component="span">
      {folder === undefined ? (
        name
      ) : (
        <SearchLink to={`${folder}/${of.key}`} search={{ tab: 'reading', version: of.version }} inherit>
          {name}
        </SearchLink>
      )}
      <span className="quiet">
        , input {of.input}
        {!of.is_active && ', not in force'}
      </span>
    </Text>
  )
}

function Share({ of }: { readonly of: number }) {
  const percent = `${(100 * of).toLocaleString('en', { maximumFractionDigits: 1 })} %`
  return (
    <div className="share-bar">
      <div className="share-track" aria-hidden="true">
        <div className="share-fill" style={{ width: percent.replace(' ', '') }} />
      </div>
      <span>{percent}</span>
    </div>
  )
}
