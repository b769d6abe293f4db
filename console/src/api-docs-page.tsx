/**
 * The interactive documentation of the server in a frame, with the token of this tab handed to it.
 * The frame is of the same origin; messages to and from any other are never sent or heeded.
 */
import { Center, Loader, useComputedColorScheme, VisuallyHidden } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useToken } from './token.ts'
import { TokenBox } from './token-box.tsx'

export function ApiDocsPage() {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isReady, setReady] = useState(false)
  const token = useToken()
  const scheme = useComputedColorScheme('light')

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
      <VisuallyHidden component="h1">API documentation</VisuallyHidden>
      <section className="docs-token" aria-label="Token">
        <TokenBox isCompact />
      </section>
      <div className="docs-stage">
        {!isReady && (
          <Center pos="absolute" inset={0}>
            <Loader aria-label="Loading the documentation" />
          </Center>
        )}
        <iframe ref={frame} src="/api/docs" title="API documentation" data-ready={isReady} />
      </div>
    </div>
  )
}
