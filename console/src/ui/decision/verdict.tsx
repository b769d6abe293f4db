/** The outcome of a decision: result, score on the scale of bands, required actions. */
import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { formatEntryValue } from '../type-texts.ts'
import { BandChart } from './band-chart.tsx'
import type { Bands } from './definition-model.ts'
import { listContentQuery, type PinnedList, parseBands } from './list-entries.ts'
import { Actions, type Outcome, ResultMark } from './outcome.tsx'

interface VerdictProps {
  readonly outcome: Outcome
  /** The list of bands; without it no scale is drawn. */
  readonly bands?: Bands | undefined
  readonly other?: { readonly name: string; readonly score_bps: number }
  /** The versions the decision recorded; without them the bands in force are drawn. */
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

/** The recorded bands of the decision, or those in force. */
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
          Bands from version {data.version} of {bands.list_key}; overlay {data.overlay_version} of this tenant may
          change a boundary.
        </Text>
      )}
    </div>
  )
}
