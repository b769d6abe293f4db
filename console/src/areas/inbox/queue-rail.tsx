/** The queues beside the inbox, each with its open items and the age of the oldest. */
import { Text, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { useNow } from '#console/ui/date-time.tsx'
import { useSetFilters } from '#console/ui/filters.tsx'
import { formatShortTime } from '#console/ui/time-left.tsx'
import { useProposedCases } from '#console/ui/work/proposed-cases.ts'
import { queuesQuery, type WorkQueue } from '#console/ui/work/work-queries.ts'
import { useAlertCount } from './use-alert-count.ts'

interface QueueRailProps {
  readonly queue: string | undefined
  readonly view: 'mine' | 'second-person' | 'dismissed' | 'escalated' | undefined
}

export function QueueRail({ queue, view }: QueueRailProps) {
  const may = usePermission()
  const set = useSetFilters()
  const { data } = useQuery({ ...queuesQuery, enabled: may('listWorkQueues'), throwOnError: false })
  const queues = (data?.items ?? []).filter(({ open, is_mine }) => is_mine || open > 0)
  const open = useAlertCount('open')
  const proposed = useAlertCount('proposed')
  const { cases } = useProposedCases()
  const mine = queues.reduce((sum, one) => sum + one.mine, 0)
  return (
    <nav aria-label="Queues" className="queue-rail">
      <QueueButton
        title="All open"
        count={open?.count}
        hasMore={open?.hasMore}
        detail="alerts"
        isOpen={queue === undefined && view === undefined}
        onClick={() => set({ queue: undefined, view: undefined })}
      />
      <QueueButton
        title="Mine"
        count={data && mine}
        isOpen={view === 'mine'}
        onClick={() => set({ queue: undefined, view: 'mine' })}
      />
      <QueueButton
        title="Second person"
        count={proposed && proposed.count + cases.length}
        hasMore={proposed?.hasMore}
        detail={may('closeInvestigation') ? 'dismissals, outcomes' : 'proposed dismissals'}
        isOpen={view === 'second-person'}
        onClick={() => set({ queue: undefined, view: 'second-person' })}
      />
      {queues.map((one) => (
        <QueueButton
          key={one.queue_key}
          title={one.title}
          count={one.open}
          detail={<QueueDetail queue={one} />}
          isOpen={queue === one.queue_key}
          onClick={() => set({ queue: one.queue_key, view: undefined })}
        />
      ))}
      {(['dismissed', 'escalated'] as const).map((state) => (
        <QueueButton
          key={state}
          title={state === 'dismissed' ? 'Dismissed' : 'Escalated'}
          isOpen={view === state}
          onClick={() => set({ queue: undefined, view: state })}
        />
      ))}
    </nav>
  )
}

function QueueDetail({ queue: { oldest_opened_at, missed } }: { readonly queue: WorkQueue }) {
  const now_ms = useNow()
  if (oldest_opened_at === null) return 'empty'
  return (
    <>
      oldest {formatShortTime(now_ms - Date.parse(oldest_opened_at))}
      {missed > 0 && <b className="queue-missed">, {missed} late</b>}
    </>
  )
}

interface QueueButtonProps {
  readonly title: string
  readonly count?: number | undefined
  /** There are more than were counted. */
  readonly hasMore?: boolean | undefined
  readonly detail?: ReactNode
  readonly isOpen: boolean
  readonly onClick: () => void
}

function QueueButton({ title, count, hasMore, detail, isOpen, onClick }: QueueButtonProps) {
  return (
    <UnstyledButton className="queue" onClick={onClick} {...(isOpen && { 'aria-current': 'true' as const })}>
      <span className="queue-title">
        <Text span size="sm" fw={500} truncate>
          {title}
        </Text>
        {count !== undefined && (
          <Text span size="sm" className="queue-count">
            {count.toLocaleString('en')}
            {hasMore && '+'}
          </Text>
        )}
      </span>
      {detail && (
        <Text span size="xs" c="dimmed">
          {detail}
        </Text>
      )}
    </UnstyledButton>
  )
}
