/** Which page is open, and links between pages that keep the document loaded. */
import { Anchor, type AnchorProps } from '@mantine/core'
import { type MouseEvent, type ReactNode, useSyncExternalStore } from 'react'

const changed = new EventTarget()

function subscribe(notify: () => void) {
  window.addEventListener('popstate', notify)
  changed.addEventListener('path', notify)
  return () => {
    window.removeEventListener('popstate', notify)
    changed.removeEventListener('path', notify)
  }
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => window.location.pathname)
}

interface PageLinkProps extends AnchorProps {
  readonly to: string
  readonly children: ReactNode
}

export function PageLink({ to, children, ...style }: PageLinkProps) {
  const path = usePath()
  function open(event: MouseEvent) {
    // A click with a modifier asks the browser for a new tab or window, which only the real link can give.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    window.history.pushState(null, '', to)
    changed.dispatchEvent(new Event('path'))
  }
  return (
    <Anchor href={to} onClick={open} {...(path === to && { 'aria-current': 'page' as const })} {...style}>
      {children}
    </Anchor>
  )
}
