/** Why "Claim the next" gave nothing: it gives alerts of the queues of the user's team only, while the list shows others too. */
import { type Alert, isOpen, isProposed } from './alert-queries.ts'

export function describeNothingToClaim(
  queue: { readonly title: string; readonly is_mine: boolean } | undefined,
  listed: readonly Pick<Alert, 'state' | 'assignee' | 'dismissal'>[],
): string {
  const why =
    queue === undefined
      ? 'No alert waits for you in the queues of your team.'
      : queue.is_mine
        ? `No alert waits for you in the queue ${queue.title}.`
        : `You are not in the team of the queue ${queue.title}.`
  const canChoose = listed.some((alert) => isOpen(alert) && !isProposed(alert) && alert.assignee === null)
  return canChoose ? `${why} Claim one from the list with c.` : why
}
