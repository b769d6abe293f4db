/** The difference between two versions of a list: summary, then every changed entry. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import { probity } from '#console/session/client.ts'
import { DiffEntry, type DifferenceItem } from '#console/ui/diff-entry.tsx'
import { touchesField } from '#console/ui/diff-fields.ts'
import { useDiffSummary } from '#console/ui/diff-summary-query.ts'
import { kinds } from '#console/ui/difference-counts.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { useFilter, useSetFilter } from '#console/ui/filters.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListSkeleton, usePages } from '#console/ui/list.tsx'
import { isSameVersion, type OwnedVersion, toDiffParams, useOrigin } from '#console/ui/origin.ts'
import { Page } from '#console/ui/page.tsx'
import { type Dataset, datasetQuery, differenceQuery, typeQuery } from '#console/ui/registry-queries.ts'
import { SearchLink } from '#console/ui/search-link.tsx'
import { getFieldTitle } from '#console/ui/type-texts.ts'
import { formatVersionName } from '#console/ui/version-names.ts'
import { VersionRange } from '#console/ui/version-range.tsx'
import { DiffIndex } from './diff-index.tsx'
import { DiffSummary } from './diff-summary.tsx'

/** The number of matching entries to load before showing a button for more. */
const ENOUGH_MATCHES = 20
const MAX_PAGES = 30

export default function DiffPage() {
  const { list_key = '' } = useParams({ strict: false }) as { list_key?: string }
  const { data: dataset } = useSuspenseQuery(datasetQuery(list_key, useOrigin()))
  const { from, to } = useRange(dataset)
  const trail = (
    <>
      <PageLink to="/datasets" inherit>
        Lists
      </PageLink>{' '}
      /{' '}
      <SearchLink to={`/datasets/${list_key}`} search={{ origin: dataset.origin }} inherit>
        {dataset.title}
      </SearchLink>
    </>
  )
  const named = ({ version, origin }: OwnedVersion) =>
    from.origin === to.origin
      ? formatVersionName(dataset.versions.find((one) => one.version === version) ?? { version }).toLowerCase()
      : `version ${version} (${origin})`
  return (
    <Page
      title="Differences"
      trail={trail}
      about={isSameVersion(from, to) ? 'Choose two versions.' : `${dataset.title}, from ${named(from)} to ${named(to)}`}
      actions={
        from.origin === to.origin && <VersionRange versions={dataset.versions} from={from.version} to={to.version} />
      }
    >
      {isSameVersion(from, to) ? (
        <EmptyState
          title="The same version was chosen twice"
          about="Choose two different versions to see what changed between them."
        />
      ) : (
        <Difference key={JSON.stringify([from, to])} dataset={dataset} from={from} to={to} />
      )}
    </Page>
  )
}

interface OwnedRange {
  readonly from: OwnedVersion
  readonly to: OwnedVersion
}

/** The two versions from the page address; by default the newest and its predecessor. */
function useRange({ head_version, origin }: Dataset): OwnedRange {
  const search = useSearch({ strict: false }) as { from?: unknown; to?: unknown }
  const number = (value: unknown, otherwise: number) => (Number.isInteger(value) ? Number(value) : otherwise)
  const to = number(search.to, Math.max(1, head_version))
  const from = number(search.from, Math.max(1, to - 1))
  return {
    from: { version: from, origin: useFilter('from_origin', ['own', 'shared']) ?? origin },
    to: { version: to, origin },
  }
}

interface RangeProps extends OwnedRange {
  readonly dataset: Dataset
}

function Difference({ dataset, from, to }: RangeProps) {
  const { list_key } = dataset
  const set = useSetFilter()
  const { data: whole } = useSuspenseQuery(differenceQuery(list_key, from, to))
  const { data: type } = useSuspenseQuery(typeQuery(dataset.type_key))
  const { key, field } = useSearch({ strict: false }) as { key?: string | number; field?: string }
  const kind = useFilter('kind', kinds)
  const key_prefix = key === undefined ? undefined : String(key)
  const list = usePages<DifferenceItem>(
    ['datasets', 'difference', list_key, from, to, 'entries', key_prefix],
    (cursor, signal) =>
      probity.GET('/api/reference-data/datasets/{list_key}/diff', {
        params: {
          path: { list_key },
          query: { ...cursor, ...toDiffParams(from, to), ...(key_prefix && { key_prefix }), limit: 100 },
        },
        signal,
      }),
  )
  const loaded = list.data?.pages.flatMap(({ items }) => items) ?? []
  const shown = loaded.filter(
    (item) => (kind === undefined || item.op === kind) && (field === undefined || touchesField(item, field)),
  )
  useMatchingEntries(list, shown.length)
  const { summary } = whole
  useDiffSummary({ list_key, from, to, is_counted: whole.summary_state === 'complete' })
  if (summary && summary.added + summary.removed + summary.changed === 0) {
    return (
      <EmptyState
        title="Both versions contain the same entries"
        about="The later version repeats the earlier one, so no decision changes."
      />
    )
  }
  return (
    <Stack gap="md">
      {summary ? (
        <DiffSummary summary={summary} type={type} kind={kind} field={field} />
      ) : (
        <Text size="sm" c="dimmed" role="status">
          Counting the differences…
        </Text>
      )}
      <div className="diff-columns">
        <DiffIndex items={shown} />
        <Stack gap="sm">
          <Group gap="xs" justify="space-between">
            <TextInput
              size="xs"
              w={240}
              type="search"
              aria-label="Key begins with"
              placeholder="Key begins with"
              value={key_prefix ?? ''}
              onChange={(event) => set('key', event.currentTarget.value || null)}
            />
            <Text size="xs" c="dimmed" role="status">
              {formatCount(shown.length, 'entry', 'entries')} shown
              {kind && `, ${kind} only`}
              {field && `, where ${getFieldTitle(type, field)} changed`}
              {list.hasNextPage ? '; more available' : ''}
            </Text>
          </Group>
          <h2 className="sr-only">Changed entries</h2>
          {list.data === undefined && <ListSkeleton />}
          {list.data !== undefined && shown.length === 0 && !list.isFetching && (
            <EmptyState
              title={list.hasNextPage ? 'No matching change among those loaded' : 'No matching change'}
              about={
                list.hasNextPage ? 'Load more changes, or change the filters.' : 'Change or clear the filters above.'
              }
            />
          )}
          {shown.map((item) => (
            <DiffEntry key={item.key} item={item} type={type} />
          ))}
          {list.hasNextPage && (
            <Group justify="center">
              <Button variant="default" loading={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
                Load more
              </Button>
            </Group>
          )}
        </Stack>
      </div>
    </Stack>
  )
}

/** Loads further pages until enough entries match the filter, up to a limit. */
function useMatchingEntries(list: ReturnType<typeof usePages<DifferenceItem>>, found: number): void {
  const { hasNextPage, isFetching, fetchNextPage } = list
  const pages = list.data?.pages.length ?? 0
  const needsMore = hasNextPage && !isFetching && found < ENOUGH_MATCHES && pages < MAX_PAGES
  useEffect(() => {
    if (needsMore) fetchNextPage()
  }, [needsMore, fetchNextPage])
}
