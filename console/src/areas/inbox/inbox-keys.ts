/** The keys of the inbox. */
import type { KeyText } from '#console/ui/use-page-keys.ts'

export type InboxKey = 'j' | 'k' | 'c' | 'd' | 'e' | 'x' | '?'

export const inboxKeys: readonly KeyText<InboxKey>[] = [
  ['j', 'Next alert'],
  ['k', 'Previous alert'],
  ['c', 'Claim'],
  ['d', 'Dismiss with a reason'],
  ['e', 'Escalate'],
  ['x', 'Select, for several at once'],
  ['?', 'This help'],
]
