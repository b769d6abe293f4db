/**
 * The API documentation in a frame that receives the token of this tab. Messages are exchanged with the same origin
 * only.
 */
import { Center, Loader, useComputedColorScheme, VisuallyHidden } from '@mantine/core'
import { useInterval } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { sessionTokens, useToken } from '#console/session/session.ts'
import { TokenBox } from '#console/session/token-box.tsx'
import { usePageFocus } from '#console/ui/page.tsx'

/** No other request on this page renews a token from an API key, so it is renewed here. */
const KEEP_FRESH_MS = 30_000

export default function ApiDocsPage() {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isReady, setReady] = useState(false)
  const token = useToken()
  const scheme = useComputedColorScheme('light')
  const heading = usePageFocus('API documentation')
  useInterval(() => void sessionTokens.get().catch(() => ''), KEEP_FRESH_MS, { autoInvoke: true })

  useEffect(() => {
    function receive(event: MessageEvent) {
      if (event.origin !== window.location.origin || event.source !== frame.current?.contentWindow) return
      if (event.data?.type === 'probity:docs-ready') setReady(true)
    }
    window.addEventListener('message', receive)
    return () => window.removeEventListener('message', receive)
  }, [])

  useEffect(() => {
    if (isReady) frame.current?.contentWindow?.postMessage({ type: 'probity:token', token }, window.location.origin)
  }, [isReady, token])

  useEffect(() => {
    const message = { type: 'probity:color-scheme', scheme }
    if (isReady) frame.current?.contentWindow?.postMessage(message, window.location.origin)
  }, [isReady, scheme])

  return (
    <div className="docs">
      <VisuallyHidden component="h1" ref={heading} tabIndex={-1}>
        API documentation
      </VisuallyHidden>
      <section className="docs-token" aria-label="Token">
        <TokenBox isCompact />
      </section>
      <div className="docs-stage">
        {!isReady && (
          <Center pos="absolute" inset={0}>
            <Loader role="status" aria-label="Loading the documentation" />
          </Center>
        )}
        <iframe ref={frame} src="/api/docs" title="API documentation" data-ready={isReady} />
      </div>
    </div>
  )
}
