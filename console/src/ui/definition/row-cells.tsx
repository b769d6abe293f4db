/** Cells of a table of definitions. */
import { Group, Text } from '@mantine/core'
import { RelativeTime } from '../date-time.tsx'
import { type DefinitionItem, type DefinitionKind, getDefinitionKey } from '../decision/definition-kind.ts'
import { PageLink } from '../link.tsx'
import { SearchLink } from '../search-link.tsx'
import { PinnedMark } from '../why-in-force.tsx'
import { SharedMark } from './definition-marks.tsx'

interface CellProps {
  readonly kind: DefinitionKind
  readonly of: DefinitionItem
}

export function DefinitionName({ kind, of }: CellProps) {
  const key = getDefinitionKey(of)
  return (
    <>
      <Group gap={8}>
        <SearchLink to={`${kind.basePath}/${key}`} search={{ origin: of.origin }} fw={500} size="sm">
          {of.title}
        </SearchLink>
        {of.origin === 'shared' && <SharedMark />}
        <PinnedMark of={of} />
      </Group>
      <Text size="xs" c="dimmed" className="mono">
        {key}
      </Text>
    </>
  )
}

export function ActiveVersion({ of }: Pick<CellProps, 'of'>) {
  if (of.active === null) return <span className="quiet">none</span>
  return (
    <>
      <span className="nowrap">version {of.active.version}</span>
      <Text size="xs" c="dimmed">
        <RelativeTime at={of.active.effective_from} />
      </Text>
    </>
  )
}

export function DraftLink({ kind, of }: CellProps) {
  if (of.draft === null) return <span className="quiet">–</span>
  return (
    <PageLink to={`${kind.basePath}/${getDefinitionKey(of)}/draft`} size="sm">
      edited <RelativeTime at={of.draft.updated_at} />
    </PageLink>
  )
}
