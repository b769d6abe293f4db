/** The frame around every page: the bar with the links and the colour switch, and the choice of the page. */
import { ActionIcon, Group, Text, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { ApiDocsPage } from './api-docs-page.tsx'
import { HomePage } from './home-page.tsx'
import { PageLink, usePath } from './location.tsx'
import { MissingPage } from './missing-page.tsx'

interface Page {
  readonly title: string
  readonly content: ReactNode
}

const pages: Readonly<Record<string, Page>> = {
  '/': { title: 'Overview', content: <HomePage /> },
  '/api-docs': { title: 'API documentation', content: <ApiDocsPage /> },
}
const missing: Page = { title: 'Not found', content: <MissingPage /> }

export function App() {
  const path = usePath()
  const page = pages[path.length > 1 ? path.replace(/\/$/, '') : path] ?? missing
  const main = useRef<HTMLElement>(null)
  const openedPath = useRef(path)

  useEffect(() => {
    document.title = `${page.title} · Probity`
    // A page opened by a link begins where a screen reader would begin a loaded document.
    if (openedPath.current !== path) main.current?.focus()
    openedPath.current = path
  }, [page, path])

  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <header className="bar">
        <Group gap="lg" wrap="nowrap">
          <PageLink to="/" underline="never" c="var(--mantine-color-text)">
            <Group gap={8} wrap="nowrap">
              <img src="/favicon.svg" alt="" width={24} height={24} />
              <Text span fw={700} size="lg">
                Probity
              </Text>
            </Group>
          </PageLink>
          <Group component="nav" aria-label="Pages" gap="md" wrap="nowrap">
            <PageLink to="/api-docs" size="sm">
              API documentation
            </PageLink>
          </Group>
        </Group>
        <ColorSchemeSwitch />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {page.content}
      </main>
    </>
  )
}

function ColorSchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme()
  const other = useComputedColorScheme('light') === 'dark' ? 'light' : 'dark'
  return (
    <ActionIcon variant="default" size="lg" aria-label={`Use ${other} colours`} onClick={() => setColorScheme(other)}>
      <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
        <circle cx="12" cy="12" r="8.5" fill="none" stroke="currentColor" strokeWidth="2" />
        <path d="M12 3.5a8.5 8.5 0 0 1 0 17z" fill="currentColor" />
      </svg>
    </ActionIcon>
  )
}
