/** A list of rows on the home page: a link, what it is about, and when. Without rows it says what would be here. */
import './home.css'
import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'

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
