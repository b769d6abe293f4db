/** Whether the version in force is up to date, due for review or out of date. */
import { Badge } from '@mantine/core'
import { formatDay } from '#console/ui/date-format.ts'
import { formatAgo, formatElapsed, useNow } from '#console/ui/date-time.tsx'
import type { Dataset } from '#console/ui/registry-queries.ts'

type FreshnessState = 'archived' | 'empty' | 'out-of-date' | 'due' | 'fresh' | 'no-limit'

export function getFreshness(
  dataset: Pick<Dataset, 'active' | 'stale_after_days' | 'stale_since' | 'review_due_at' | 'state'>,
  now_ms: number,
): FreshnessState {
  if (dataset.state === 'archived') return 'archived'
  if (dataset.active === null) return 'empty'
  if (dataset.stale_since !== null && Date.parse(dataset.stale_since) <= now_ms) return 'out-of-date'
  if (dataset.review_due_at !== null && Date.parse(dataset.review_due_at) <= now_ms) return 'due'
  // Without a limit on its age, a list is neither up to date nor out of date.
  return dataset.stale_after_days === null ? 'no-limit' : 'fresh'
}

const colors: Readonly<Record<FreshnessState, string>> = {
  archived: 'gray',
  empty: 'gray',
  'out-of-date': 'red',
  due: 'orange',
  fresh: 'teal',
  'no-limit': 'gray',
}

export function Freshness({ dataset }: { readonly dataset: Dataset }) {
  const now_ms = useNow()
  const freshness = getFreshness(dataset, now_ms)
  const since = (at: string | null) => (at === null ? '' : formatAgo(new Date(at), now_ms))
  const words: Readonly<Record<FreshnessState, string>> = {
    archived: 'archived',
    empty: 'no version in force',
    'out-of-date': `out of date for ${formatElapsed(new Date(dataset.stale_since ?? now_ms), now_ms)}`,
    due: `review due ${since(dataset.review_due_at)}`,
    fresh: 'up to date',
    'no-limit': 'no review period',
  }
  const title =
    dataset.review_due_at === null ? 'No review scheduled.' : `Next review: ${formatDay(dataset.review_due_at)}`
  return (
    <Badge variant="light" tt="none" miw="max-content" color={colors[freshness]} title={title}>
      {words[freshness]}
    </Badge>
  )
}
