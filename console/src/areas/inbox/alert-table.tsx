/** The alerts of the inbox, one line each. */
import { Checkbox, Table, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { formatDateTime } from '#console/ui/date-format.ts'
import { useNow } from '#console/ui/date-time.tsx'
import type { EmptyContent } from '#console/ui/empty-state.tsx'
import { ListTable, type usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { formatShortTime } from '#console/ui/time-left.tsx'
import { ClockMark } from '#console/ui/work/clock-mark.tsx'
import { PriorityBar } from '#console/ui/work/priority.tsx'
import { type Alert, explainErased, getAlertHeading, getAlertName, isOpen, isProposed } from './alert-queries.ts'

interface AlertTableProps {
  readonly list: ReturnType<typeof usePages<Alert>>
  readonly current_id: string | undefined
  readonly onOpen: (alert: Alert) => void
  /** Null: the user may not act on several. */
  readonly chosen: ReadonlySet<string> | null
  readonly onChoose: (alert: Alert, isChosen: boolean) => void
  readonly empty: EmptyContent
}

export function AlertTable({ list, current_id, onOpen, chosen, onChoose, empty }: AlertTableProps) {
  return (
    <ListTable
      label="Alerts"
      list={list}
      empty={empty}
      head={[
        ...(chosen ? [{ name: 'Select', isHidden: true }] : []),
        { name: 'Priority', isHidden: true },
        { name: 'Alert' },
        { name: 'Age', from: 'sm' },
        { name: 'Clock' },
        { name: 'Assignee', from: 'sm' },
      ]}
      row={(alert) => (
        <AlertRow
          key={alert.alert_id}
          alert={alert}
          isCurrent={alert.alert_id === current_id}
          isChosen={chosen?.has(alert.alert_id) ?? null}
          onOpen={() => onOpen(alert)}
          onChoose={(isChosen) => onChoose(alert, isChosen)}
        />
      )}
    />
  )
}

interface AlertRowProps {
  readonly alert: Alert
  readonly isCurrent: boolean
  readonly isChosen: boolean | null
  readonly onOpen: () => void
  readonly onChoose: (isChosen: boolean) => void
}

function AlertRow({ alert, isCurrent, isChosen, onOpen, onChoose }: AlertRowProps) {
  const row = useRef<HTMLTableRowElement>(null)
  useEffect(() => {
    if (isCurrent) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isCurrent])
  return (
    <Table.Tr ref={row} className="alert-row" onClick={onOpen} {...(isCurrent && { 'aria-current': 'true' as const })}>
      {isChosen !== null && (
        <Table.Td w={32} onClick={(event) => event.stopPropagation()}>
          <Checkbox
            size="xs"
            aria-label={`Select ${getAlertName(alert.alert_id)}`}
            checked={isChosen}
            onChange={(event) => onChoose(event.currentTarget.checked)}
          />
        </Table.Td>
      )}
      <Table.Td w={20} px={6}>
        <PriorityBar priority={alert.priority} />
      </Table.Td>
      <Table.Td>
        <span className="alert-heading">
          <button type="button" className="alert-open" onClick={onOpen}>
            {getAlertHeading(alert)}
          </button>
          <RestrictionMark restriction_id={alert.is_restricted ? alert.restriction_id : null} />
          {alert.occurrences > 1 && (
            <Text span size="xs" c="dimmed" className="alert-times">
              {alert.occurrences.toLocaleString('en')} times
            </Text>
          )}
        </span>
        {(alert.is_erased || alert.subject_name !== null) && (
          <Text size="sm" lineClamp={2} className="break">
            {alert.is_erased ? explainErased(alert) : alert.title}
          </Text>
        )}
        <Text size="xs" c="dimmed">
          {isProposed(alert) && <b>dismissal waits for a second person · </b>}
          {alert.source} · {alert.alert_id.slice(-8)}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm" className="nowrap">
        <Age at={alert.first_seen_at} />
      </Table.Td>
      <Table.Td className="nowrap">
        <ClockMark clock={alert.clock ?? undefined} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {alert.assignee === null ? (
          <span className="quiet">{isOpen(alert) ? 'nobody' : '–'}</span>
        ) : (
          <Principal of={alert.assignee} />
        )}
      </Table.Td>
    </Table.Tr>
  )
}

function Age({ at }: { readonly at: string }) {
  const now_ms = useNow()
  return (
    <time dateTime={at} title={formatDateTime(at)}>
      {formatShortTime(Math.max(0, now_ms - Date.parse(at)))}
    </time>
  )
}
