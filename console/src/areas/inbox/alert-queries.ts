/** Alerts as the inbox reads and changes them. */
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { type ApiMutation, useApiMutation } from '#console/ui/api-mutation.ts'
import { listContentQuery } from '#console/ui/decision/list-entries.ts'

export type Alert = Schemas['Alert']

/** First parts of the keys of everything that an act on an alert may change. */
export const touched = ['alerts', 'work', 'overview']

export const alertQuery = (alert_id: string) =>
  queryOptions({
    queryKey: ['alerts', 'one', alert_id],
    queryFn: ({ signal }) => probity.GET('/api/alerts/{alert_id}', { params: { path: { alert_id } }, signal }),
  })

/** An alert is called by the end of its id: names stay out of titles and addresses. */
export const getAlertName = (alert_id: string): string => `Alert ${alert_id.slice(-8)}`

/** What a row or panel is headed by: whom it is about, otherwise what happened. */
export const getAlertHeading = ({
  subject_name,
  title,
  is_erased,
}: Pick<Alert, 'subject_name' | 'title' | 'is_erased'>): string =>
  getAlertTitle({ title: subject_name ?? title, is_erased })

export const getAlertTitle = ({ title, is_erased }: Pick<Alert, 'title' | 'is_erased'>): string =>
  is_erased ? 'Erased subject' : title

/** Why nothing of it can be read, and what is left to do. */
export const explainErased = (alert: Alert): string =>
  `The subject was erased, and what the alert said with it.${isOpen(alert) ? ' It can be dismissed.' : ''}`

interface AlertSettings {
  readonly needsSecondPerson: boolean
  readonly max_snooze_days: number
}

/** What the list `alert-settings` says about a priority; undefined while it is read. */
export function useAlertSettings(priority: Alert['priority']): AlertSettings | undefined {
  const { data } = useQuery(listContentQuery('alert-settings'))
  const entry = data?.entries.find(({ key }) => key === priority)?.entry
  if (entry === undefined) return undefined
  return {
    needsSecondPerson: entry['second_person'] === true,
    max_snooze_days: Number(entry['max_snooze_days'] ?? 0),
  }
}

export const isOpen = ({ state }: Pick<Alert, 'state'>): boolean => ['new', 'claimed', 'snoozed'].includes(state)

/** A dismissal that another person has to confirm. */
export const isProposed = ({ dismissal }: Pick<Alert, 'dismissal'>): boolean => dismissal?.state === 'proposed'

/** Whether claiming takes the alert from a colleague. Only officers may; others get the refusal of the server. */
export function useIsTakeOver(): (alert: Pick<Alert, 'assignee'>) => boolean {
  const { principal } = useMe()
  const may = usePermission()
  return ({ assignee }) => assignee !== null && assignee !== principal && may('decideAlertSecondLook')
}

/** Claiming a chosen alert is giving it to oneself. */
export function useClaim(onDone?: () => void): ApiMutation<Alert> {
  const { principal } = useMe()
  return useApiMutation(
    ({ alert_id, revision }: Alert) =>
      probity.POST('/api/alerts/{alert_id}/assign', {
        params: { path: { alert_id } },
        body: { user_id: principal.replace(/^user:/, ''), expected_revision: revision },
      }),
    { invalidates: touched, successMessage: 'Claimed', ...(onDone && { onDone }) },
  )
}

/** The second person dismisses the alert. */
export const useConfirmDismissal = (onDone?: () => void): ApiMutation<Alert> =>
  useApiMutation(
    ({ alert_id, revision }: Alert) =>
      probity.POST('/api/alerts/{alert_id}/confirm-dismissal', {
        params: { path: { alert_id } },
        body: { expected_revision: revision },
      }),
    { invalidates: touched, successMessage: 'Dismissed', ...(onDone && { onDone }) },
  )

/** The second person does not dismiss it, or the first one withdraws. */
export const useReturnDismissal = (onDone?: () => void): ApiMutation<Alert> =>
  useApiMutation(
    ({ alert_id, revision }: Alert) =>
      probity.POST('/api/alerts/{alert_id}/return-dismissal', {
        params: { path: { alert_id } },
        body: { expected_revision: revision },
      }),
    { invalidates: touched, successMessage: 'Returned: the alert is open again', ...(onDone && { onDone }) },
  )
