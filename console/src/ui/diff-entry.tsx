/** One added, removed or changed entry with its fields. */
import { Group } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { memo } from 'react'
import { ChangeTable } from './change-table.tsx'
import { toAnchorId } from './diff-fields.ts'
import { signs } from './difference-counts.tsx'
import { EntryFacts } from './entry-value.tsx'
import { formatCount } from './format.ts'
import type { DatasetType } from './registry-queries.ts'
import { getEntryName, parsePointer } from './type-texts.ts'

export type DifferenceItem = Schemas['DifferencePage']['items'][number]

interface DiffEntryProps {
  readonly item: DifferenceItem
  readonly type: DatasetType
}

/** The heading already names the entry. */
const isInHeading = (type: DatasetType): string[] => [
  'name',
  ...type.key_pointers.map((pointer) => parsePointer(pointer)[0] ?? ''),
]

export const DiffEntry = memo(function DiffEntry({ item, type }: DiffEntryProps) {
  const { op, key, before, after, changes } = item
  const whole = after ?? before
  const name = getEntryName(whole)
  const was = op === 'changed' ? getEntryName(before) : null
  return (
    <article className={`diff-entry diff-entry-${op}`} id={toAnchorId(key)} tabIndex={-1} aria-label={`${op}: ${key}`}>
      <header>
        <h3>{name ?? key}</h3>
        {name && <span className="mono quiet">{key}</span>}
        {was !== null && was !== name && <span className="quiet">was {was}</span>}
        <Group gap={8} ml="auto">
          {op === 'changed' && <span className="quiet">{formatCount(changes.length, 'field')}</span>}
          <span className={`count count-${op}`}>
            <b aria-hidden="true">{signs[op]}</b> {op}
          </span>
        </Group>
      </header>
      {op === 'changed' ? (
        <ChangeTable type={type} changes={changes} label={`Changed fields of ${key}`} />
      ) : (
        <div className="diff-body">{whole && <EntryFacts type={type} entry={whole} without={isInHeading(type)} />}</div>
      )}
    </article>
  )
})
