/** The keys of the inbox. */
import type { KeyText } from '#console/ui/use-page-keys.ts'

export type InboxKey = 'j' | 'k' | 'o' | 'c' | 'n' | 'd' | 'e' | 's' | 'y' | 'r' | 'm' | 'x' | '?'

export const inboxKeys: readonly KeyText<InboxKey>[] = [
  ['j', 'Next alert'],
  ['k', 'Previous alert'],
  ['o', 'Open on a page of its own'],
  ['c', 'Claim'],
  ['n', 'Claim the next that nobody works on in the queues of your team'],
  ['d', 'Dismiss with a reason, the selected ones if there are any'],
  ['e', 'Escalate, the selected ones if there are any'],
  ['s', 'Snooze, the selected ones if there are any'],
  ['y', 'Confirm a dismissal as the second person, the selected ones if there are any'],
  ['r', 'Do not dismiss: return it'],
  ['m', 'Write a comment'],
  ['x', 'Select, for several at once'],
  ['?', 'This help'],
]
