/** The inbox: queues, alerts by urgency, and the chosen alert; worked with the keyboard. */
import { Button, Card, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import type { EmptyContent } from '#console/ui/empty-state.tsx'
import { useFilter } from '#console/ui/filters.tsx'
import { KeyboardHelp } from '#console/ui/keyboard-help.tsx'
import { ButtonLink } from '#console/ui/link.tsx'
import { usePages } from '#console/ui/list.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { usePageKeys } from '#console/ui/use-page-keys.ts'
import { queuesQuery, REFETCH_MS } from '#console/ui/work/work-queries.ts'
import { AlertActDialog } from './alert-act-dialog.tsx'
import type { AlertAct } from './alert-actions.tsx'
import { AlertPanel } from './alert-panel.tsx'
import {
  type Alert,
  alertQuery,
  getAlertHeading,
  isOpen,
  isProposed,
  touched,
  useClaim,
  useIsTakeOver,
} from './alert-queries.ts'
import { AlertTable } from './alert-table.tsx'
import { type BulkAction, BulkBar } from './bulk-bar.tsx'
import { InboxCases, useInboxCases } from './inbox-cases.tsx'
import { InboxFrame } from './inbox-frame.tsx'
import { type InboxKey, inboxKeys } from './inbox-keys.ts'
import { describeNothingToClaim } from './nothing-to-claim.ts'
import { QueueRail } from './queue-rail.tsx'
import { useWaitingActs } from './use-waiting-acts.ts'

const views = ['mine', 'second-person', 'dismissed', 'escalated'] as const
/** Below this width the panel is under the whole list, so an alert is opened on its own page. */
const BESIDE = '(min-width: 1200px)'

function useAlerts() {
  const { principal } = useMe()
  const view = useFilter('view', views)
  const { queue } = useSearch({ strict: false }) as { queue?: string }
  const list = usePages<Alert>(
    ['alerts', 'list', queue, view],
    (cursor, signal) =>
      probity.GET('/api/alerts', {
        params: {
          query: {
            ...cursor,
            ...(view === 'dismissed' || view === 'escalated' ? { state: view } : { sort: 'urgent' as const }),
            limit: 50,
            ...(queue !== undefined && { queue_key: queue }),
            ...(view === 'mine' && { assignee: principal.replace(/^user:/, '') }),
            ...(view === 'second-person' && { dismissal: 'proposed' as const }),
          },
        },
        signal,
      }),
    { refetch_ms: REFETCH_MS },
  )
  return { list, alerts: list.data?.pages.flatMap(({ items }) => items) ?? [], view, queue }
}

/** The opened alert, even while it is not in the list; once it is closed, the one that took its place. */
function useCurrentAlert(alerts: readonly Alert[], opened_id: string | null) {
  const lastPlace = useRef(0)
  const { data: opened } = useQuery({
    ...alertQuery(opened_id ?? ''),
    enabled: opened_id !== null,
    throwOnError: false,
  })
  const listed = alerts.findIndex(({ alert_id }) => alert_id === opened_id)
  const isKept = opened_id !== null && (listed >= 0 || opened === undefined || isOpen(opened))
  if (listed >= 0) lastPlace.current = listed
  const next = alerts[Math.min(lastPlace.current, alerts.length - 1)]
  const current_id = isKept ? opened_id : next?.alert_id
  const { data: alert } = useQuery({
    ...alertQuery(current_id ?? ''),
    enabled: current_id !== undefined,
    throwOnError: false,
  })
  return { alert, current_id, place: alerts.findIndex(({ alert_id }) => alert_id === current_id) }
}

/** A part of the inbox that is mostly empty: no filter is the reason. */
const nothingProposed: EmptyContent = {
  title: 'Nothing waits for a second person',
  about:
    'What needs two people, such as the dismissal of an alert, appears here until another person confirms or returns it.',
}

/** With a selection, these keys act on all of it. */
const bulkKeys: Partial<Record<InboxKey, BulkAction>> = {
  d: 'dismiss',
  e: 'escalate',
  s: 'snooze',
  y: 'confirm_dismissal',
}

export default function InboxPage() {
  const may = usePermission()
  const { principal } = useMe()
  const navigate = useNavigate()
  const isBeside = useMediaQuery(BESIDE, true)
  const { list, alerts, view, queue } = useAlerts()
  const found = useInboxCases(queue, view)
  // With investigations above it, an empty table would say that nothing is here.
  const hasOnlyCases = found.cases.length > 0 && list.data !== undefined && alerts.length === 0
  const [opened_id, setOpened] = useState<string | null>(null)
  const [act, setActOf] = useState<{ readonly act: AlertAct; readonly alert_id: string } | null>(null)
  const [bulkAction, setBulkAction] = useState<BulkAction | null>(null)
  const [isHelping, setHelping] = useState(false)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const canAct = may('dismissAlert')
  const selected = alerts.filter(({ alert_id }) => chosen.has(alert_id))
  const { alert, current_id, place } = useCurrentAlert(alerts, opened_id)
  /** The list moves on while a dialog is open: it stays with the alert that it was opened for. */
  function openAct(act: AlertAct, { alert_id }: Alert) {
    setOpened(alert_id)
    setActOf({ act, alert_id })
  }
  const claim = useClaim()
  const isTakeOver = useIsTakeOver()
  const next = useClaimNext(queue, alerts, setOpened)
  function choose(alert_id: string, isChosen: boolean) {
    setChosen((now) => {
      const next = new Set(now)
      if (isChosen) next.add(alert_id)
      else next.delete(alert_id)
      return next
    })
  }
  const openPage = (alert_id: string) => navigate({ to: `/inbox/alerts/${alert_id}` })
  function move(step: 1 | -1) {
    const from = place === -1 ? 0 : place
    const next = alerts[Math.min(alerts.length - 1, Math.max(0, from + step))]
    if (next) setOpened(next.alert_id)
  }
  function actOn(key: InboxKey, of: Alert) {
    if (key === 'm') return document.querySelector<HTMLTextAreaElement>('.alert-comment textarea')?.focus()
    if (isOpen(of) && isProposed(of)) {
      if (key === 'r' || (key === 'y' && of.dismissal?.proposed_by !== principal))
        openAct(key === 'r' ? 'return' : 'confirm', of)
      return
    }
    if (!isOpen(of)) return
    if (key === 'c') return isTakeOver(of) ? openAct('take-over', of) : claim.run(of)
    if (key === 's') return of.state !== 'snoozed' && openAct('snooze', of)
    if (key === 'd' || key === 'e') openAct(key === 'd' ? 'dismiss' : 'escalate', of)
  }
  const actLater = useWaitingActs(actOn)
  function onKey(key: InboxKey) {
    if (key === 'j') return move(1)
    if (key === 'k') return move(-1)
    if (key === '?') return setHelping(true)
    if (key === 'n' && may('claimAlert')) return next.run(undefined)
    if (key === 'o' && current_id !== undefined) return void openPage(current_id)
    if (!canAct) return
    const forSelected = bulkKeys[key]
    if (selected.length > 0 && forSelected !== undefined) return setBulkAction(forSelected)
    if (current_id === undefined) return
    // Needs no details, so somebody who types fast marks what they see.
    if (key === 'x') return choose(current_id, !chosen.has(current_id))
    if (alert?.alert_id === current_id) actOn(key, alert)
    else actLater(key, current_id)
  }
  usePageKeys(inboxKeys, onKey)
  return (
    <InboxFrame
      open="/inbox"
      about={
        <>
          Alerts that you may see, the highest priority first, then the newest.{' '}
          <span className="keyboard-only">Press ? for the keys.</span>
        </>
      }
      actions={
        <>
          <Button variant="default" className="keyboard-only" onClick={() => setHelping(true)}>
            Keys
          </Button>
          {may('claimAlert') && (
            <Button loading={next.isRunning} onClick={() => next.run(undefined)}>
              Claim the next
            </Button>
          )}
        </>
      }
    >
      <ProblemNote problem={claim.problem ?? next.problem} />
      <div className="inbox-columns">
        <QueueRail queue={queue} view={view} />
        <div className="inbox-list">
          {canAct && (
            <BulkBar
              alerts={selected}
              action={bulkAction}
              onAction={setBulkAction}
              onDone={() => setChosen(new Set())}
            />
          )}
          <InboxCases of={found} />
          {!hasOnlyCases && (
            <AlertTable
              list={list}
              current_id={current_id}
              onOpen={({ alert_id }) => (isBeside ? setOpened(alert_id) : openPage(alert_id))}
              chosen={canAct ? chosen : null}
              onChoose={({ alert_id }, isChosen) => choose(alert_id, isChosen)}
              empty={
                view === 'second-person' && queue === undefined
                  ? nothingProposed
                  : {
                      title: 'No open alerts',
                      about:
                        'Alerts come from rules, matrices, source contracts and other systems. Those that you may see appear here.',
                      action: may('listSubjects') && (
                        <ButtonLink to="/subjects" size="xs" variant="default">
                          Open the subjects
                        </ButtonLink>
                      ),
                      filters: ['queue', 'view'],
                    }
              }
            />
          )}
        </div>
        {alert && isBeside && (
          <Card component="section" aria-label="Chosen alert" className="inbox-panel" withBorder padding="md">
            <AlertPanel alert={alert} onAct={(chosen) => openAct(chosen, alert)} />
          </Card>
        )}
      </div>
      <Text className="sr-only" role="status">
        {alert && place >= 0 && `${getAlertHeading(alert)}, ${place + 1} of ${alerts.length}: ${alert.title}`}
      </Text>
      {alert && alert.alert_id === act?.alert_id && (
        <AlertActDialog alert={alert} act={act.act} onClose={() => setActOf(null)} />
      )}
      {isHelping && <KeyboardHelp title="Keys of the inbox" keys={inboxKeys} onClose={() => setHelping(false)} />}
    </InboxFrame>
  )
}

/** Takes the alert of the highest priority that nobody works on, so that two people never start with the same one. */
function useClaimNext(queue: string | undefined, alerts: readonly Alert[], onClaimed: (alert_id: string) => void) {
  const may = usePermission()
  const { data } = useQuery({ ...queuesQuery, enabled: may('listWorkQueues'), throwOnError: false })
  return useApiMutation(
    () => probity.POST('/api/alerts/claim', { body: queue === undefined ? {} : { queue_key: queue } }),
    {
      invalidates: touched,
      successMessage: ({ alert }) =>
        alert === null
          ? describeNothingToClaim(
              data?.items.find(({ queue_key }) => queue_key === queue),
              alerts,
            )
          : 'Claimed',
      onDone: ({ alert }) => alert !== null && onClaimed(alert.alert_id),
    },
  )
}
