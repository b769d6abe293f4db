/** The versions of a list, newest first, with their changes, provenance and actions. */
import { Badge, Button, Collapse, Group, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { DifferenceCounts } from '#console/ui/difference-counts.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { formatCount, toSentence } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListSkeleton, usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import type { Dataset } from '#console/ui/registry-queries.ts'
import { SearchButton } from '#console/ui/search-link.tsx'
import { Facts } from '#console/ui/section.tsx'
import { formatEntryValue } from '#console/ui/type-texts.ts'
import { VersionActions } from './version-actions.tsx'

type Version = Schemas['DatasetVersion']

export function VersionsTab({ dataset }: { readonly dataset: Dataset }) {
  const { list_key, origin } = dataset
  const list = usePages(['datasets', 'versions', list_key, origin], (cursor, signal) =>
    probity.GET('/api/reference-data/datasets/{list_key}/versions', {
      params: { path: { list_key }, query: { ...cursor, origin, limit: 50 } },
      signal,
    }),
  )
  if (list.data === undefined) return <ListSkeleton />
  const versions = list.data.pages.flatMap(({ items }) => items)
  if (versions.length === 0) return <NoVersion dataset={dataset} />
  return (
    <Stack gap="xs">
      <ol className="timeline" aria-label="Versions, newest first">
        {versions.map((version) => (
          <VersionItem key={version.version} dataset={dataset} version={version} />
        ))}
      </ol>
      {list.hasNextPage && (
        <Group justify="flex-end">
          <Button size="xs" variant="default" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            Load more
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function NoVersion({ dataset }: { readonly dataset: Dataset }) {
  const may = usePermission()
  return (
    <EmptyState
      title="No version yet"
      about="Each imported file becomes a version of the list. Import a file to create the first one."
      action={
        dataset.origin === 'own' &&
        may('startImport') && (
          <SearchButton to="/imports/new" search={{ list: dataset.list_key }} size="xs">
            Import a file
          </SearchButton>
        )
      }
    />
  )
}

function VersionItem({ dataset, version }: { readonly dataset: Dataset; readonly version: Version }) {
  const [isOpen, more] = useDisclosure(false)
  const isInForce = dataset.active?.version === version.version
  const scheduled = dataset.pending.find((one) => one.version === version.version)
  const name = `version ${version.version}`
  return (
    <li data-in-force={isInForce} aria-label={toSentence(name)}>
      <div className="version">
        <Stack gap={4} miw={0}>
          <Group gap={8}>
            <Text fw={650}>Version {version.version}</Text>
            {version.label && (
              <Badge variant="default" tt="none" fw={500}>
                {version.label}
              </Badge>
            )}
            {isInForce && (
              <Badge variant="filled" color="teal" tt="none">
                in force
              </Badge>
            )}
            {scheduled && (
              <Badge variant="light" color="cyan" tt="none">
                scheduled <RelativeTime at={scheduled.effective_from} />
              </Badge>
            )}
            {version.state !== 'published' && <StateBadge state={version.state} />}
          </Group>
          <Group gap={10}>
            <DifferenceCounts of={version.difference} />
            <Text size="sm">{formatCount(version.entry_count, 'entry', 'entries')}</Text>
          </Group>
          <Text size="xs" c="dimmed" component="div">
            {toSentence(version.origin)} by <Principal of={version.created_by} />,{' '}
            <RelativeTime at={version.created_at} />
            {version.note && ` · ${version.note}`}
          </Text>
        </Stack>
        <Group gap="xs" align="center">
          <Button size="xs" variant="subtle" onClick={more.toggle} aria-expanded={isOpen}>
            Provenance<span className="sr-only"> of {name}</span>
          </Button>
          {version.version > 1 && (
            <SearchButton
              size="xs"
              variant="default"
              to={`/datasets/${dataset.list_key}/diff`}
              search={{ from: version.version - 1, to: version.version, origin: dataset.origin }}
            >
              Changes<span className="sr-only"> in {name}</span>
            </SearchButton>
          )}
          <VersionActions dataset={dataset} version={version} />
        </Group>
        <Collapse expanded={isOpen} className="version-more">
          {isOpen && <Provenance version={version} />}
        </Collapse>
      </div>
    </li>
  )
}

/** Members of a provenance, depending on the origin of the version. */
interface Origin {
  readonly source?: Source
  readonly adapter_key?: string
  readonly import_id?: string
  readonly imported_by?: string
  readonly counts?: object
  readonly guards_overridden?: {
    readonly by?: string
    readonly reason?: string
    readonly breaches?: readonly { readonly detail: string }[]
  }
}
interface Source {
  readonly title?: string
  readonly url?: string
  readonly retrieved_on?: string
  readonly file_name?: string | null
  readonly sha256?: string | null
  readonly fingerprint?: string
}

function Provenance({ version: of }: { readonly version: Version }) {
  const { list_key, list_origin: origin, version, content_hash, type_key, type_version } = of
  const { data } = useQuery({
    queryKey: ['datasets', 'provenance', list_key, origin, version],
    queryFn: ({ signal }) =>
      probity.GET('/api/reference-data/datasets/{list_key}/versions/{version}/provenance', {
        params: { path: { list_key, version: String(version) }, query: { origin } },
        signal,
      }),
  })
  if (data === undefined) return <ListSkeleton />
  const { source, adapter_key, import_id, imported_by, counts, guards_overridden } = data.provenance as Origin
  return (
    <Facts
      of={[
        ['Content hash', <CopyValue key="hash" value={content_hash} name="the content hash" />],
        ['Type', `${type_key}, version ${type_version}`],
        source?.title !== undefined && [
          'Source',
          [source.title, source.url, source.retrieved_on].filter(Boolean).join(', '),
        ],
        source?.file_name != null && ['File', source.file_name],
        source?.sha256 != null && ['File hash', <CopyValue key="file" value={source.sha256} name="the file hash" />],
        source?.fingerprint !== undefined && [
          'File fingerprint',
          <CopyValue key="file" value={source.fingerprint} name="the file fingerprint" />,
        ],
        adapter_key !== undefined && ['Adapter', adapter_key],
        counts !== undefined && ['Files read', formatCounts(counts)],
        imported_by !== undefined && ['Imported by', <Principal key="by" of={imported_by} />],
        import_id !== undefined && [
          'Import',
          <PageLink key="import" to={`/imports/${import_id}`} size="sm">
            Open the import
          </PageLink>,
        ],
        guards_overridden !== undefined && [
          'Guard override',
          <span key="guards">
            “{guards_overridden.reason}”, by <Principal of={guards_overridden.by ?? ''} />.{' '}
            <span className="quiet">{guards_overridden.breaches?.map(({ detail }) => detail).join(' ')}</span>
          </span>,
        ],
        ['Created', <DateTime key="at" at={data.created_at} />],
        ...data.activations.map(
          ({ activation_id, effective_from, actor, reason }) =>
            [
              `In force from`,
              <span key={activation_id}>
                <DateTime at={effective_from} /> by <Principal of={actor} />: “{reason}”
              </span>,
            ] as const,
        ),
      ]}
    />
  )
}

const formatCounts = (counts: object): string =>
  Object.entries(counts)
    .map(([name, count]) => `${toSentence(name)} ${formatEntryValue(count)}`)
    .join(', ')
