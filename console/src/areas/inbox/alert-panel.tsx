/** One alert beside the list, or on its own page: explanation, earlier decisions, history and what to do. */
import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useId } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionNote } from '#console/ui/restriction/padlock.tsx'
import { CaseName, useCase } from '#console/ui/work/case-name.tsx'
import { ClockMark } from '#console/ui/work/clock-mark.tsx'
import { OpenCase } from '#console/ui/work/open-case.tsx'
import { PriorityBadge } from '#console/ui/work/priority.tsx'
import { queuesQuery } from '#console/ui/work/work-queries.ts'
import { type AlertAct, AlertActions } from './alert-actions.tsx'
import { AlertExplanation } from './alert-explanation.tsx'
import { AlertHistory, OtherAlerts } from './alert-history.tsx'
import { type Alert, getAlertName, getAlertTitle, isOpen } from './alert-queries.ts'

interface AlertPanelProps {
  readonly alert: Alert
  readonly onAct: (act: AlertAct) => void
  /** The page has a heading and a padlock of its own. */
  readonly isPage?: boolean
}

export function AlertPanel({ alert, onAct, isPage = false }: AlertPanelProps) {
  const may = usePermission()
  return (
    <Stack gap="md">
      {!isPage && <RestrictionNote restriction_id={alert.is_restricted ? alert.restriction_id : null} />}
      <Stack gap={6}>
        {!isPage && (
          <Group gap="xs" justify="space-between" align="flex-start" wrap="nowrap">
            <div>
              <Title order={2} size="h5" className="break">
                {getAlertTitle(alert)}
              </Title>
              <Text size="xs" c="dimmed">
                {getAlertName(alert.alert_id)}
              </Text>
            </div>
            <PageLink to={`/inbox/alerts/${alert.alert_id}`} size="sm">
              Open
            </PageLink>
          </Group>
        )}
        <Group gap={6}>
          <PriorityBadge priority={alert.priority} />
          <Badge variant="default" tt="none" fw={500}>
            {toWords(alert.state)}
          </Badge>
          {alert.subject_id !== null &&
            (may('getSubject') ? (
              <PageLink to={`/subjects/${alert.subject_id}`} size="sm" fw={500}>
                {(alert.is_erased ? null : alert.subject_name) ?? 'Subject'}
              </PageLink>
            ) : (
              <Text span size="sm" fw={500}>
                {alert.subject_name}
              </Text>
            ))}
        </Group>
        {isPage && (
          <Text fw={600} size="lg" className="break">
            {getAlertTitle(alert)}
          </Text>
        )}
        <AlertState alert={alert} />
        <WorkLine alert={alert} />
      </Stack>
      <AlertActions alert={alert} onAct={onAct} />
      <AlertCase alert={alert} />
      <Part order={isPage ? 2 : 3} title="Why">
        <AlertExplanation alert={alert} />
      </Part>
      <Part order={isPage ? 2 : 3} title="Other alerts">
        <OtherAlerts alert={alert} />
      </Part>
      <Part order={isPage ? 2 : 3} title="History and comments">
        <AlertHistory alert={alert} />
      </Part>
    </Stack>
  )
}

/** A way to open a case about an escalated alert that has none. */
function AlertCase({ alert }: { readonly alert: Alert }) {
  const may = usePermission()
  const [isOpening, opening] = useDisclosure(false)
  const { alert_id, subject_id, investigation_id, state, is_restricted } = alert
  if (investigation_id !== null) return null
  if (state !== 'escalated' || subject_id === null || is_restricted || !may('createInvestigation')) return null
  return (
    <div>
      <Button size="xs" onClick={opening.open}>
        Open a case
      </Button>
      {isOpening && (
        <OpenCase subject_id={subject_id} alert_ids={[alert_id]} priority={alert.priority} onClose={opening.close} />
      )}
    </div>
  )
}

/** Who works on it, or in which case it is investigated. */
function AlertWorker({ alert }: { readonly alert: Alert }) {
  const { assignee, investigation_id } = alert
  if (investigation_id !== null) return <InvestigatedIn investigation_id={investigation_id} alert={alert} />
  if (assignee !== null)
    return (
      <>
        <Principal of={assignee} isAlwaysNamed /> works on it.
      </>
    )
  return isOpen(alert) ? 'Nobody works on it.' : null
}

function InvestigatedIn({ investigation_id, alert: { subject_id } }: { investigation_id: string; alert: Alert }) {
  const found = useCase({ investigation_id, subject_id })
  return (
    <>
      Investigated in <CaseName investigation_id={investigation_id} subject_id={subject_id} />
      {found !== undefined && (
        <>
          , {found.state === 'proposed' ? 'outcome proposed' : found.state},{' '}
          {found.assignee === null ? (
            'assigned to nobody'
          ) : (
            <>
              assigned to <Principal of={found.assignee} isAlwaysNamed />
            </>
          )}
        </>
      )}
      .
    </>
  )
}

function AlertState({ alert }: { readonly alert: Alert }) {
  const { snoozed_until, dismissal } = alert
  return (
    <Text size="sm" c="dimmed" component="div">
      <AlertWorker alert={alert} />
      {snoozed_until !== null && (
        <>
          {' '}
          Snoozed until <DateTime at={snoozed_until} />.
        </>
      )}
      {dismissal !== null && (
        <div>
          {dismissal.state === 'proposed' ? 'Dismissal proposed' : 'Dismissed'} by{' '}
          <Principal
            of={(dismissal.state === 'proposed' ? dismissal.proposed_by : dismissal.dismissed_by) ?? ''}
            isAlwaysNamed
          />
          : <ReasonCodes of={[dismissal.reason_code]} />
        </div>
      )}
    </Text>
  )
}

/** Its queue, when it is due, and when it was reported. */
function WorkLine({ alert: { clock, queue_key, first_seen_at, last_seen_at } }: { readonly alert: Alert }) {
  const may = usePermission()
  const { data } = useQuery({ ...queuesQuery, enabled: may('listWorkQueues'), throwOnError: false })
  const queue = data?.items.find((one) => one.queue_key === queue_key)?.title ?? queue_key
  return (
    <Text size="sm" c="dimmed" component="div">
      {clock !== null && (
        <div>
          Due <DateTime at={clock.due_at} /> (<ClockMark clock={clock} />)
        </div>
      )}
      {queue !== null && <div>Queue: {queue}</div>}
      <div>
        First reported <DateTime at={first_seen_at} />
        {last_seen_at !== first_seen_at && (
          <>
            , last <DateTime at={last_seen_at} />
          </>
        )}
      </div>
    </Text>
  )
}

interface PartProps {
  readonly title: string
  /** The level of the heading, one below that of the alert. */
  readonly order: 2 | 3
  readonly children: ReactNode
}

function Part({ title, order, children }: PartProps) {
  const id = useId()
  return (
    <section aria-labelledby={id}>
      <Title order={order} size="h6" id={id} mb={6}>
        {title}
      </Title>
      {children}
    </section>
  )
}
