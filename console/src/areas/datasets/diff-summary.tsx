/** Counts of added, removed and changed entries that act as filters, and the most changed fields. */
import { Group, Text, UnstyledButton } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { type Kind, kinds, signs } from '#console/ui/difference-counts.tsx'
import { useSetFilter } from '#console/ui/filters.tsx'
import type { DatasetType } from '#console/ui/registry-queries.ts'
import { getFieldTitle } from '#console/ui/type-texts.ts'

const MAX_SHOWN_FIELDS = 8

interface DiffSummaryProps {
  readonly summary: NonNullable<Schemas['DifferencePage']['summary']>
  readonly type: DatasetType
  readonly kind: Kind | undefined
  readonly field: string | undefined
}

export function DiffSummary({ summary, type, kind, field }: DiffSummaryProps) {
  const set = useSetFilter()
  return (
    <div>
      <div className="diff-summary">
        {kinds.map((one) => (
          <UnstyledButton
            key={one}
            className={`diff-tile diff-tile-${one}`}
            aria-pressed={kind === one}
            onClick={() => set('kind', kind === one ? null : one)}
          >
            <span className="sr-only">{`${summary[one]} ${one}: show only these`}</span>
            <b aria-hidden="true">
              {signs[one]} {summary[one].toLocaleString('en')}
            </b>
            <Text size="sm" aria-hidden="true">
              {one}
            </Text>
          </UnstyledButton>
        ))}
      </div>
      {summary.fields.length > 0 && (
        <Group gap={6} mt="sm" role="group" aria-label="Most changed fields">
          <Text size="xs" c="dimmed">
            Most changed
          </Text>
          {summary.fields.slice(0, MAX_SHOWN_FIELDS).map(({ pointer, changed }) => (
            <UnstyledButton
              key={pointer}
              className="chip"
              aria-pressed={field === pointer}
              onClick={() => set('field', field === pointer ? null : pointer)}
            >
              {getFieldTitle(type, pointer)} <b>{changed.toLocaleString('en')}</b>
            </UnstyledButton>
          ))}
        </Group>
      )}
      {!summary.exact && (
        <Text size="xs" c="dimmed" mt={6}>
          Counting the changed fields…
        </Text>
      )}
    </div>
  )
}
