/** The keys of the inbox: one letter each, not while typing and not while a dialog is open. */
import { useEffect, useRef } from 'react'

export const keyTexts = [
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
] as const

export type InboxKey = (typeof keyTexts)[number][0]

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('textarea, select, input:not([type="checkbox"]), [role="combobox"]'))

export function useInboxKeys(onKey: (key: InboxKey) => void): void {
  const handler = useRef(onKey)
  handler.current = onKey
  useEffect(() => {
    function listen(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (document.querySelector('[role="dialog"]') !== null) return
      const key = keyTexts.find(([one]) => one === event.key)?.[0]
      if (key === undefined) return
      event.preventDefault()
      handler.current(key)
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}
