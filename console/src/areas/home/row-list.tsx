/** Lists of rows on the home page: a link, what it is about, and when. */
import './home.css'
import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Section } from '#console/ui/section.tsx'

interface Row {
  readonly key: string
  readonly link: ReactNode
  readonly detail?: ReactNode
  readonly mark?: ReactNode
}

interface RowListProps {
  readonly label: string
  readonly rows: readonly Row[]
  /** Shown instead of the list when there are no rows. */
  readonly empty: ReactNode
}

/** Without rows it says what would be here. */
export function RowList({ label, rows, empty }: RowListProps) {
  if (rows.length === 0) {
    return (
      <Text size="sm" c="dimmed" component="div">
        {empty}
      </Text>
    )
  }
  return (
    <ul className="rows" aria-label={label}>
      {rows.map(({ key, link, detail, mark }) => (
        <li key={key}>
          <div className="home-row">
            <Group gap={6} justify="space-between" align="flex-start" wrap="nowrap">
              <div className="home-row-link">{link}</div>
              {mark}
            </Group>
            {detail && (
              <Text size="sm" c="dimmed" component="div">
                {detail}
              </Text>
            )}
          </div>
        </li>
      ))}
    </ul>
  )
}

interface WaitingRowsProps {
  readonly title: string
  /** Leads to the page with all of them. */
  readonly link: ReactNode
  readonly rows: readonly Row[]
}

export const MAX_WAITING = 5

/** A section with the first pending items. Not rendered where there are none. */
export function WaitingRows({ title, link, rows }: WaitingRowsProps) {
  if (rows.length === 0) return null
  return (
    <Section title={title} actions={link}>
      <RowList label={title} rows={rows.slice(0, MAX_WAITING)} empty="Nothing to do here." />
    </Section>
  )
}
