/** All own and shared lists with the version in force, number of entries and freshness. */
import { Button, Group, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useSuspenseQuery } from '@tanstack/react-query'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime, useNow } from '#console/ui/date-time.tsx'
import { SharedMark } from '#console/ui/definition/definition-marks.tsx'
import { Filter, useFilter } from '#console/ui/filters.tsx'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { Page } from '#console/ui/page.tsx'
import { type Dataset, datasetsQuery, useTypeTitles } from '#console/ui/registry-queries.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { SearchableList } from '#console/ui/searchable-list.tsx'
import { Freshness, getFreshness } from './freshness.tsx'
import { RegisterDialog } from './register-dialog.tsx'
import { entriesInForce, viaTexts } from './version-texts.ts'

const freshnessStates = ['fresh', 'due', 'out-of-date', 'no-limit', 'empty', 'archived'] as const

export default function DatasetsPage() {
  const may = usePermission()
  const [isRegistering, registering] = useDisclosure(false)
  const { data: datasets } = useSuspenseQuery({ ...datasetsQuery, refetchInterval: 30_000 })
  const freshness = useFilter('freshness', freshnessStates)
  const now_ms = useNow()
  const typeTitles = useTypeTitles()
  return (
    <Page
      title="Lists"
      about="Reference lists used by decisions. All versions and activations are kept."
      actions={
        <>
          {may('startImport') && (
            <ButtonLink to="/imports/new" variant="default">
              Import file
            </ButtonLink>
          )}
          {may('createDataset') && <Button onClick={registering.open}>New list</Button>}
        </>
      }
    >
      <SearchableList
        title="Lists"
        word="list"
        words="lists"
        items={datasets}
        searchedBy="name, type or owner"
        toTexts={({ list_key, title, type_key, owner }) => [
          list_key,
          title,
          type_key,
          typeTitles.get(type_key) ?? '',
          owner,
        ]}
        more={{
          names: ['freshness'],
          fields: <Filter name="freshness" label="Freshness" values={freshnessStates} everything="Any freshness" />,
          matches: (dataset) => freshness === undefined || getFreshness(dataset, now_ms) === freshness,
        }}
        head={[
          { name: 'List' },
          { name: 'Type', from: 'lg' },
          { name: 'In force' },
          { name: 'Entries', from: 'sm' },
          { name: 'Freshness' },
          { name: 'Scheduled', from: 'md' },
        ]}
        empty={{
          title: 'No lists yet',
          about:
            'Lists hold the policy that decisions use: countries, sanctions, risk bands. Create one and import a file into it.',
          action: may('createDataset') && (
            <Button size="xs" onClick={registering.open}>
              New list
            </Button>
          ),
        }}
      >
        {(dataset) => (
          <DatasetRow
            key={`${dataset.origin} ${dataset.list_key}`}
            dataset={dataset}
            typeTitle={typeTitles.get(dataset.type_key)}
          />
        )}
      </SearchableList>
      <RegisterDialog isOpen={isRegistering} onClose={registering.close} />
    </Page>
  )
}

interface DatasetRowProps {
  readonly dataset: Dataset
  /** Undefined until it is read. */
  readonly typeTitle: string | undefined
}

function DatasetRow({ dataset, typeTitle }: DatasetRowProps) {
  const { active, pending } = dataset
  const next = pending[0]
  const entries = entriesInForce(dataset)
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap={8} wrap="nowrap">
          <SearchLink to={`/datasets/${dataset.list_key}`} search={{ origin: dataset.origin }} fw={500} size="sm">
            {dataset.title}
          </SearchLink>
          {dataset.origin === 'shared' && <SharedMark />}
        </Group>
        <Text size="xs" c="dimmed" className="mono">
          {dataset.list_key}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="lg">
        <PageLink to={`/types/${dataset.type_key}`} size="sm">
          <span title={dataset.type_key}>{typeTitle ?? dataset.type_key}</span>
        </PageLink>
      </Table.Td>
      <Table.Td>
        {active === null ? (
          <span className="quiet">none</span>
        ) : (
          <>
            version {active.version}
            <Text size="xs" c="dimmed">
              {viaTexts[active.via]}
              {active.overlay_version !== null && ', with overlay'}
            </Text>
          </>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">{entries === null ? '–' : entries.toLocaleString('en')}</Table.Td>
      <Table.Td>
        <Freshness dataset={dataset} />
      </Table.Td>
      <Table.Td visibleFrom="md">
        {next === undefined ? (
          <span className="quiet">–</span>
        ) : (
          <span title={next.reason}>
            version {next.version} <RelativeTime at={next.effective_from} />
            {pending.length > 1 && `, ${pending.length - 1} more`}
          </span>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
