/** What putting one version in the place of another would mean, shown before anybody confirms it. */
import { Alert, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useCountedSummary } from '../../ui/counted-summary.ts'
import type { Kind } from '../../ui/difference-counts.tsx'
import { DifferenceCounts, signs } from '../../ui/difference-counts.tsx'
import { isSameVersion, type OwnedVersion, rangeQuery, versionWords } from '../../ui/origin.ts'
import { type Dataset, datasetQuery, differenceQuery, typeQuery, versionInForce } from '../../ui/registry-queries.ts'
import { SearchLink } from '../../ui/search-link.tsx'
import { nameOf, titleOf } from '../../ui/type-words.ts'
import { plural } from '../../ui/words.ts'

interface WhatWillChangeProps {
  readonly dataset: Dataset
  /** A version of this list. */
  readonly to: number
}

/** What is in force is asked for by key alone: it may be of the other owner. */
export function WhatWillChange({ dataset, to: number }: WhatWillChangeProps) {
  const { data: governing } = useQuery({ ...datasetQuery(dataset.list_key), throwOnError: false })
  if (governing === undefined) return <Skeleton height={80} />
  const from = versionInForce(governing)
  const to = { version: number, origin: dataset.origin }
  const title =
    from === null ? 'What will change' : `What will change: ${versionWords(from, to)} → ${versionWords(to, from)}`
  return (
    <Alert color="cyan" title={title} role="status">
      {from === null ? (
        <Text size="sm">
          Nothing is in force yet: all{' '}
          {plural(dataset.versions.find(({ version }) => version === number)?.entry_count ?? 0, 'entry', 'entries')} of
          version {number} begin to govern.
        </Text>
      ) : isSameVersion(from, to) ? (
        <Text size="sm">It is in force already: nothing.</Text>
      ) : (
        <Between dataset={dataset} from={from} to={to} />
      )}
    </Alert>
  )
}

interface BetweenProps {
  readonly dataset: Dataset
  readonly from: OwnedVersion
  readonly to: OwnedVersion
}

function Between({ dataset, from, to }: BetweenProps) {
  const { data } = useQuery({ ...differenceQuery(dataset.list_key, from, to), throwOnError: false })
  const { data: type } = useQuery({ ...typeQuery(dataset.type_key), throwOnError: false })
  useCountedSummary({
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
            .map(({ pointer, changed }) => `${titleOf(type, pointer)} (${changed})`)
            .join(', ')}
        </Text>
      )}
      <ul className="plain-list">
        {items.slice(0, 4).map(({ key, op, before, after }) => (
          <li key={key}>
            <Text size="xs">
              <b aria-hidden="true">{signs[op as Kind]}</b> <span className="sr-only">{op}:</span>{' '}
              {nameOf(after ?? before) ?? key} {nameOf(after ?? before) && <span className="quiet mono">{key}</span>}
            </Text>
          </li>
        ))}
      </ul>
      {total > 0 && (
        <Group gap={4}>
          {total > 4 && <Text size="xs">and {plural(total - 4, 'more entry', 'more entries')}.</Text>}
          <SearchLink to={`/datasets/${dataset.list_key}/diff`} search={rangeQuery(from, to)} size="xs">
            See every change
          </SearchLink>
        </Group>
      )}
    </Stack>
  )
}
