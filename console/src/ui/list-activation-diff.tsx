/** The changes that activating a version would make, shown before confirmation. */
import { Alert, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useDiffSummary } from './diff-summary-query.ts'
import type { Kind } from './difference-counts.tsx'
import { DifferenceCounts, signs } from './difference-counts.tsx'
import { formatCount } from './format.ts'
import { formatVersion, isSameVersion, type OwnedVersion, toDiffParams } from './origin.ts'
import { type Dataset, datasetQuery, differenceQuery, getActiveListVersion, typeQuery } from './registry-queries.ts'
import { SearchLink } from './search-link.tsx'
import { getEntryName, getFieldTitle } from './type-texts.ts'

interface ListActivationDiffProps {
  readonly dataset: Dataset
  /** A version of this list. */
  readonly to: number
}

/** Queried by key alone, because the version in force may belong to the other owner. */
export function ListActivationDiff({ dataset, to: number }: ListActivationDiffProps) {
  const { data: governing } = useQuery({ ...datasetQuery(dataset.list_key), throwOnError: false })
  if (governing === undefined) return <Skeleton height={80} />
  const from = getActiveListVersion(governing)
  const to = { version: number, origin: dataset.origin }
  const title = from === null ? 'Changes' : `Changes: ${formatVersion(from, to)} → ${formatVersion(to, from)}`
  return (
    <Alert color="cyan" title={title} role="status">
      {from === null ? (
        <Text size="sm">
          No version is in force yet: all{' '}
          {formatCount(
            dataset.versions.find(({ version }) => version === number)?.entry_count ?? 0,
            'entry',
            'entries',
          )}{' '}
          of version {number} come into force.
        </Text>
      ) : isSameVersion(from, to) ? (
        <Text size="sm">This version is already in force.</Text>
      ) : (
        <VersionDiff dataset={dataset} from={from} to={to} />
      )}
    </Alert>
  )
}

interface VersionDiffProps {
  readonly dataset: Dataset
  readonly from: OwnedVersion
  readonly to: OwnedVersion
}

function VersionDiff({ dataset, from, to }: VersionDiffProps) {
  const { data } = useQuery({ ...differenceQuery(dataset.list_key, from, to), throwOnError: false })
  const { data: type } = useQuery({ ...typeQuery(dataset.type_key), throwOnError: false })
  useDiffSummary({
    list_key: dataset.list_key,
    from,
    to,
    is_counted: data === undefined || data.summary_state === 'complete',
  })
  if (!data?.summary || !type) return <Skeleton height={44} />
  const { summary, items } = data
  const total = summary.added + summary.removed + summary.changed
  return (
    <Stack gap={6}>
      <DifferenceCounts of={summary} />
      {summary.fields.length > 0 && (
        <Text size="xs">
          Most changed:{' '}
          {summary.fields
            .slice(0, 4)
            .map(({ pointer, changed }) => `${getFieldTitle(type, pointer)} (${changed})`)
            .join(', ')}
        </Text>
      )}
      <ul className="plain-list">
        {items.slice(0, 4).map(({ key, op, before, after }) => (
          <li key={key}>
            <Text size="xs">
              <b aria-hidden="true">{signs[op as Kind]}</b> <span className="sr-only">{op}:</span>{' '}
              {getEntryName(after ?? before) ?? key}{' '}
              {getEntryName(after ?? before) && <span className="quiet mono">{key}</span>}
            </Text>
          </li>
        ))}
      </ul>
      {total > 0 && (
        <Group gap={4}>
          {total > 4 && <Text size="xs">and {formatCount(total - 4, 'more entry', 'more entries')}.</Text>}
          <SearchLink to={`/datasets/${dataset.list_key}/diff`} search={toDiffParams(from, to)} size="xs">
            View all changes
          </SearchLink>
        </Group>
      )}
    </Stack>
  )
}
