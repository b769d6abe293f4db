/** The state of a batch and a description of its source. Pure. */
import type { Schemas } from '@probity/client'
import { formatCount } from '#console/ui/format.ts'

export type Batch = Schemas['BatchEvaluation']

export const isOngoing = ({ state }: Pick<Batch, 'state'>): boolean => state === 'queued' || state === 'running'

export function describeSource({ source }: Pick<Batch, 'source'>): string {
  if (source.kind === 'upload') return source.file_name ?? 'an upload'
  if (source.kind === 'items') return 'a given list of items'
  const parts = Object.entries(source.filter ?? {}).map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`)
  return parts.length === 0 ? 'all active subjects' : `subjects with ${parts.join(', ')}`
}

/** The note given when it was started; without one, a description of its source. */
export const getBatchTitle = (batch: Pick<Batch, 'source' | 'note'>): string => batch.note || describeSource(batch)

export const formatCounts = ({ counts }: Pick<Batch, 'counts'>): string =>
  counts.total === null
    ? formatCount(counts.done + counts.failed, 'item')
    : `${(counts.done + counts.failed).toLocaleString('en')} of ${formatCount(counts.total, 'item')}`

/** Search parameters that clear every filter of the items. */
export const noItemFilters = {
  band: undefined,
  previous: undefined,
  hit: undefined,
  state: undefined,
  change: undefined,
  failure: undefined,
  subject: undefined,
} as const
