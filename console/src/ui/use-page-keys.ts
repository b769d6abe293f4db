/** Keys of a page: one letter each, not while typing and not while a dialog is open. */
import { useEffect, useRef } from 'react'

/** A key, and what it does. */
export type KeyText<Key extends string = string> = readonly [key: Key, text: string]

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('textarea, select, input:not([type="checkbox"]), [role="combobox"]'))

export function usePageKeys<Key extends string>(texts: readonly KeyText<Key>[], onKey: (key: Key) => void): void {
  const handler = useRef({ texts, onKey })
  handler.current = { texts, onKey }
  useEffect(() => {
    function listen(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (document.querySelector('[role="dialog"]') !== null) return
      const key = handler.current.texts.find(([one]) => one === event.key)?.[0]
      if (key === undefined) return
      event.preventDefault()
      handler.current.onKey(key)
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}
