/** The keys of the inbox. */
import type { KeyText } from '#console/ui/use-page-keys.ts'

export type InboxKey = 'j' | 'k' | 'o' | 'c' | 'n' | 'd' | 'e' | 's' | 'm' | 'x' | '?'

export const inboxKeys: readonly KeyText<InboxKey>[] = [
  ['j', 'Next alert'],
  ['k', 'Previous alert'],
  ['o', 'Open on a page of its own'],
  ['c', 'Claim'],
  ['n', 'Claim the next that nobody works on'],
  ['d', 'Dismiss with a reason'],
  ['e', 'Escalate'],
  ['s', 'Snooze'],
  ['m', 'Write a comment'],
  ['x', 'Select, for several at once'],
  ['?', 'This help'],
]
