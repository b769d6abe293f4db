/** The outcome at the top of a page or a panel: the result large, its score on the scale of its bands, what it requires. */
import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { formatEntryValue } from '../type-texts.ts'
import { BandChart } from './band-chart.tsx'
import type { Bands } from './definition-model.ts'
import { listContentQuery, type PinnedList, parseBands } from './list-entries.ts'
import { Actions, type Outcome, ResultMark } from './outcome.tsx'

interface VerdictProps {
  readonly outcome: Outcome
  /** Where the bands stand; without it there is no scale to draw. */
  readonly bands?: Bands | undefined
  readonly other?: { readonly name: string; readonly score_bps: number }
  /** What the decision pinned; without it the bands are drawn as they are in force. */
  readonly lists?: readonly PinnedList[]
}

export function Verdict({ outcome, bands, other, lists }: VerdictProps) {
  return (
    <Stack gap="sm">
      <Group gap="md" role="status">
        <ResultMark of={outcome} isLarge />
        {outcome.outputs !== null && Object.keys(outcome.outputs).length > 0 && (
          <Text size="sm">
            {Object.entries(outcome.outputs)
              .map(([name, value]) => `${name}: ${formatEntryValue(value)}`)
              .join(', ')}
          </Text>
        )}
        {outcome.required_actions.length > 0 && (
          <Group gap="xs">
            <Text size="sm" c="dimmed">
              Required:
            </Text>
            <Actions of={outcome.required_actions} />
          </Group>
        )}
      </Group>
      {outcome.score_bps !== null && bands && (
        <ScoreOnBands
          bands={bands}
          score_bps={outcome.score_bps}
          pinned={lists?.find(({ list_key }) => list_key === bands.list_key)}
          {...(other && { other })}
        />
      )}
    </Stack>
  )
}

interface ScoreOnBandsProps {
  readonly bands: Bands
  readonly score_bps?: number
  readonly pinned?: PinnedList | undefined
  readonly other?: { readonly name: string; readonly score_bps: number }
}

/** The bands as the decision had them, or as they are in force today. */
export function ScoreOnBands({ bands, pinned, ...marks }: ScoreOnBandsProps) {
  const { data } = useQuery(listContentQuery(bands.list_key, pinned))
  if (!data) return null
  const found = parseBands(data, bands)
  if (found.length === 0) return null
  return (
    <div>
      <BandChart bands={found} {...marks} />
      {data.overlay_version !== null && (
        <Text size="xs" c="dimmed">
          Drawn from version {data.version} of {bands.list_key}; this tenant’s overlay {data.overlay_version} lies over
          it and may move a boundary.
        </Text>
      )}
    </div>
  )
}
